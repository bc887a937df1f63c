"""The sentences of the report: the answer, the settings, and advice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.hints import plural
from partita.estimation.result import Estimate
from partita.estimation.search_warnings import HARD_SEARCH
from partita.losses.base import Loss
from partita.proofs.bounds import Bound
from partita.search.limits import explicit_limit, into_at_most
from partita.uncertainty.ball import CredibleBall

SIZES_LISTED = 8
FEW_DRAWS = 200
WORTH_PROVING = 0.05
ADVICE_ORDER = ("warning", "note", "good")


@dataclass(frozen=True)
class Advice:
    """One line of the diagnostics: `kind` is good, note or warning."""

    kind: str
    text: str


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


def answer(estimate: Estimate, ball: CredibleBall | None) -> str:
    """The result as a sentence that could be pasted into a paper."""
    sample = estimate.sample
    sentence = (
        f"{_subject(estimate.labels)} into {plural(estimate.n_clusters, 'cluster')}"
        f" ({sizes_in_words(estimate.labels[estimate.labels >= 0])}). This partition has the lowest posterior expected"
        f" {loss_words(estimate.loss)}"
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


def sizes_in_words(labels: NDArray[np.int64], noun: str = "items") -> str:
    """The sizes of the clusters, largest first, or their range if there are many."""
    sizes = sorted(np.bincount(labels).tolist(), reverse=True)
    if len(sizes) == 1:
        return "all together"
    if len(sizes) > SIZES_LISTED:
        return f"of {sizes[-1]:,} to {sizes[0]:,} {noun}, median {np.median(sizes):,.0f}"
    shown = [f"{size:,}" for size in sizes]
    return f"of {', '.join(shown[:-1])} and {shown[-1]} {noun}"


def _found(estimate: Estimate) -> str:
    if estimate.proven:
        return f"of all partitions{_within(estimate)}, which is proven"
    if estimate.n_runs > 1:
        return f"that {estimate.n_runs} runs of the search found"
    return "that was found"


def _within(estimate: Estimate) -> str:
    """The limit on clusters that was set: a proof is for partitions that obey it."""
    return into_at_most(explicit_limit(estimate.sample, estimate.search))


def settings(estimate: Estimate, ball: CredibleBall | None) -> Iterator[tuple[str, str]]:
    """The draws and the settings, as a table of two columns."""
    sample = estimate.sample
    chains = f" in {sample.n_chains} chains" if sample.n_chains > 1 else ""
    yield "Draws", f"{sample.n_draws:,}{chains}, {sample.n_unique:,} distinct"
    yield "Items", f"{sample.n_items:,}"
    yield "Loss", loss_words(estimate.loss)
    if estimate.standard_error is not None:
        yield "Expected loss", f"{amount(estimate.expected_loss, estimate.loss)} ± {estimate.standard_error:.2g}"
    yield "Method", estimate.method
    if ball is not None:
        yield "Credible ball", percent(ball.level)
    if sample.is_weighted:
        yield "Weights", "the draws are weighted"
    if sample.has_gaps:
        yield "Missing labels", "some draws leave items unlabelled"


def advice(
    estimate: Estimate, ball: CredibleBall | None, bound: Bound | None = None, on_chains: Sequence[str] = ()
) -> list[Advice]:
    """Advice on the draws, the chains, the search and the ball: first warnings, then notes, then good news."""
    lines = [Advice("warning", sentence) for sentence in (*estimate.warnings, *on_chains)]
    lines += _on_draws(estimate)
    lines += _on_search(estimate)
    if bound is not None and not estimate.proven:  # a proof has been reported already
        lines.append(Advice("good" if bound.gap <= WORTH_PROVING else "note", bound.in_words()))
    if ball is not None and not ball.loss.is_metric:
        lines.append(
            Advice(
                "note",
                f"The {loss_words(ball.loss)} is not a metric: distances in the ball are measured from a draw to"
                " the estimate, and two partitions inside it may be far from each other.",
            )
        )
    return sorted(lines, key=lambda line: ADVICE_ORDER.index(line.kind))


def _on_search(estimate: Estimate) -> Iterator[Advice]:
    runs, reached = len(estimate.runs), estimate.times_reached if estimate.runs else 0
    if estimate.proven:
        yield Advice("good", f"No partition{_within(estimate)} has a lower expected loss: this is proven.")
    elif runs > 1 and not estimate.interrupted and reached > max(1, HARD_SEARCH * runs):
        yield Advice("good", f"{reached} of {estimate.ends} reached the lowest expected loss: different runs agree.")


def _on_draws(estimate: Estimate) -> Iterator[Advice]:
    sample = estimate.sample
    if sample.n_draws < FEW_DRAWS:
        yield Advice(
            "warning",
            f"There are only {plural(sample.n_draws, 'draw')}. Probabilities, such as that of the ball,"
            " are coarse; a few thousand draws are better.",
        )
    if sample.n_unique == sample.n_draws > 1:
        yield Advice(
            "note",
            "No partition was drawn twice: the posterior is spread over more partitions than there are draws,"
            " so the draws say more about pairs of items and distances than about single partitions.",
        )
    if sample.n_chains == 1:
        yield Advice("note", "There is one chain. Several chains from different starts show whether they mix.")


def percent(share: Any) -> str:
    """
    Examples
    --------
    >>> percent(0.95), percent(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * share:.4g}%"


def _subject(labels: NDArray[np.int64]) -> str:
    placed = int((labels >= 0).sum())
    if placed < labels.size:
        return f"Of the {labels.size:,} items, {placed:,} {'falls' if placed == 1 else 'fall'}"
    return "The one item falls" if placed == 1 else f"The {placed:,} items fall"
