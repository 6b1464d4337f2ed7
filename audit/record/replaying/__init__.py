"""A witness run again: what it names made anew, its laws, its trials, and what these show."""
