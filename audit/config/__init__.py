"""Configuration: dpassay.toml, the mechanisms and suppressions it names, the template that `dpassay init` writes."""
