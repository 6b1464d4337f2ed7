"""The page of a run: index.html, and a page for each mechanism of the catalogue."""
