"""What the page says, as plain values: no HTML here."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._validate import check_partition, check_same_items
from partita.bounds import Bound
from partita.certainty import ItemCertainty, cluster_stability, item_certainty, n_clusters_posterior
from partita.diagnostics import Diagnostics, diagnostics
from partita.estimate import Estimate, Search
from partita.partitions import align_labels
from partita.report import words
from partita.report.blocks import rivals
from partita.report.figures import ball_strips, bars, map_figure, scatter_figure, trace_figure
from partita.report.heatmap import HeatMap, heat_map
from partita.report.tables import Column, Table
from partita.uncertainty import CredibleBall

Labels = NDArray[np.int64]
ITEMS_LISTED = 1000
BOUNDS_LISTED = 8
RIVAL_CELLS = 50_000_000
MIXING_CELLS = 12_000_000


def content(
    estimate: Estimate,
    ball: CredibleBall | None,
    data: ArrayLike | None,
    truth: ArrayLike | None,
    *,
    title: str,
    command: str | None,
    density: tuple[ArrayLike, ArrayLike] | None,
    bound: Bound | None,
) -> dict[str, Any]:
    """Everything the template needs: sentences, tables, and the data of the figures."""
    labels, sample = estimate.labels, estimate.sample
    if ball is not None:
        check_same_items(labels, ball.center, "estimate", "ball")
    names = sample.names or tuple(map(str, range(sample.n_items)))
    of_items = item_certainty(estimate)
    certainty = np.nan_to_num(of_items.probability)
    heat = heat_map(labels, certainty, sample)
    partitions = [("estimate", labels), *_bounds(labels, ball)]
    checked = chain_diagnostics(estimate)
    figures: dict[str, Any] = {
        "counts": bars(n_clusters_posterior(sample), estimate.n_clusters),
        "map": map_figure(heat, labels, names if not heat.aggregated else None),
        "trace": trace_figure([run.trace for run in estimate.runs]),
    }
    if ball is not None:
        figures["strips"] = ball_strips(partitions, heat)
    if data is not None:
        figures["points"] = scatter_figure(data, partitions, names, density)
    return {
        "title": title,
        "answer": words.answer(estimate, ball),
        "asked": list(words.asked(estimate, ball)),
        "advice": list(words.advice(estimate, ball, bound, () if checked is None else checked.advice)),
        "mixing": None if checked is None else _mixing(checked),
        "map_note": _map_note(heat),
        "clusters": _clusters(estimate, of_items, names),
        "ball": None if ball is None else _ball_facts(ball),
        "bounds": None if ball is None else _bounds_table(ball),
        "items": _items(estimate, certainty, names),
        "truth": None if truth is None else _against_truth(labels, truth),
        "runs": _runs(estimate),
        "reproduce": reproduce(estimate, ball, command),
        "figures": figures,
    }


def _bounds(labels: Labels, ball: CredibleBall | None) -> Iterator[tuple[str, Labels]]:
    """The bounds in the estimate's labels, one of each kind."""
    if ball is not None:
        for kind in ("upper", "lower", "horizontal"):
            yield f"{kind} bound", align_labels(labels, getattr(ball, kind)[0])


def _map_note(heat: HeatMap) -> str | None:
    if not heat.aggregated:
        return None
    most = int(np.diff(heat.edges).max())
    return (
        f"There are too many items to show each pair. A cell is the mean over up to {most:,} × {most:,} pairs"
        " of neighbours; within a cluster the surest items come first."
    )


def _clusters(estimate: Estimate, of_items: ItemCertainty, names: tuple[str, ...]) -> Table:
    stability = cluster_stability(estimate, certainty=of_items)
    share = stability.size / estimate.labels.size
    rows = [
        (k, size, part, cohesion, jaccard, exact, names[exemplar])
        for k, (size, part, cohesion, jaccard, exact, exemplar) in enumerate(
            zip(
                stability.size.tolist(),
                share.tolist(),
                stability.cohesion.tolist(),
                stability.jaccard.tolist(),
                stability.exact.tolist(),
                stability.exemplar.tolist(),
                strict=True,
            )
        )
    ]
    columns = (
        Column("Cluster", "number"),
        Column("Items", "number"),
        Column("Share", "percent"),
        Column("Certainty", "share", "Mean probability that two of its items are together"),
        Column("Stability", "share", "Mean overlap (Jaccard) with the most similar cluster of a draw"),
        Column("Exact", "share", "Probability of exactly this cluster"),
        Column("Exemplar", "text", "The item that is most surely with the others"),
    )
    return Table("clusters", "Clusters of the estimate", columns, rows)


def _ball_facts(ball: CredibleBall) -> list[tuple[str, str]]:
    return [
        ("Level", words.percent(ball.level)),
        ("Posterior mass inside", words.percent(ball.mass)),
        ("Radius", words.amount(ball.radius, ball.loss)),
        ("Distinct partitions inside", f"{ball.n_inside:,}"),
    ]


def _bounds_table(ball: CredibleBall) -> Table:
    seen: dict[str, int] = {}
    rows = []
    for row in ball.summary():
        seen[row["partition"]] = seen.get(row["partition"], 0) + 1
        if seen[row["partition"]] <= BOUNDS_LISTED:
            rows.append((row["partition"], row["clusters"], row["distance"], row["weight"]))
    left_out = sum(max(0, count - BOUNDS_LISTED) for count in seen.values())
    note = f"{left_out:,} more bounds tie with these." if left_out else None
    columns = (
        Column("Partition", "text"),
        Column("Clusters", "number"),
        Column("Distance", "loss", "Distance from the estimate"),
        Column("Probability", "share", "Share of the draws that equal this partition"),
    )
    return Table("bounds", "The estimate and the bounds of its credible ball", columns, rows, note)


def _items(estimate: Estimate, certainty: NDArray[np.float64], names: tuple[str, ...]) -> Table:
    labels = estimate.labels
    listed = np.argsort(certainty, kind="stable")[:ITEMS_LISTED]
    columns = [
        Column("Item", "text"),
        Column("Cluster", "number"),
        Column("Certainty", "share", "Mean probability of being with the other items of its cluster"),
    ]
    cells: list[list[Any]] = [
        [names[i] for i in listed.tolist()],
        labels[listed].tolist(),
        certainty[listed].tolist(),
    ]
    if 1 < estimate.n_clusters <= RIVAL_CELLS // labels.size:
        cluster, probability = rivals(labels, estimate.sample)
        columns += [
            Column("Next cluster", "number", "The other cluster that it is most often with"),
            Column("Affinity", "share", "Mean probability of being with the items of that cluster"),
        ]
        cells += [cluster[listed].tolist(), probability[listed].tolist()]
    note = None
    if labels.size > ITEMS_LISTED:
        note = f"The {ITEMS_LISTED:,} least certain of {labels.size:,} items; labels.csv has all labels."
    rows = list(zip(*cells, strict=True))
    return Table("items", "Items, least certain first", tuple(columns), rows, note, search=True)


def _against_truth(labels: Labels, truth: ArrayLike) -> Table:
    from partita.comparison import compare_partitions

    reference = check_partition(truth, "truth")
    check_same_items(reference, labels, "truth", "estimate")
    rows = list(compare_partitions(reference, labels).items())
    columns = (Column("Measure", "text"), Column("Value", "loss"))
    return Table("truth", "The estimate against the given truth", columns, rows)


def chain_diagnostics(estimate: Estimate) -> Diagnostics | None:
    """How well the chains mixed; None where weights speak against it, or where it would take long."""
    sample = estimate.sample
    if sample.is_weighted or sample.n_unique * sample.n_items > MIXING_CELLS:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page shows the advice itself
        return diagnostics(estimate, search=Search(runs=1), rng=0)


def _mixing(checked: Diagnostics) -> Table:
    rows = [(q.name, q.mean, q.sd, q.r_hat, q.ess) for q in checked.quantities]
    columns = (
        Column("Quantity", "text"),
        Column("Mean", "loss"),
        Column("Spread", "loss", "Standard deviation over the draws"),
        Column("R-hat", "share", "1 when the chains agree; above 1.05 they have not mixed"),
        Column("Effective draws", "rounded", "How many independent draws these are worth"),
    )
    return Table("mixing", "How well the chains mixed", columns, rows)


def _runs(estimate: Estimate) -> Table | None:
    if not estimate.runs:
        return None
    rows = [
        (run, row.start, row.sweeps, row.moves, row.clusters, row.loss, row.seconds)
        for run, row in enumerate(estimate.runs)
    ]
    columns = (
        Column("Run", "number"),
        Column("Start", "text"),
        Column("Sweeps", "number"),
        Column("Moves", "number"),
        Column("Clusters", "number"),
        Column("Expected loss", "loss"),
        Column("Seconds", "seconds"),
    )
    return Table("runs", "Runs of the search", columns, rows)


def reproduce(estimate: Estimate, ball: CredibleBall | None, command: str | None) -> list[tuple[str, str]]:
    """Version, seed and call that give the same answer again."""
    import platform
    from importlib.metadata import version

    seed = "none was given" if estimate.seed is None else str(estimate.seed)
    call = f"estimate(draws, loss={estimate.loss}, method={estimate.method!r}"
    if estimate.search is not None:
        call += f", search={estimate.search}"
    call += f", rng={estimate.seed})"
    facts = [
        ("partita", version("partita")),
        ("numpy", np.__version__),
        ("Python", platform.python_version()),
        ("Seed", seed),
        ("Call", call),
    ]
    if ball is not None:
        facts.append(("Ball", f"credible_ball(estimate, level={ball.level:g})"))
    return facts if command is None else [*facts, ("Command", command)]
