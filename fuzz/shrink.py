"""A smaller case with the same finding: decisions are left out, set to zero or halved as long as it stays."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

Choices = list[int]


def shrink(choices: Choices, still_there: Callable[[Choices], Choices | None], seconds: float) -> Choices:
    """The smallest decisions found in the time; `still_there` gives back those that were used, or None."""
    end = time.monotonic() + seconds
    best = choices
    improved = True
    while improved:
        improved = False
        for candidate in _smaller(best):
            if time.monotonic() > end:
                return best
            found = still_there(candidate)
            if found is not None and (len(found), sum(found)) < (len(best), sum(best)):
                best, improved = found, True
                break
    return best


def _smaller(choices: Choices) -> Iterator[Choices]:
    """Candidates, the boldest first. The first decision chooses the target, and stays."""
    length = len(choices)
    size = length // 2
    while size:
        for start in range(1, length, size):
            yield choices[:start] + choices[start + size :]
        for start in range(1, length, size):
            if any(choices[start : start + size]):
                yield [*choices[:start], *[0] * len(choices[start : start + size]), *choices[start + size :]]
        size //= 2
    for at in range(1, length):
        if choices[at] > 1:
            yield [*choices[:at], choices[at] // 2, *choices[at + 1 :]]
