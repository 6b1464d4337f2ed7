"""The engine: from a target and its settings to evidence and a verdict."""
