"""The report in words: the answer, what was asked, and advice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.bounds import Bound
from partita.estimate import Estimate
from partita.losses import Loss
from partita.uncertainty import CredibleBall

LOSS_WORDS = {
    "binder": "Binder loss",
    "vi": "variation of information",
    "nvi": "normalised variation of information",
    "id": "information distance",
    "nid": "normalised information distance",
    "omari": "one minus adjusted Rand index",
    "zero-one": "0-1 loss",
    "custom": "custom loss",
}
IN_BITS = ("vi", "id")
SIZES_LISTED = 8
FEW_DRAWS = 200
HARD_SEARCH = 0.25
WORTH_PROVING = 0.05


@dataclass(frozen=True)
class Advice:
    """One line of the diagnostics: `kind` is good, note or warning."""

    kind: str
    text: str


def loss_words(loss: Loss) -> str:
    """The name of a loss as a sentence has it, with its weights where they are not 1.

    Examples
    --------
    >>> from partita.losses import VI
    >>> loss_words(VI(a=0.5))
    'variation of information (a = 0.5, b = 1)'
    """
    words = LOSS_WORDS.get(loss.name, loss.name)
    a, b = getattr(loss, "a", 1), getattr(loss, "b", 1)
    return words if a == b == 1 else f"{words} (a = {a:g}, b = {b:g})"


def amount(value: float, loss: Loss) -> str:
    """A loss with four digits, and its unit."""
    number = f"{value:.4f}" if value == 0 or value >= 0.01 else f"{value:.3g}"
    return f"{number}{' bits' if loss.name in IN_BITS else ''}"


def answer(estimate: Estimate, ball: CredibleBall | None) -> str:
    """The result as a scientist could paste it into a paper."""
    sample = estimate.sample
    sentence = (
        f"{_subject(sample.n_items)} into {plural(estimate.n_clusters, 'cluster')}"
        f" ({_sizes(estimate)}). This partition has the lowest posterior expected {loss_words(estimate.loss)}"
        f" {_found(estimate)}: {amount(estimate.expected_loss, estimate.loss)}, over {plural(sample.n_draws, 'draw')}"
        f" ({sample.n_unique:,} distinct)."
    )
    return sentence if ball is None else f"{sentence} {ball_sentence(ball)}"


def ball_sentence(ball: CredibleBall, around: str = "it") -> str:
    """The ball as a sentence."""
    counts = ball.sample.n_clusters[ball.inside]
    fewest, most = int(counts.min()), int(counts.max())
    span = plural(fewest, "cluster") if fewest == most else f"{fewest} to {most} clusters"
    return (
        f"The {percent(ball.level)} credible ball around {around} has radius {amount(ball.radius, ball.loss)}"
        f" and holds {plural(ball.n_inside, 'distinct partition')} with {span}."
    )


def _sizes(estimate: Estimate) -> str:
    sizes = sorted(np.bincount(estimate.labels).tolist(), reverse=True)
    if len(sizes) == 1:
        return "all together"
    if len(sizes) > SIZES_LISTED:
        return f"of {sizes[-1]:,} to {sizes[0]:,} items, median {np.median(sizes):,.0f}"
    shown = [f"{size:,}" for size in sizes]
    return f"of {', '.join(shown[:-1])} and {shown[-1]} items"


def _found(estimate: Estimate) -> str:
    if estimate.proven:
        return "of all partitions, which is proven"
    if len(estimate.runs) > 1:
        return f"that {len(estimate.runs)} runs of the search found"
    return "that was found"


def asked(estimate: Estimate, ball: CredibleBall | None) -> Iterator[tuple[str, str]]:
    """What the user asked for, as a table of two columns."""
    sample = estimate.sample
    chains = f" in {sample.n_chains} chains" if sample.n_chains > 1 else ""
    yield "Draws", f"{sample.n_draws:,}{chains}, {sample.n_unique:,} distinct"
    yield "Items", f"{sample.n_items:,}"
    yield "Loss", loss_words(estimate.loss)
    yield "Method", estimate.method
    if ball is not None:
        yield "Credible ball", percent(ball.level)
    if sample.is_weighted:
        yield "Weights", "the draws are weighted"
    if sample.has_gaps:
        yield "Gaps", "some draws leave items unlabelled"


def advice(
    estimate: Estimate, ball: CredibleBall | None, bound: Bound | None = None, mixing: tuple[str, ...] = ()
) -> Iterator[Advice]:
    """Plain advice on the search, the draws, the chains and the ball."""
    if estimate.interrupted:
        yield Advice(
            "warning",
            "The search was stopped before its end: this is the best partition so far. Run it again.",
        )
    yield from _on_search(estimate)
    yield from _on_draws(estimate)
    if bound is not None:
        yield Advice("good" if bound.gap <= WORTH_PROVING else "note", bound.in_words())
    for line in mixing:
        yield Advice("warning", line)
    if ball is not None and not ball.loss.is_metric:
        yield Advice(
            "note",
            f"The {loss_words(ball.loss)} is not a metric: distances in the ball are measured from a draw to"
            " the estimate, and partitions inside it may be far from each other.",
        )


def _on_search(estimate: Estimate) -> Iterator[Advice]:
    runs = len(estimate.runs)
    if estimate.proven:
        yield Advice("good", "No partition has a lower expected loss: this is proven.")
    elif runs > 1:
        reached = estimate.times_reached
        text = f"{reached} of {runs} runs reached the lowest expected loss"
        if reached <= max(1, HARD_SEARCH * runs):
            yield Advice("warning", f"Only {text}. The search is hard here: use more runs (for example {4 * runs}).")
        else:
            yield Advice("good", f"{text}: the search agrees with itself.")
    limit = _cluster_limit(estimate)
    if limit is not None and estimate.n_clusters >= limit > 1:
        yield Advice(
            "note",
            f"The estimate has as many clusters as were allowed ({limit}). Allow more (--max-clusters inf) to"
            " see whether the loss falls further, or raise the weight a to ask for fewer clusters.",
        )


def _cluster_limit(estimate: Estimate) -> int | None:
    given = None if estimate.search is None else estimate.search.max_clusters
    if given is None:
        return int(estimate.sample.n_clusters.max())
    return int(given) if np.isfinite(given) else None


def _on_draws(estimate: Estimate) -> Iterator[Advice]:
    sample = estimate.sample
    if sample.n_draws < FEW_DRAWS:
        yield Advice(
            "warning",
            f"There are only {plural(sample.n_draws, 'draw')}. Probabilities such as those of the ball"
            " are coarse; a few thousand draws are better.",
        )
    if sample.n_unique == sample.n_draws > 1:
        yield Advice(
            "note",
            "No partition was drawn twice: the posterior is spread over more partitions than were drawn,"
            " so that they say more about pairs of items and distances than about single partitions.",
        )
    if sample.n_chains == 1:
        yield Advice("note", "There is one chain. Several chains from different starts show whether they mix.")


def plural(count: int, noun: str) -> str:
    """
    Examples
    --------
    >>> plural(1, "cluster"), plural(2000, "draw")
    ('1 cluster', '2,000 draws')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percent(share: Any) -> str:
    """
    Examples
    --------
    >>> percent(0.95), percent(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * share:.4g}%"


def _subject(n_items: int) -> str:
    return "The one item falls" if n_items == 1 else f"The {n_items:,} items fall"
