"""Credible ball against plain NumPy; the best draw, exact Binder and the bounds on the reference draws.

`python -m benchmarks.uncertainty` prints a table and writes benchmarks/results/uncertainty.csv. Without `--slow` the
rows that take minutes are left out; `--only ball,functions,draws,proofs,bounds` chooses. Wall time counts, with the
CPU seconds of all threads beside it: where other work shares the machine, the two are far apart and the bounds come out
wider.
"""

from __future__ import annotations

import argparse
import csv
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

import partita as pt
from benchmarks.data import REFERENCE, reference_draws
from partita import uncertainty
from partita.datasets import make_draws
from partita.draws.sample import PartitionSample, as_sample
from partita.estimation.estimate import estimate
from partita.losses.expected import unique_distances
from partita.search.settings import Search
from partita.uncertainty.ball import credible_ball

RESULTS = Path(__file__).parent / "results" / "uncertainty.csv"
N_ITEMS, N_DRAWS, N_CLUSTERS = 200, 10_000, 12
MANY_ITEMS = 1_000
REPEATS = 25
#: name: seconds within which the proof is wanted
PROOFS = {"galaxy": 15, "iris": 15, "gaskins_like": 15, "cls15": 15, "simce_like": 120}
#: name, seconds to spend, gap wanted
BOUNDS = [
    ("galaxy", 10, 0.06), ("iris", 10, 0.06), ("galaxy", 120, 0.01), ("iris", 120, 0.01),
    ("gaskins_like", 180, 0.15), ("cls15", 180, 0.15),
]  # fmt: skip


@dataclass(frozen=True)
class Row:
    what: str
    ours: str
    other: str
    theirs: str
    comparison: str
    target: str
    wall_seconds: float
    cpu_seconds: float


class Watch:
    """Wall and CPU seconds of what runs inside."""

    def __enter__(self) -> Watch:
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall, self.cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu


def numpy_ball(center: np.ndarray, draws: np.ndarray, level: float) -> float:
    """The radius from the formulas: a contingency table and three entropies for each draw."""
    n, k = center.size, center.max() + 1

    def n_log_n(counts: np.ndarray) -> float:
        seen = counts[counts > 0]
        return float((seen * np.log2(seen)).sum())

    own = n_log_n(np.bincount(center))
    distances = np.empty(len(draws))
    for t, draw in enumerate(draws):
        joint = np.bincount(draw * k + center)
        distances[t] = (own + n_log_n(np.bincount(draw)) - 2 * n_log_n(joint)) / n
    return float(np.sort(distances)[math.ceil(level * len(draws)) - 1])


def best_watch(work: Callable[[], Any], repeats: int) -> Watch:
    watches = []
    for _ in range(repeats):
        with Watch() as watch:
            work()
        watches.append(watch)
    return min(watches, key=lambda watch: watch.wall)


def ball_row() -> Row:
    sample = as_sample(make_draws(N_ITEMS, N_DRAWS, N_CLUSTERS, rng=1))
    center = sample.labels[0].astype(np.int64)
    draws = sample.to_numpy().astype(np.int64)
    assert math.isclose(credible_ball(center, sample).radius, numpy_ball(center, draws, 0.95), abs_tol=1e-9)
    ours = best_watch(lambda: credible_ball(center, sample), REPEATS)
    theirs = best_watch(lambda: numpy_ball(center, draws, 0.95), 3)
    return Row(f"credible ball of {N_DRAWS:,} x {N_ITEMS}", f"{ours.wall:.4f} s", "NumPy", f"{theirs.wall:.3f} s",
               f"{theirs.wall / ours.wall:.0f} times as fast", "at least 50", ours.wall, ours.cpu)  # fmt: skip


def draws_row(name: str = "galaxy", scored: int = 100) -> Row:
    sample = reference(name)
    with Watch() as ours:
        found = estimate(sample, "vi", "draws")
    with Watch() as theirs:
        for row in sample.labels[:scored]:
            unique_distances(row, sample, found.loss, 1)
    all_of_them = theirs.cpu * sample.n_unique / scored
    return Row(f"best draw for VI, {name}", f"{found.expected_loss:.9f}", "each draw against each",
               f"{all_of_them:.1f} CPU s from {scored} of {sample.n_unique:,}",
               f"{all_of_them / ours.cpu:.0f} times as fast", "", ours.wall, ours.cpu)  # fmt: skip


def proof_row(name: str, wanted: float) -> Row:
    sample = reference(name)
    with Watch() as watch:
        exact = estimate(sample, "binder", "exact", rng=1)
    found = estimate(sample, "binder", search=Search(max_clusters=math.inf), rng=1)
    state = "proven" if exact.proven else f"gap {exact.gap:.2%}"
    return Row(f"exact Binder on {name}", f"{state} at {exact.expected_loss:.9f}", "search, no limit on clusters",
               f"{found.expected_loss:.9f}", f"search above by {found.expected_loss - exact.expected_loss:.1e}",
               f"{wanted} s", watch.wall, watch.cpu)  # fmt: skip


def bound_row(name: str, seconds: float, wanted: float) -> Row:
    best = estimate(reference(name), "vi", rng=1)
    with Watch() as watch:
        bound = best.bound(seconds)
    return Row(f"bound on VI, {name}", f"{bound.value:.6f}", "estimate", f"{best.expected_loss:.6f}",
               f"gap {bound.gap:.2%}", f"{wanted:.0%} in {seconds} s", watch.wall, watch.cpu)  # fmt: skip


def function_rows() -> Iterator[Row]:
    """Every function of the uncertainty page and after the clustering, at 10,000 draws of 1,000 items."""
    sample = as_sample(make_draws(MANY_ITEMS, N_DRAWS, N_CLUSTERS, rng=1))
    other = as_sample(make_draws(MANY_ITEMS, N_DRAWS, N_CLUSTERS, rng=2))
    with Watch() as watch:
        best = estimate(sample, rng=1)
    yield _timed("estimate", f"{best.n_clusters} clusters", watch)
    rng = np.random.default_rng(1)
    theta = rng.normal(size=(N_DRAWS, MANY_ITEMS)).astype(np.float32)
    labels = np.asarray(sample.labels[sample.index])
    shape = (N_DRAWS, int(labels.max()) + 1, 2)
    kernels = {"means": rng.normal(size=shape), "covariances": np.ones(shape)}
    outcome = rng.normal(size=MANY_ITEMS)
    calls: dict[str, Callable[[], Any]] = {
        "credible ball": lambda: credible_ball(best),
        "item certainty": lambda: uncertainty.item_certainty(best),
        "partial clustering": lambda: uncertainty.partial_clustering(sample, rng=1),
        "partial clustering, completed": lambda: uncertainty.partial_clustering(sample, 0.5, complete=True, rng=1),
        "cluster parameters": lambda: uncertainty.cluster_parameters(best, theta),
        "conformal set": lambda: uncertainty.conformal_set(sample),
        "two posteriors": lambda: uncertainty.compare_posteriors(sample, other, rng=1),
        "Monte Carlo error": lambda: uncertainty.monte_carlo_error(best, rng=1),
        "monitor": lambda: uncertainty.monitor(rng=1).feed(sample),
        "hierarchy": lambda: uncertainty.hierarchy(best),
        "modes, 2, batch of 1,000": lambda: uncertainty.modes(sample, 2, batch=1000, rng=1),
        "memberships": lambda: pt.memberships(best),
        "relation to an outcome": lambda: pt.relate(best, outcome),
        "sensitivity, five concentrations": lambda: pt.sensitivity(
            sample, alpha=[0.3, 0.5, 1.0, 2.0, 3.0], prior=1.0, estimate=best, rng=1
        ),
        "fused components": lambda: pt.fuse(labels, rng=1, **kernels),
        "fused components and their ball": lambda: pt.fuse(labels, rng=1, **kernels).ball(),
        "five imputations pooled": lambda: pt.pool([labels[part::5] for part in range(5)]),
        "weight a of the highest least loss": lambda: pt.weights_for(sample, rng=1),
        "map of the items": lambda: pt.plots.item_map(best),
        "paragraphs for a paper": best.methods_text,
    }
    for name, call in calls.items():
        with Watch() as watch:
            found = call()
        yield _timed(name, type(found).__name__, watch)


def _timed(name: str, found: str, watch: Watch) -> Row:
    size = f"{N_DRAWS:,} x {MANY_ITEMS:,}"
    return Row(f"{name}, {size}", found, "", "", f"{watch.cpu:.1f} CPU s", "10 s", watch.wall, watch.cpu)


def reference(name: str) -> PartitionSample:
    return as_sample(reference_draws(name))


def rows(parts: list[str], slow: bool) -> Iterator[Row]:
    if "ball" in parts:
        yield ball_row()
    if "functions" in parts:
        yield from function_rows()
    if not REFERENCE.is_dir():
        return
    if "draws" in parts:
        yield draws_row()
    if "proofs" in parts:
        yield from (proof_row(name, wanted) for name, wanted in PROOFS.items() if slow or wanted <= 15)
    if "bounds" in parts:
        yield from (bound_row(*row) for row in BOUNDS if slow or row[1] <= 10)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--only", default="ball,functions,draws,proofs,bounds")
    options = parser.parse_args(arguments)
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in fields(Row))
        for row in rows(options.only.split(","), options.slow):
            writer.writerow([f"{v:.4g}" if isinstance(v, float) else v for v in astuple(row)])
            file.flush()
            seconds = f"{row.wall_seconds:.3g} s, {row.cpu_seconds:.3g} CPU s"
            print(f"{row.what}: {row.ours}; {row.other} {row.theirs}; {row.comparison} (target {row.target or 'none'}; "
                  f"{seconds})", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
