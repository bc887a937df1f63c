"""Colours of the clusters on the page: distinct where possible, and always different for neighbours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from partita._support.arrays import Labels
from partita.plots.canvas import COLORS

#: Shares of black and of white that make a second and a third colour of each hue.
DARKER, LIGHTER = 0.42, 0.5


def shades() -> list[str]:
    """The seven colours of the figures for print, then as many darker and lighter ones.

    Examples
    --------
    >>> len(set(shades()))
    21
    """
    return [*COLORS, *(_mixed(c, 0, DARKER) for c in COLORS), *(_mixed(c, 255, LIGHTER) for c in COLORS)]


def label_colors(strips: Sequence[Labels]) -> list[str]:
    """A colour for each label, such that labels that are ever neighbours in a strip differ.

    Labels take the colours in turn; a label whose turn is the colour of a neighbour takes the next free one. Only a
    label with more than twenty different neighbours may find none: it then keeps its own.
    """
    palette = shades()
    neighbours = _neighbours(strips)
    chosen: list[int] = []
    for label in range(max(int(strip.max()) for strip in strips) + 1):
        taken = {chosen[other] for other in neighbours.get(label, ()) if other < label}
        turns = (turn % len(palette) for turn in range(label, label + len(palette)))
        chosen.append(next((turn for turn in turns if turn not in taken), label % len(palette)))
    return [palette[turn] for turn in chosen]


def _neighbours(strips: Sequence[Labels]) -> dict[int, set[int]]:
    pairs: dict[int, set[int]] = {}
    for strip in strips:
        beside = np.unique(np.column_stack([strip[:-1], strip[1:]]), axis=0)
        for left, right in beside[(beside[:, 0] != beside[:, 1]) & (beside >= 0).all(axis=1)].tolist():
            pairs.setdefault(left, set()).add(right)
            pairs.setdefault(right, set()).add(left)
    return pairs


def _mixed(color: str, other: int, share: float) -> str:
    parts = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round((1 - share) * part + share * other):02X}" for part in parts)
