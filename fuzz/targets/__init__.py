"""What is attacked: one function per public function or small group of them, which writes the script of a case."""

from __future__ import annotations

from fuzz.targets import (
    comparisons,
    ensembles,
    estimates,
    files,
    models,
    pairs,
    partitions,
    posterior,
    questions,
    tables,
)
from fuzz.targets.registry import TARGETS, Target

__all__ = [
    "TARGETS",
    "Target",
    "comparisons",
    "ensembles",
    "estimates",
    "files",
    "models",
    "pairs",
    "partitions",
    "posterior",
    "questions",
    "tables",
]
