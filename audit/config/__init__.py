"""Configuration: dpassay.toml, its mechanisms and suppressions, and the template of `init`."""
