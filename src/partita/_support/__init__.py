"""Argument checks, item names, atomic writing, HTML and text tables: nothing here knows what a clustering is."""
