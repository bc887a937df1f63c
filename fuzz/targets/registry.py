"""The list of targets. The weight of a target is how often it is chosen; what is slow is chosen seldom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fuzz.choices import Choices


@dataclass(frozen=True)
class Target:
    """Writes scripts; `weight` cases of every thousand or so are its own."""

    name: str
    weight: int
    write: Callable[[Choices], str]


TARGETS: dict[str, Target] = {}


def target(weight: int) -> Callable[[Callable[[Choices], str]], Callable[[Choices], str]]:
    """Adds a function to the list under its own name."""

    def add(write: Callable[[Choices], str]) -> Callable[[Choices], str]:
        TARGETS[write.__name__] = Target(write.__name__, weight, write)
        return write

    return add


def choose(c: Choices, names: list[str]) -> Target:
    """One of the named targets, by weight."""
    at = c.below(sum(TARGETS[name].weight for name in names))
    for name in names:
        at -= TARGETS[name].weight
        if at < 0:
            return TARGETS[name]
    raise AssertionError("weights do not add up")
