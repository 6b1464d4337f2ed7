"""Records of `dpassay theorem run`: reading, keeping and comparing them."""
