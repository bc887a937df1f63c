"""Cheap truths about results; a script calls them, and `Wrong` is a finding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = [
    "Wrong",
    "check_ball",
    "check_chain",
    "check_close",
    "check_estimate",
    "check_finite",
    "check_labels",
    "check_matrix",
    "check_modes",
    "check_obeyed",
    "check_pair_bound",
    "check_pair_estimate",
    "check_same_draws",
    "check_sample",
    "check_similarity",
    "check_stored",
    "check_true",
]  # fmt: skip


class Wrong(Exception):
    """A result that cannot be right."""


def check_true(truth: Any, claim: str) -> None:
    """The claim holds."""
    if not truth:
        raise Wrong(claim)


def check_labels(labels: Any, n_items: int | None = None, gaps: bool = False) -> None:
    """Canonical labels: 0-based, in order of first appearance; -1 only where gaps may be."""
    labels = np.asarray(labels)
    check_true(labels.ndim == 1, f"labels of shape {labels.shape}")
    check_true(n_items is None or len(labels) == n_items, f"{len(labels)} labels for {n_items} items")
    seen = -1
    for label in labels.tolist():
        if label == -1 and gaps:
            continue
        check_true(0 <= label <= seen + 1, f"labels are not canonical: {labels.tolist()[:20]}")
        seen = max(seen, label)


def check_finite(values: Any, what: str = "value") -> None:
    """No NaN, no infinity."""
    values = np.asarray(values, float)
    check_true(np.isfinite(values).all(), f"{what} is not finite: {values.ravel()[:6]}")


def check_close(value: float, other: float, what: str, scale: float = 1.0) -> None:
    """Equal up to rounding, relative to the size of what was summed."""
    room = 1e-9 * max(abs(value), abs(other), scale)
    check_true(abs(value - other) <= room, f"{what}: {value!r} and {other!r} differ")


def check_sample(sample: Any) -> None:
    """Weights that sum to 1, an index that fits, canonical rows without repeats."""
    check_stored(sample)
    check_close(float(sample.weights.sum()), 1.0, "the sum of the weights")
    check_true(len(np.unique(sample.labels, axis=0)) == sample.n_unique, "distinct draws repeat")


def check_stored(sample: Any) -> None:
    """What must hold even of a sample from a folder that someone has changed with care."""
    check_true(sample.n_unique >= 1 and sample.n_items >= 1, f"an empty sample: {sample.labels.shape}")
    check_finite(sample.weights, "weights")
    check_true((sample.weights >= 0).all(), "a negative weight")
    check_true(sample.index.min() >= 0 and sample.index.max() < sample.n_unique, "index out of range")
    for row in sample.labels[:10]:
        check_labels(row, sample.n_items, gaps=sample.has_gaps)


def check_same_draws(sample: Any, other: Any) -> None:
    """The same draws in the same order, with the same weights."""
    check_true(np.array_equal(sample.to_numpy(), other.to_numpy()), "other draws came back")
    check_true(np.allclose(sample.draw_weights, other.draw_weights, rtol=1e-9, atol=0), "other weights came back")


def check_estimate(best: Any) -> None:
    """Canonical labels, the loss that is reported is its loss, and no draw that could be the estimate is better."""
    import partita as pt
    from partita.draws.sample import has_weight

    sample = best.sample
    check_labels(best.labels, sample.n_items, gaps=True)
    check_true(not (best.labels < 0)[~sample.unlabelled].any(), "an item with a label in some draw is in no cluster")
    check_finite(best.expected_loss, "expected_loss")
    if getattr(getattr(best.loss, "f0", None), "__name__", "") == "unstable":
        return
    scale = _scale(best)
    check_close(best.expected_loss, float(pt.expected_loss(best.partition, sample, best.loss, n_jobs=1)), "loss", scale)
    seen = has_weight(sample)  # the other draws play no part
    limit = best.search.max_clusters
    limit = sample.n_clusters[seen].max() if limit is None else limit
    if best.method in ("draws", "search") and best.search.seconds is None and best.held_out is None:
        whole = np.array([row.min() >= 0 for row in sample.labels]) & (sample.n_clusters <= limit) & seen
        for row in sample.labels[whole][:20]:
            loss = float(pt.expected_loss(row.astype(np.int64), sample, best.loss, n_jobs=1))
            better = best.expected_loss - loss
            check_true(better <= 1e-9 * max(scale, abs(loss)), f"a draw is better: {loss!r} < {best.expected_loss!r}")
    check_true(isinstance(repr(best), str), "no repr")


def _scale(best: Any) -> float:
    loss = best.loss
    if hasattr(loss, "a"):
        return float(max(loss.a, loss.b) * (1 + math.log2(max(len(best.labels), 1))))
    return 1.0


def check_ball(ball: Any) -> None:
    """The ball has the mass it promises, and its bounds are partitions inside it."""
    check_true(math.isfinite(ball.radius), f"radius {ball.radius}")
    check_true(ball.radius >= 0 or ball.loss.name == "custom", f"radius {ball.radius}")
    check_true(ball.mass >= ball.level - 1e-9, f"mass {ball.mass} below level {ball.level}")
    for labels in [*ball.upper, *ball.lower, *ball.horizontal]:
        check_labels(labels, gaps=ball.sample.has_gaps)
    ball.summary()
    check_true(isinstance(repr(ball), str), "no repr")


def check_modes(found: Any) -> None:
    """Canonical modes whose weights sum to 1."""
    for row in found.labels:
        check_labels(row)
    check_close(float(np.sum(found.weights)), 1.0, "the sum of the weights")
    check_finite(found.elbow, "elbow")


def check_matrix(matrix: Any, gaps: bool = False) -> None:
    """A similarity matrix: symmetric, from 0 to 1, ones on the diagonal."""
    matrix = np.asarray(matrix)
    known = matrix[~np.isnan(matrix)] if gaps else matrix
    check_finite(known, "similarity")
    check_true((known >= 0).all() and (known <= 1 + 1e-6).all(), "a similarity outside [0, 1]")


def check_chain(chain: Any) -> None:
    """Canonical draws and finite statistics."""
    labels = np.asarray(chain.labels)
    for row in labels.reshape(-1, labels.shape[-1])[:6]:
        check_labels(row)
    for name, values in chain.stats.items():
        check_finite(values, name)
    check_true(isinstance(repr(chain), str), "no repr")


def check_similarity(pairs: Any) -> None:
    """Symmetric rows in order, with probabilities; the same pairs as a matrix."""
    check_true(pairs.n_items >= 1, "no items")
    left, _, values = pairs.pairs()
    check_true(2 * len(left) == len(pairs.neighbors), "the rows are not symmetric")
    check_finite(values, "probabilities")
    check_true(((values >= 0) & (values <= 1)).all(), "a probability outside [0, 1]")
    check_true(pairs.names is None or len(pairs.names) == pairs.n_items, "names of other items")
    if pairs.n_items <= 100:
        dense = pairs.to_dense()
        check_true(np.array_equal(dense, dense.T), "a matrix that is not symmetric")
        upper = float(np.triu(dense, 1).sum())
        check_close(pairs.total(), upper, "the sum of the probabilities", scale=1 + pairs.n_items**2)
    check_true(pairs.to_scipy().shape == (pairs.n_items,) * 2, "a sparse matrix of another size")
    check_true(isinstance(repr(pairs), str), "no repr")


def check_obeyed(best: Any) -> None:
    """Canonical labels that obey the constraints."""
    labels, rules = np.asarray(getattr(best, "partition", best.labels)), best.constraints  # unlabelled items alone
    check_labels(best.labels, gaps=hasattr(best, "partition"))
    check_finite(best.expected_loss, "expected_loss")
    check_true(isinstance(repr(best), str), "no repr")
    if rules is None:
        return
    for group in rules.together:
        check_true(len({labels[item] for item in group}) <= 1, f"{group} are not together")
    for first, second in rules.apart:
        check_true(labels[first] != labels[second], f"{first} and {second} are not apart")
    if rules.one_per is not None:
        seen = [(label, source) for label, source in zip(labels, rules.one_per, strict=True) if source == source]
        known = [pair for pair in seen if pair[1] is not None]
        check_true(len(known) == len(set(known)), "two items of one source in a cluster")


def check_pair_estimate(best: Any) -> None:
    """What it promises is what it has; a proof is one, where enumeration can tell."""
    import partita as pt

    check_obeyed(best)
    scale = max(1.0, *(abs(getattr(best.loss, name, 1.0)) for name in "ab")) * (1 + math.log2(len(best.labels)))
    again = pt.pair_loss(best.labels, best.similarity, best.loss)
    check_close(best.expected_loss, again, "loss", scale)
    check_true(best.components.count >= 1, "no components")
    if best.proven and best.constraints is None and len(best.labels) <= 6:
        least = min(
            pt.pair_loss(list(labels), best.similarity, best.loss)
            for labels in pt.enumerate_partitions(len(best.labels))
        )
        check_true(best.expected_loss <= least + 1e-9 * scale, f"{least!r} is below the proven {best.expected_loss!r}")


def check_pair_bound(best: Any, found: Any) -> None:
    """A bound is below the loss that was found."""
    room = 1e-9 * (1 + abs(best.expected_loss))
    check_finite(found.value, "bound")
    check_true(found.value <= best.expected_loss + room, f"bound {found.value} above {best.expected_loss}")
    check_true(isinstance(str(found), str), "no words")
