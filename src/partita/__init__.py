"""Bayesian cluster analysis: from draws, data or networks to one clustering, with its uncertainty."""
