"""Pair probabilities as users have them: matrices, tables, files."""
