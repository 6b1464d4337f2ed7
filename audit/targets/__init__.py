"""What is audited: the catalogue, how a name becomes a mechanism, how it is guarded, which pairs belong to it."""
