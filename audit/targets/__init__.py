"""What is audited: the catalogue, names, guards, and the pairs of each mechanism."""
