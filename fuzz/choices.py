"""Every decision of a generator as one small number, recorded so that a case can be repeated and made smaller."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")


class Choices:
    """Decisions from a random stream, or from a list of earlier ones; 0 is always the simplest decision.

    Beyond the end of a list that is repeated every decision is 0.
    """

    def __init__(self, rng: random.Random | None = None, given: Sequence[int] = ()) -> None:
        self._rng, self._given = rng, given
        self.taken: list[int] = []

    def below(self, bound: int) -> int:
        """A number from 0 to bound - 1."""
        at = len(self.taken)
        if at < len(self._given):
            value = min(self._given[at], bound - 1)
        else:
            value = 0 if self._rng is None else int(self._rng.random() * bound)
        self.taken.append(value)
        return value

    def many(self, count: int, bound: int) -> list[int]:
        """So many numbers from 0 to bound - 1."""
        return [self.below(bound) for _ in range(count)]

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, of which the first is the simplest."""
        return options[self.below(len(options))]

    def chance(self, percent: int) -> bool:
        """True in so many cases of a hundred."""
        return self.below(100) >= 100 - percent

    def size(self, least: int = 1, most: int = 50) -> int:
        """A size: mostly small, now and then up to `most`."""
        bound = self.pick((6, 6, 12, 12, 24, most)) - least + 1
        return least + self.below(max(1, min(bound, most - least + 1)))

    def optional(self, percent: int, **options: Any) -> dict[str, Any]:
        """Keeps each option in so many cases of a hundred; its value is a generator's text or a function of self."""
        kept = {}
        for name, value in options.items():
            if self.chance(percent):
                kept[name] = value(self) if callable(value) else value
        return kept


def choices_of(seed: int, index: int) -> Choices:
    """The decisions of one case of a run: a stream of its own for each (seed, index)."""
    return Choices(random.Random(f"{seed}:{index}"))


def arguments(options: dict[str, Any]) -> str:
    """Options as the end of a call: ``, a=1, b=2``."""
    return "".join(f", {name}={value}" for name, value in options.items())
