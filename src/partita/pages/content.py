"""The content of the page as plain values, without HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.arrays import Labels
from partita._support.names import as_named
from partita.draws.sample import PartitionSample
from partita.estimation.result import Estimate
from partita.pages import sentences
from partita.pages.blocks import next_clusters
from partita.pages.chains import chain_figures
from partita.pages.components import components_table, sizes_table
from partita.pages.figures import ball_strips, bars, map_figure, scatter_figure, trace_figure
from partita.pages.heatmap import HeatMap, has_map, heat_map
from partita.pages.interpretation import interpretation
from partita.pages.labels import held_labels
from partita.pages.more_answers import more_answers
from partita.pages.profiles import profile_section
from partita.pages.tables import Column, Table
from partita.pages.truth import against_truth
from partita.partitions.checks import check_same_items
from partita.partitions.labels import align_labels
from partita.plots.points import axis_names, check_data
from partita.profiling.profiles import Profiles
from partita.proofs.bounds import Bound
from partita.uncertainty.ball import CredibleBall
from partita.uncertainty.certainty import ItemCertainty, cluster_stability, item_certainty, n_clusters_posterior
from partita.uncertainty.diagnostics import Diagnostics
from partita.uncertainty.placed import placed_only

ITEMS_LISTED = 1000
BOUNDS_LISTED = 8
CLUSTERS_LISTED = 1000


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
    checked: Diagnostics | None,
    losses: Table | None = None,
    profiles: Profiles | None = None,
    columns: tuple[str, ...] | None = None,
    labels_file: str | None = None,
    first: int = 0,
    answers: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Everything the template needs: sentences, tables, and the data of the figures.

    `checked` holds the diagnostics of the chains, `losses` the answers of other losses, `answers` those that
    `more_answers` takes; clusters and items are counted from `first`.
    """
    if ball is not None:
        check_same_items(estimate.labels, ball.center, "estimate", "ball")
    columns = columns or axis_names(data)
    whole, of_items = estimate, item_certainty(estimate)
    certainties = of_items.probability
    estimate, ball, placed = placed_only(whole, ball, first)
    if placed is not None:
        of_items = item_certainty(estimate)
        truth, data, checked = _of_placed(whole.sample, placed, truth, data, checked)
    labels, sample = estimate.labels, estimate.sample
    names = sample.names or tuple(map(str, range(first, sample.n_items + first)))
    certainty = np.nan_to_num(of_items.probability)
    heat = heat_map(labels, certainty, sample) if has_map(labels) else None
    on_chains = () if checked is None else checked.on_chains
    return {
        "title": title,
        "first": first,
        "n_items": f"{whole.sample.n_items:,}",
        "warnings": estimate.warnings,
        "answer": sentences.answer(whole, ball),
        "reading": interpretation(
            estimate, ball, certainty, converged=checked is None or checked.converged, typed=command is not None
        ),
        "settings": list(sentences.settings(whole, ball)),
        "advice": [asdict(line) for line in sentences.advice(estimate, ball, bound, on_chains)],
        "mixing": None if checked is None else _mixing(checked),
        "map_note": map_note(heat),
        "clusters": _clusters(estimate, of_items, names, labels_file),
        "components": components_table(estimate, certainty, names),
        "sizes": sizes_table(estimate),
        "ball": None if ball is None else _ball_facts(ball),
        "bounds": None if ball is None else _bounds_table(ball),
        "items": _items(estimate, certainty, names, labels_file),
        "losses": losses,
        "profiles": None if profiles is None else profile_section(profiles, first),
        **more_answers(whole, **(answers or {}), first=first),
        **against_truth(truth, labels, sample.names),
        "runs": _runs(estimate),
        "reproduce": reproduce(estimate, ball, command),
        "labels": held_labels(whole.labels, whole.sample.names, certainties),
        "figures": _figures(estimate, ball, data, density, heat, names, columns)
        | chain_figures(estimate, checked, heat),
    }


def _of_placed(
    sample: PartitionSample, placed: Labels, truth: Any, data: Any, checked: Diagnostics | None
) -> tuple[Any, Any, Diagnostics | None]:
    """What is given for all items, for those in a cluster."""
    if truth is not None:
        known = as_named(truth, "truth").in_order_of(sample.names, sample.n_items, "the estimate")
        truth = np.asarray(known)[placed]
    if data is not None:
        data = check_data(data, sample.n_items, sample.names, "the estimate")[placed]
    if checked is not None:
        checked = replace(checked, chain_labels=tuple(labels[placed] for labels in checked.chain_labels))
    return truth, data, checked


def _figures(
    estimate: Estimate,
    ball: CredibleBall | None,
    data: ArrayLike | None,
    density: tuple[ArrayLike, ArrayLike] | None,
    heat: HeatMap | None,
    names: tuple[str, ...],
    columns: tuple[str, ...] | None,
) -> dict[str, Any]:
    """The data of the figures: those of the ball, of the map and of the data only if there are any."""
    labels, sample = estimate.labels, estimate.sample
    partitions = [("estimate", labels), *_bounds(labels, ball)]
    figures: dict[str, Any] = {
        "counts": bars(n_clusters_posterior(sample), estimate.n_clusters),
        "map": None if heat is None else map_figure(heat, labels, names if not heat.aggregated else None),
        "trace": trace_figure([run.trace for run in estimate.runs]),
        "strips": ball_strips(partitions, heat) if ball is not None and heat is not None else None,
        "points": None,
    }
    if data is not None:
        table = check_data(data, sample.n_items, sample.names, "the estimate")
        figures["points"] = scatter_figure(table, partitions, names, density, columns)
    return figures


def _bounds(labels: Labels, ball: CredibleBall | None) -> Iterator[tuple[str, Labels]]:
    """One bound of each kind, relabelled to match the estimate."""
    if ball is not None:
        for kind in ("upper", "lower", "horizontal"):
            yield f"{kind} bound", align_labels(labels, getattr(ball, kind)[0])


def map_note(heat: HeatMap | None) -> str | None:
    """What a cell of the map is, if it is more than one pair of items."""
    if heat is None or not heat.aggregated:
        return None
    most = int(np.diff(heat.edges).max())
    return (
        f"There are too many items to show every pair. Each cell is the mean over up to {most:,} × {most:,} pairs"
        " of neighbours; within a cluster the most certain items come first."
    )


def _clusters(estimate: Estimate, of_items: ItemCertainty, names: tuple[str, ...], labels_file: str | None) -> Table:
    stability = cluster_stability(estimate, certainty=of_items)
    listed, note = np.arange(estimate.n_clusters), None
    if listed.size > CLUSTERS_LISTED:
        note = listed_note("clusters", CLUSTERS_LISTED, listed.size, labels_file)
        listed = np.sort(np.argsort(stability.cohesion, kind="stable")[:CLUSTERS_LISTED])
    shares = (stability.size, stability.size / estimate.labels.size, stability.cohesion, stability.jaccard)
    cells = [values[listed].tolist() for values in (*shares, stability.exact)]
    exemplars = [names[item] for item in stability.exemplar[listed].tolist()]
    rows = list(zip(listed.tolist(), *cells, exemplars, strict=True))
    columns = (
        Column("Cluster", "cluster"),
        Column("Items", "number"),
        Column("Share", "percent"),
        Column("Certainty", "share", "Mean probability that two of its items are together"),
        Column("Stability", "share", "Mean overlap (Jaccard) with the most similar cluster of a draw"),
        Column("Exact", "share", "Probability of exactly this cluster"),
        Column("Exemplar", "text", "The item with the highest certainty"),
    )
    return Table("clusters", "Clusters of the estimate", columns, rows, note)


def listed_note(what: str, listed: int, count: int, labels_file: str | None) -> str:
    """Which rows a table shows, and where all are."""
    note = f"The {listed:,} least certain of {count:,} {what}"
    return f"{note}." if labels_file is None else f"{note}; {labels_file} has the labels of all items."


def _ball_facts(ball: CredibleBall) -> list[tuple[str, str]]:
    return [
        ("Level", sentences.percent(ball.level)),
        ("Posterior mass inside", sentences.percent(ball.mass)),
        ("Radius", sentences.amount(ball.radius, ball.loss) + _spread(ball.standard_error)),
        ("Distinct partitions inside", f"{ball.n_inside:,}"),
    ]


def _spread(error: float | None) -> str:
    """The Monte Carlo standard error, if it is known and not 0, as it is among ties."""
    return "" if not error or not np.isfinite(error) else f" ± {error:.2g}"


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


def _items(
    estimate: Estimate, certainty: NDArray[np.float64], names: tuple[str, ...], labels_file: str | None
) -> Table:
    labels = estimate.labels
    listed = np.argsort(certainty, kind="stable")[:ITEMS_LISTED]
    columns = [
        Column("Item", "text"),
        Column("Cluster", "cluster"),
        Column("Certainty", "share", "Mean probability of being with the other items of its cluster"),
    ]
    cells: list[list[Any]] = [
        [names[i] for i in listed.tolist()],
        labels[listed].tolist(),
        certainty[listed].tolist(),
    ]
    if estimate.n_clusters > 1:
        cluster, probability = next_clusters(labels, estimate.sample, listed)
        columns += [
            Column("Next cluster", "cluster", "The other cluster with the highest mean similarity"),
            Column("Affinity", "share", "Mean probability of being with the items of that cluster"),
        ]
        cells += [cluster.tolist(), probability.tolist()]
    note = None
    if labels.size > ITEMS_LISTED:
        note = listed_note("items", ITEMS_LISTED, labels.size, labels_file)
    rows = list(zip(*cells, strict=True))
    return Table("items", "Items, least certain first", tuple(columns), rows, note, search=True)


def _mixing(checked: Diagnostics) -> Table:
    rows = [(q.name, q.mean, q.sd, q.r_hat, q.ess) for q in checked.quantities]
    columns = (
        Column("Quantity", "text"),
        Column("Mean", "mean"),
        Column("Spread", "mean", "Standard deviation over the draws"),
        Column("R-hat", "share", "1 when the chains agree; above 1.05 they have not mixed"),
        Column("Effective draws", "rounded", "Number of independent draws that are equally informative"),
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
    """Version, seed and call that reproduce the answer."""
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
