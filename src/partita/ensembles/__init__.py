"""Clustering ensembles: one clustering from many."""

from .nbce import NBCE

__all__ = ["NBCE"]
