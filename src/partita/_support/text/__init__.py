"""Text files: what a cell means, what separates cells, and whether there is a header."""
