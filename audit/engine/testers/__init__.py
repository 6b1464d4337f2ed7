"""Testers: what a kind of claim needs to be read off a law, or certified from trials."""
