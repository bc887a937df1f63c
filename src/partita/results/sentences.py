"""Sentences that several kinds of results share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats
from partita._support.hints import plural
from partita.losses.base import Loss

SIZES_LISTED = 8
ITEMS_NAMED = 5
#: Items below this certainty are uncertain.
UNSURE = 0.5


def loss_words(loss: Loss) -> str:
    """The name of a loss in a sentence, with its weights if they are not 1.

    Examples
    --------
    >>> from partita.losses.losses import VI
    >>> loss_words(VI(a=0.5, b=1))
    'variation of information (a = 0.5, b = 1)'
    """
    a, b = getattr(loss, "a", 1), getattr(loss, "b", 1)
    return loss.words if a == b == 1 else f"{loss.words} (a = {a:g}, b = {b:g})"


def amount(value: float, loss: Loss) -> str:
    """A loss with four digits, and its unit."""
    number = f"{value:.4f}" if value == 0 or value >= 0.01 else f"{value:.3g}"
    return f"{number}{' bits' if loss.in_bits else ''}"


def percent(share: Any) -> str:
    """
    Examples
    --------
    >>> percent(0.95), percent(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * share:.4g}%"


def log_number(value: float) -> str:
    """A log likelihood with two digits and a minus sign.

    >>> log_number(-1234.5)
    '−1,234.50'
    """
    return f"{value:,.2f}".replace("-", "−")


def fall_into(labels: NDArray[np.int64], noun: str = "item", of: str = "") -> str:
    """How many clusters there are, and how large they are; `of` says of what the items are."""
    placed = labels[labels >= 0]
    if not placed.size:
        return f"None of the {labels.size:,} {noun}s{of} is in a cluster."
    if placed.size < labels.size:
        who = f"Of the {labels.size:,} {noun}s{of}, {placed.size:,} {'falls' if placed.size == 1 else 'fall'}"
    else:
        who = f"The one {noun}{of} falls" if placed.size == 1 else f"The {placed.size:,} {noun}s{of} fall"
    return f"{who} into {plural(int(labels.max()) + 1, 'cluster')} ({sizes_in_words(placed, f'{noun}s')})."


def sizes_in_words(labels: NDArray[np.int64], noun: str = "items") -> str:
    """The sizes of the clusters, largest first, or their range if there are many."""
    sizes = sorted(np.bincount(labels).tolist(), reverse=True)
    if len(sizes) == 1:
        return "all together"
    if len(sizes) > SIZES_LISTED:
        if sizes[0] == sizes[-1]:
            return f"of {plural(sizes[0], noun.removesuffix('s'))} each"
        return f"of {sizes[-1]:,} to {sizes[0]:,} {noun}, median {np.median(sizes):,.0f}"
    shown = [f"{size:,}" for size in sizes]
    return f"of {', '.join(shown[:-1])} and {shown[-1]} {noun}"


def listed_names(names: Sequence[str], *, more: bool) -> str:
    """Names in a sentence, `more` if there are others; a semicolon separates names that contain commas.

    >>> listed_names(["a", "b"], more=True), listed_names(["Dude, Where's My Country?", "Legacy"], more=False)
    ('a, b, …', "Dude, Where's My Country?; Legacy")
    """
    between = "; " if any("," in name for name in names) else ", "
    return between.join([*names, "…"] if more else names)


def uncertain_sentence(
    labels: NDArray[np.int64], certainty: Floats | None, names: tuple[str, ...], noun: str = "item"
) -> str:
    """Which items are uncertain, the least certain first; empty if nothing is known."""
    if certainty is None:
        return ""
    placed = np.flatnonzero((labels >= 0) & ~np.isnan(certainty))
    unsure = placed[certainty[placed] < UNSURE]
    if not placed.size:
        return ""
    if not unsure.size:
        return f"No {noun} has a certainty below {UNSURE:g}." if placed.size > 1 else ""
    first = unsure[np.argsort(certainty[unsure], kind="stable")][:ITEMS_NAMED]
    named = listed_names([names[i] for i in first.tolist()], more=unsure.size > ITEMS_NAMED)
    return f"Assignment is uncertain for {plural(unsure.size, noun)} ({named}; certainty below {UNSURE:g})."
