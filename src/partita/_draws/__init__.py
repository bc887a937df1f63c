"""Draws of labels: reading them, collecting the distinct ones, storing and writing them."""
