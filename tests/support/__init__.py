"""Oracles in plain Python and helpers of the tests."""
