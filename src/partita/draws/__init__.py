"""Draws of partitions: `PartitionSample`, and how draws are read, stored and written."""
