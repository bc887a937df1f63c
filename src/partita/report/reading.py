"""What the result means, in plain words, where it may surprise: the first sentences of the page after the answer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from partita.estimate_result import Estimate
from partita.losses import unique_distances
from partita.report.sentences import amount, percent
from partita.sample import as_sample
from partita.uncertainty.ball import CredibleBall
from partita.uncertainty.certainty import n_clusters_posterior

#: The share of the draws with fewer, or with more, clusters from which on the difference needs an explanation.
LARGE_SHARE = 0.8
#: A posterior in which half of the items have less than this certainty is diffuse.
DIFFUSE = 0.5


def reading(estimate: Estimate, ball: CredibleBall | None, certainty: NDArray[np.float64]) -> list[dict[str, str]]:
    """Topics and sentences; empty if the result needs no explanation.

    Parameters
    ----------
    certainty : (n,) array
        Mean probability of each item of being with the other items of its cluster.
    """
    found = [*_on_count(estimate), *_on_spread(estimate, certainty), *_on_width(estimate, ball)]
    return [{"topic": topic, "text": text} for topic, text in found]


def _on_count(estimate: Estimate) -> Iterator[tuple[str, str]]:
    posterior, own = n_clusters_posterior(estimate.sample), estimate.n_clusters
    more = sum(share for k, share in posterior.items() if k > own)
    fewer = sum(share for k, share in posterior.items() if k < own)
    mode = max(posterior, key=lambda k: posterior[k])
    weight = getattr(estimate.loss, "a", None)
    if more >= LARGE_SHARE:
        how = f", lower the weight a (now {weight:g})" if weight is not None else ""
        how = f" To see more of them{how}, choose another loss, or ask weights_for(draws, n_clusters={mode})."
        yield (
            "Fewer clusters than most draws",
            f"{percent(round(more, 3))} of the draws have more clusters than the estimate, most often {mode}. If the"
            " draws agreed on the extra ones, the estimate would have them, too: they are small, or hold other items"
            f" from draw to draw.{how}",
        )
    if fewer >= LARGE_SHARE:
        how = f" Raise the weight a (now {weight:g})" if weight is not None else " Choose another loss"
        yield (
            "More clusters than most draws",
            f"{percent(round(fewer, 3))} of the draws have fewer clusters than the estimate, most often {mode}. The"
            " draws join groups in different ways, and the estimate keeps these groups apart, since no single way of"
            f" joining them is likely.{how} to join them.",
        )


def _on_spread(estimate: Estimate, certainty: NDArray[np.float64]) -> Iterator[tuple[str, str]]:
    middle = float(np.median(certainty))
    if estimate.sample.n_items > 1 and middle < DIFFUSE:
        yield (
            "A diffuse posterior",
            f"Half of the items are with the other members of their cluster in at most {percent(round(middle, 3))} of"
            " the draws: the data do not determine one clustering. Report what is certain, with"
            " partial_clustering(draws), and look at modes(draws) for clusterings that compete.",
        )


def _on_width(estimate: Estimate, ball: CredibleBall | None) -> Iterator[tuple[str, str]]:
    """Says so if the ball reaches a partition that holds no information: all items together, or each alone."""
    n = estimate.sample.n_items
    if ball is None or n < 3 or estimate.n_clusters in (1, n):
        return
    trivial = {"all items together": np.zeros(n, np.int64), "every item alone": np.arange(n)}
    for words, labels in trivial.items():
        far = float(unique_distances(estimate.labels, as_sample(labels[None, :]), ball.loss)[0])
        if far <= ball.radius:
            yield (
                "A wide credible ball",
                f"The {percent(ball.level)} credible ball, of radius {amount(ball.radius, ball.loss)}, reaches as far"
                f" as the partition with {words} ({amount(far, ball.loss)} away): at this level the draws say little"
                " about the clustering as a whole. More informative data or priors help; more draws do not. Single"
                " clusters and items may be certain all the same: see the tables.",
            )
            return
