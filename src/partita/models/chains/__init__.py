"""Posterior samplers as chains: sampling, checkpoints, resuming, and runs that still grow."""
