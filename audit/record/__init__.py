"""Records: what a run leaves behind, how it is read back, replayed and compared."""
