"""What a command line says: its parsers, options, mechanisms and searches."""
