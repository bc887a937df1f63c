"""An estimate and its ball as JSON, as tables, and as a folder of files."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._support.text.write_table import significant
from partita.cli.form import cluster_numbers, item_numbers, one_based, table_name
from partita.cli.outputs import print_table, write_csv, write_json
from partita.cli.steps import step
from partita.cli.terminal import printable

if TYPE_CHECKING:
    from partita._support.names import Names
    from partita.draws.sample import PartitionSample
    from partita.estimation.pair_estimate import PairEstimate
    from partita.estimation.result import Estimate
    from partita.proofs.bounds import Bound
    from partita.uncertainty.ball import CredibleBall
    from partita.uncertainty.certainty import ItemCertainty

CLUSTERS_PRINTED = 50
ITEMS_PRINTED = 5
LABELS_FILE = "labels.csv"
BOUNDS = ("upper", "lower", "horizontal")


def command_line() -> str:
    """The command as the user typed it."""
    return shlex.join(["partita", *sys.argv[1:]])


def found_facts(best: Estimate | PairEstimate, names: Names | None, bound: Bound | None) -> dict[str, Any]:
    """What scripts want to know about any estimate."""
    from importlib.metadata import version

    return {
        "labels": cluster_numbers(best.labels),
        "names": None if names is None else list(names),
        "n_clusters": best.n_clusters,
        "expected_loss": best.expected_loss,
        "loss": best.loss.name,
        "loss_weights": best.loss.weights,
        "method": best.method,
        "proven": best.proven,
        "gap": best.gap,
        "bound": None if bound is None else asdict(bound),
        "interrupted": best.interrupted,
        "warnings": list(best.warnings),
        "seed": best.seed,
        "version": version("partita"),
    }


def estimate_facts(estimate: Estimate, bound: Bound | None = None) -> dict[str, Any]:
    """The facts about an estimate from draws."""
    sample = estimate.sample
    return found_facts(estimate, sample.names, bound) | {
        "standard_error": estimate.standard_error,
        "n_draws": sample.n_draws,
        "n_unique": sample.n_unique,
        "n_items": sample.n_items,
        "runs": estimate.n_runs,
        "partitions_compared": len(estimate.runs),
        "times_reached": estimate.times_reached if estimate.runs else None,
        "held_out": None if estimate.held_out is None else asdict(estimate.held_out),
        "compression": asdict(estimate.compression),
    }


#: What sentences and tables call the measures of agreement.
MEASURES = {
    "precision": "pairwise precision",
    "recall": "pairwise recall",
    "pairwise_f1": "pairwise F1",
    "adjusted_rand": "adjusted Rand index",
    "nmi": "NMI (divided by the larger entropy)",
    "f1": "F1 (Wang et al. 2010)",
}


def agreement(labels: Any, truth: Any, *, of_pairs: bool = False) -> dict[str, float]:
    """Measures of agreement between labels and the truth for the same items, over those that are in a cluster.

    For record linkage, `of_pairs`, precision, recall and F1 count pairs of items.
    """
    from partita.losses.agreement import adjusted_rand, f1, nmi, pairwise_agreement

    labels, truth = np.asarray(labels), np.asarray(truth, dtype=object)
    labels, truth = labels[labels >= 0], truth[labels >= 0]

    found = {"adjusted_rand": adjusted_rand(truth, labels), "nmi": nmi(truth, labels)}
    return pairwise_agreement(labels, truth) | found if of_pairs else found | {"f1": f1(labels, truth)}


def agreement_sentence(measures: dict[str, float], truth: str) -> str:
    """The measures of agreement as a sentence."""
    listed = ", ".join(f"{MEASURES[measure]} {value:.3f}" for measure, value in measures.items())
    return f"Against {truth}: {listed}."


def ball_facts(ball: CredibleBall) -> dict[str, Any]:
    """The facts about a credible ball that scripts need."""
    bounds = {kind: [cluster_numbers(labels) for labels in getattr(ball, kind)] for kind in BOUNDS}
    rows = ball.summary()
    return {
        "level": ball.level,
        "mass": ball.mass,
        "radius": ball.radius,
        "standard_error": ball.standard_error,
        "loss": ball.loss.name,
        "n_inside": ball.n_inside,
        "center": cluster_numbers(ball.center),
        **bounds,
        "summary": rows,
        "warnings": list(ball.warnings),
    }


def print_warnings(sentences: Iterable[str]) -> None:
    """Prints warnings, which come before the result, one line each."""
    for sentence in sentences:
        print(printable(f"Warning: {sentence}"))


def print_answer(estimate: Estimate, ball: CredibleBall | None, certainty: Any) -> None:
    """Warnings, the answer as a sentence, and what it means where it may surprise."""
    from partita.estimation.search_warnings import unlabelled_warnings
    from partita.pages.interpretation import interpretation
    from partita.pages.sentences import answer
    from partita.uncertainty.placed import placed_only

    print_warnings(estimate.warnings)
    print(printable(answer(estimate, ball)))
    known = np.nan_to_num(certainty.probability[estimate.labels >= 0])
    converged = set(estimate.warnings) <= set(unlabelled_warnings(estimate))
    part, part_ball, _ = placed_only(estimate, ball)
    for line in interpretation(part, part_ball, known, converged=converged, typed=True):
        print(printable(f"Note: {line['text']}"))


def print_estimate(estimate: Estimate, bound: Bound | None = None) -> None:
    """The answer as a sentence, a table of the clusters, and the items that are least certain."""
    from partita.uncertainty.certainty import cluster_stability, item_certainty

    certainty = item_certainty(estimate)
    print_answer(estimate, None, certainty)
    if bound is not None:
        print(bound)
    stability = cluster_stability(estimate, certainty=certainty)
    names = item_names(estimate.sample)
    order = np.argsort(-stability.size, kind="stable")[:CLUSTERS_PRINTED]
    rows = [
        (
            str(cluster_numbers(k)),
            f"{stability.size[k]:,}",
            f"{stability.cohesion[k]:.3f}",
            names[stability.exemplar[k]],
        )
        for k in order.tolist()
    ]
    left = estimate.n_clusters - len(rows)
    print_table("", ("cluster", "items", "certainty", "exemplar"), rows)
    if left > 0:
        print(f"and {left:,} smaller clusters")
    print(printable(_items_to_check(names, certainty)))


def _items_to_check(names: tuple[str, ...], certainty: ItemCertainty) -> str:
    """The least certain items as a sentence; items in no cluster have been named before."""
    placed, probability = np.flatnonzero(certainty.labels >= 0), certainty.probability
    first = placed[np.argsort(np.nan_to_num(probability[placed]), kind="stable")][:ITEMS_PRINTED].tolist()
    shown = {i: "unknown" if np.isnan(probability[i]) else f"{probability[i]:.2f}" for i in first}
    return f"Items to look at first: {', '.join(f'{names[i]} ({known})' for i, known in shown.items())}."


def print_ball(ball: CredibleBall) -> None:
    """The ball as a sentence and a table of its bounds."""
    from partita.pages.sentences import ball_sentence

    print_warnings(ball.warnings)
    print(printable(ball_sentence(ball, "the estimate")))
    rows = [
        (row["partition"], f"{row['clusters']:,}", f"{row['distance']:.6g}", f"{row['weight']:.4g}")
        for row in ball.summary()[:CLUSTERS_PRINTED]
    ]
    print_table("", ("partition", "clusters", "distance", "probability"), rows)


def write_results(
    folder: Path,
    estimate: Estimate,
    ball: CredibleBall,
    *,
    bound: Bound | None = None,
    facts: dict[str, Any] | None = None,
    **page: Any,
) -> None:
    """Writes labels.csv, runs.csv, ball.csv, summary.json (with other `facts`, if given) and report.html."""
    from partita.pages.report import report

    write_labels(folder / LABELS_FILE, estimate)
    write_runs(folder / "runs.csv", estimate)
    write_ball(folder / "ball.csv", ball)
    details = ball_facts(ball)
    shown = {key: details[key] for key in ("level", "mass", "radius", "standard_error", "n_inside", "summary")}
    summary = estimate_facts(estimate, bound) | {"ball": shown, **(facts or {}), "command": command_line()}
    write_json(folder / "summary.json", summary)
    page |= {"command": command_line(), "labels_file": table_name(LABELS_FILE), "one_based": one_based()}
    with step("wrote report.html"):
        report(estimate, ball, path=folder / "report.html", bound=bound, **page)


def write_labels(path: Path, estimate: Estimate) -> None:
    """One row per item: its name, its cluster and its certainty."""
    from partita.uncertainty.certainty import item_certainty

    certainty = map(significant, item_certainty(estimate).probability.tolist())
    rows = zip(item_names(estimate.sample), cluster_numbers(estimate.labels), certainty, strict=True)
    write_csv(path, ("item", "cluster", "certainty"), rows)


def write_runs(path: Path, estimate: Estimate) -> None:
    """One row per partition to which the runs of the search led."""
    rows = [
        (run, row.start, row.sweeps, row.moves, row.clusters, row.loss, round(row.seconds, 4))
        for run, row in enumerate(estimate.runs)
    ]
    header = ("run", "start", "sweeps", "moves", "clusters", "expected_loss", "seconds")
    write_csv(path, header, rows)


def write_ball(path: Path, ball: CredibleBall) -> None:
    """One row per item: its cluster in the estimate and in each bound."""
    columns = {"estimate": ball.center}
    for kind in BOUNDS:
        bounds = getattr(ball, kind)
        columns |= {f"{kind}_{i + 1}": labels for i, labels in enumerate(bounds)}
    table = np.column_stack(list(columns.values()))
    rows = ([name, *labels] for name, labels in zip(item_names(ball.sample), cluster_numbers(table), strict=True))
    write_csv(path, ("item", *columns), rows)


def item_names(sample: PartitionSample) -> tuple[str, ...]:
    """The names of the items, or their numbers."""
    return sample.names or tuple(map(str, item_numbers(sample.n_items)))
