"""What the result means, in plain words, where it may surprise: the first sentences of the page after the answer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from partita.draws.sample import as_sample
from partita.estimation.result import Estimate
from partita.losses.expected import unique_distances
from partita.results.sentences import amount, percent
from partita.uncertainty.ball import CredibleBall
from partita.uncertainty.certainty import n_clusters_posterior

#: The share of the draws with fewer, or with more, clusters from which on the difference needs an explanation.
LARGE_SHARE = 0.8
#: A posterior in which half of the items have less than this certainty is diffuse.
DIFFUSE = 0.5
#: What it means if the ball reaches a partition that holds no information.
DIFFUSE_BALL = (
    ": at this level the draws say little about the clustering as a whole. Single clusters and items may be certain all"
    " the same: see the tables."
)
#: An item that is a cluster of its own, but alone in a smaller share of the draws than this, lies between clusters.
ALONE = 0.5


def interpretation(
    estimate: Estimate, ball: CredibleBall | None, certainty: NDArray[np.float64], *, converged: bool = True
) -> list[str]:
    """Sentences, each with a topic; empty if the result needs no explanation.

    Parameters
    ----------
    certainty : (n,) array
        Mean probability of each item of being with the other items of its cluster.
    converged : bool
        Whether the diagnostics found nothing wrong with the chains.
    """
    found = [
        *_on_count(estimate),
        *_on_lone_items(estimate, certainty),
        *_on_spread(estimate, certainty),
        *_on_width(estimate, ball, certainty, converged),
    ]
    return [f"{topic}. {text}" for topic, text in found]


def _on_count(estimate: Estimate) -> Iterator[tuple[str, str]]:
    posterior, own = n_clusters_posterior(estimate.sample), estimate.n_clusters
    more = sum(share for k, share in posterior.items() if k > own)
    fewer = sum(share for k, share in posterior.items() if k < own)
    mode = max(posterior, key=lambda k: posterior[k])
    a = getattr(estimate.loss, "a", None)
    weight = None if a is None else f"the weight a of the loss, now {a:g},"
    if more >= LARGE_SHARE:
        how = "choose another loss" if weight is None else f"lower {weight} or choose another loss"
        yield (
            "Fewer clusters than most draws",
            f"{percent(round(more, 3))} of the draws have more clusters than the estimate, most often {mode}. The"
            " additional clusters are not in the estimate because they are small or because their members change from"
            f" draw to draw. To see more of them, {how}.",
        )
    if fewer >= LARGE_SHARE:
        how = "Choose another loss" if weight is None else f"Raise {weight}"
        yield (
            "More clusters than most draws",
            f"{percent(round(fewer, 3))} of the draws have fewer clusters than the estimate, most often {mode}. The"
            " draws join groups in different ways, and the estimate keeps these groups apart, since no single way of"
            f" joining them is likely. {how} to join them.",
        )


def _on_lone_items(estimate: Estimate, certainty: NDArray[np.float64]) -> Iterator[tuple[str, str]]:
    sizes = np.bincount(estimate.labels)
    lone = np.flatnonzero((sizes[estimate.labels] == 1) & (certainty < ALONE))
    if lone.size == 0 or sizes.size == 1:
        return
    largest = round(float(certainty[lone].max()), 3)
    if lone.size == 1:
        said = f"One item is a cluster of its own in the estimate, but alone in {_of_draws(largest, 'only')}"
        advice = "it joins one cluster or another. Report it as unassigned rather than as a cluster of its own"
    else:
        alone = _of_draws(largest, "at most")
        said = f"{lone.size:,} items are clusters of their own in the estimate, but alone in {alone}"
        advice = "they join one cluster or another. Report them as unassigned rather than as clusters of their own"
    yield "Items between clusters", f"{said}; in the other draws {advice}."


def _of_draws(share: float, limit: str) -> str:
    """A small share of the draws in words, none if it is 0."""
    return f"{limit} {percent(share)} of the draws" if share else "none of the draws"


def _on_spread(estimate: Estimate, certainty: NDArray[np.float64]) -> Iterator[tuple[str, str]]:
    middle = float(np.median(certainty))
    if estimate.sample.n_items > 1 and middle < DIFFUSE:
        yield (
            "A diffuse posterior",
            f"Half of the items are with the other members of their cluster in at most {percent(round(middle, 3))} of"
            f" the draws: the data do not determine one clustering. Report what is certain (a partial"
            " clustering), and look at the modes of the posterior for clusterings that compete.",
        )


def _on_width(
    estimate: Estimate, ball: CredibleBall | None, certainty: NDArray[np.float64], converged: bool
) -> Iterator[tuple[str, str]]:
    """Says so if the ball reaches a partition that holds no information: all items together, or each alone.

    That the draws say little follows only if that partition is probable or the posterior diffuse: a small ball around a
    partition with one large cluster reaches it too.
    """
    n = estimate.sample.n_items
    if ball is None or n < 3 or estimate.n_clusters in (1, n):
        return
    help_words = (
        "More informative data or priors help; more draws do not."
        if converged
        else "That may change when the chains have mixed."
    )
    trivial = {"all items together": np.zeros(n, np.int64), "every item alone": np.arange(n)}
    for words, labels in trivial.items():
        far = float(unique_distances(estimate.labels, as_sample(labels[None, :]), ball.loss)[0])
        if far <= ball.radius:
            share = n_clusters_posterior(estimate.sample).get(int(labels[-1]) + 1, 0.0)
            diffuse = 0 < share >= 1 - ball.level or np.median(certainty) < DIFFUSE
            yield (
                "A wide credible ball",
                f"The {percent(ball.level)} credible ball, of radius {amount(ball.radius, ball.loss)}, reaches as far"
                f" as the partition with {words} ({amount(far, ball.loss)} away)"
                f"{DIFFUSE_BALL if diffuse else _despite(share)} {help_words}",
            )
            return


def _despite(share: float) -> str:
    """How few draws are the trivial partition in the ball, and what follows."""
    draws = f"only {percent(round(share, 3))} of the draws are" if share else "no draw is"
    return f", although {draws} that partition. Which items belong together is uncertain, not that there are clusters."
