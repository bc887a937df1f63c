"""Mixtures of tables: columns of several kinds, with missing values."""
