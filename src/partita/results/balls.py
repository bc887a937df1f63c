"""A credible ball in words, facts and tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from partita._support.arrays import Labels
from partita._support.hints import plural
from partita.partitions.matching import align_labels
from partita.results.sentences import amount, loss_words, percent
from partita.results.tables import Column, Table, columns
from partita.uncertainty.ball import CredibleBall

BOUNDS_LISTED = 8
BOUNDS = ("upper", "lower", "horizontal")


def ball_sentence(ball: CredibleBall) -> str:
    """What the stated share of the posterior allows."""
    if ball.n_inside == 1 and ball.radius == 0:
        return f"At least {percent(ball.level)} of the posterior is exactly this partition."
    counts = ball.sample.cluster_counts[ball.inside]
    fewest, most = int(counts.min()), int(counts.max())
    span = plural(fewest, "cluster") if fewest == most else f"{fewest} to {most} clusters"
    return (
        f"{percent(ball.level)} of the posterior lies within {amount(ball.radius, ball.loss)}"
        f" ({loss_words(ball.loss)}) of this partition, in {plural(ball.n_inside, 'distinct draw')} with {span}."
    )


def ball_facts(ball: CredibleBall) -> dict[str, Any]:
    """The facts about a credible ball."""
    return {
        "level": ball.level,
        "mass": ball.mass,
        "radius": ball.radius,
        "standard_error": ball.standard_error,
        "loss": ball.loss.name,
        "n_inside": ball.n_inside,
        "center": ball.center.tolist(),
        **{kind: [labels.tolist() for labels in getattr(ball, kind)] for kind in BOUNDS},
        "summary": ball.summary(),
    }


def ball_table(ball: CredibleBall, names: tuple[str, ...]) -> Table:
    """One row per item: its cluster in the estimate and in each bound."""
    partitions = {"estimate": ball.center}
    for kind in BOUNDS:
        partitions |= {f"{kind}_{i + 1}": labels for i, labels in enumerate(getattr(ball, kind))}
    rows = list(zip(names, *(labels.tolist() for labels in partitions.values()), strict=True))
    columns = (Column("Item", "text"), *(Column(name, "cluster") for name in partitions))
    return Table("ball", "Labels of the estimate and of the bounds of its ball", columns, rows, indexed=True)


def bounds_table(ball: CredibleBall) -> Table:
    """Clusters, distance and probability of the estimate and of each bound."""
    seen: dict[str, int] = {}
    rows = []
    for row in ball.summary():
        seen[row["partition"]] = seen.get(row["partition"], 0) + 1
        if seen[row["partition"]] <= BOUNDS_LISTED:
            rows.append((row["partition"], row["clusters"], row["distance"], row["weight"]))
    left_out = sum(max(0, count - BOUNDS_LISTED) for count in seen.values())
    note = f"{left_out:,} more bounds tie with these." if left_out else None
    header = columns("""
        Partition; Clusters; Distance | Distance from the estimate
        Probability | Share of the draws that equal this partition""")
    return Table("bounds", "The estimate and the bounds of its credible ball", header, rows, note)


def ball_rows(ball: CredibleBall) -> Iterator[tuple[str, str]]:
    error = ball.standard_error
    spread = "" if not error or not np.isfinite(error) else f" ± {error:.2g}"
    yield "Level", percent(ball.level)
    yield "Posterior mass inside", percent(ball.mass)
    yield "Radius", amount(ball.radius, ball.loss) + spread
    yield "Distinct partitions inside", f"{ball.n_inside:,}"


def aligned_bounds(labels: Labels, ball: CredibleBall | None) -> Iterator[tuple[str, Labels]]:
    """One bound of each kind, relabelled to match the estimate."""
    if ball is not None:
        for kind in BOUNDS:
            yield f"{kind} bound", align_labels(labels, getattr(ball, kind)[0])
