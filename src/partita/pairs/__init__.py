"""Pair probabilities: reading them, their losses, and the similarity matrix of draws."""
