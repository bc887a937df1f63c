"""Speed of clustering ensembles: the Gibbs sampler against plain NumPy, and every method at a million items.

`python -m benchmarks.ensembles` prints a line a measurement and writes benchmarks/results/ensembles.csv; `--quick`
takes 100,000 items and writes nothing. Times are CPU seconds, of all threads together.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.ensembles import NBCE, as_base, consensus, cspa, hgpa, mcla
from partita.ensembles.nbce import NBCEModel
from partita.models import Sampling
from partita.models.chains.checkpoint import Plan

CLUSTERS, CLUSTERINGS, NOISE = 20, 10, 0.1
RESULTS = Path(__file__).parent / "results" / "ensembles.csv"


def noisy_base(
    n_items: int, seed: int = 0, n_clusterings: int = CLUSTERINGS
) -> tuple[NDArray[np.int8], NDArray[np.intp]]:
    """Relabelled copies of 20 clusters, a tenth of their labels changed."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(CLUSTERS, size=n_items)
    base = np.empty((n_items, n_clusterings), dtype=np.int8)
    for m in range(n_clusterings):
        changed = rng.random(n_items) < NOISE
        base[:, m] = np.where(changed, rng.integers(CLUSTERS, size=n_items), rng.permutation(CLUSTERS)[truth])
    return base, truth


def numpy_sweep(base: NDArray[np.int8], z: NDArray[np.intp], k: int) -> None:
    """The same sweep (FSD, fixed concentrations) with NumPy for each item: the ratio's other side."""
    rng = np.random.default_rng(0)
    n_items, n_clusterings = base.shape
    counts = np.zeros((n_clusterings, CLUSTERS, k))
    for m in range(n_clusterings):
        np.add.at(counts[m], (base[:, m], z), 1)
    sizes = np.bincount(z, minlength=k).astype(float)
    columns = np.arange(n_clusterings)
    for n in range(n_items):
        labels = base[n]
        counts[columns, labels, z[n]] -= 1
        sizes[z[n]] -= 1
        scores = np.log(counts[columns, labels] + 0.3).sum(0)
        scores += np.log(sizes + 0.01) - n_clusterings * np.log(sizes + CLUSTERS * 0.3)
        weights = np.exp(scores - scores.max()).cumsum()
        z[n] = np.searchsorted(weights, rng.random() * weights[-1])
        counts[columns, labels, z[n]] += 1
        sizes[z[n]] += 1


def resident_megabytes() -> float:
    """Memory in use now (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@dataclass(frozen=True)
class Row:
    """One measurement; `ratio` is what its note says, and what a column does not have is left empty."""

    what: str
    items: int
    cpu_seconds: float
    million_cells_a_second: float | None = None
    megabytes: float | None = None
    clusters: int | None = None
    purity: float | None = None
    ratio: float | None = None
    note: str = ""


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    answer = work()
    return time.process_time() - started, answer


def sweeps(n_items: int) -> list[Row]:
    base, truth = noisy_base(n_items)
    read = as_base(base)
    small = min(n_items, 5_000)
    seconds, _ = timed(lambda: numpy_sweep(base[:small], truth[:small].copy(), CLUSTERS + 1))
    plain = small * CLUSTERINGS * CLUSTERS / seconds / 1e6
    rows = [Row("plain NumPy, a sweep", small, seconds, plain, clusters=CLUSTERS)]
    inputs = {"codes": read.codes, "n_labels": read.sizes, "weights": np.ones(read.n_clusterings)}
    for prior in ("fsd", "tsb"):
        before = resident_megabytes()
        (sampler,) = NBCEModel(prior).samplers(inputs, Plan(1, 0, 1, 1, 0))
        sampler.advance(1, 10, 1)
        seconds, _ = timed(lambda s=sampler: s.advance(3, 10, 1))
        _, stats = sampler.advance(1, 0, 1)
        clusters = int(stats[0, 1])
        rate = 3 * n_items * CLUSTERINGS * clusters / seconds / 1e6
        note = f"ratio: cells a second against plain NumPy; the label matrix has {read.codes.nbytes / 2**20:.0f} MB"
        more = resident_megabytes() - before
        rows.append(
            Row(f"Gibbs {prior}, a sweep", n_items, seconds / 3, rate, more, clusters, ratio=rate / plain, note=note)
        )
    return rows


def many_runs(n_items: int) -> Iterator[Row]:
    """A hundred clusterings, as of single cells; measured first, so that the peak of memory is its own."""
    base, truth = noisy_base(n_items, n_clusterings=100)
    started = time.perf_counter()
    seconds, labels = timed(lambda: consensus(base, "vi", weights=None, rng=0))
    elapsed = time.perf_counter() - started
    note = f"{elapsed:.1f} s elapsed; the label matrix has {base.nbytes / 2**20:.0f} MB"
    found = purity(labels, truth)
    clusters = int(labels.max()) + 1
    yield Row("expected VI of 100 clusterings", n_items, seconds, None, peak_megabytes(), clusters, found, None, note)


def purity(labels: NDArray[np.intp], truth: NDArray[np.intp]) -> float:
    table = np.zeros((int(labels.max()) + 1, CLUSTERS))
    np.add.at(table, (labels, truth), 1)
    return float(table.max(axis=1).sum() / len(truth))


def methods(n_items: int) -> Iterator[Row]:
    base, truth = noisy_base(n_items)
    calls: dict[str, Callable[[], Any]] = {
        "mcla": lambda: mcla(base, CLUSTERS, rng=0),
        "cspa, sample of 2,000": lambda: cspa(base, CLUSTERS, sample=2_000, rng=0),
        "hgpa": lambda: hgpa(base, CLUSTERS, rng=0),
        "hgpa, sample of 400": lambda: hgpa(base, CLUSTERS, sample=400, rng=0),
        "expected VI": lambda: consensus(base, "vi", weights=None, rng=0),
        "NBCE, 10 draws": lambda: NBCE(sampling=Sampling(draws=10, warmup=10, chains=1), random_state=0).fit_predict(
            base
        ),
    }
    first = None  # the seconds of mcla, which the ratios are against
    for name, call in calls.items():
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            seconds, labels = timed(call)
        note = "ratio: CPU seconds over those of mcla" + ("; warns that the cut is no guide" if told else "")
        first = seconds if first is None else first
        clusters, found = int(labels.max()) + 1, purity(labels, truth)
        yield Row(name, n_items, seconds, None, peak_megabytes(), clusters, found, seconds / first, note)


def describe(row: Row) -> str:
    values = {name: value for name, value in row.__dict__.items() if value not in (None, "")}
    return ", ".join(
        f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}" for name, value in values.items()
    )


def write(rows: list[Row]) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row.__dataclass_fields__)
        for row in rows:
            writer.writerow([f"{x:.5g}" if isinstance(x, float) else x for x in row.__dict__.values()])


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="100,000 items instead of a million; no file")
    quick = parser.parse_args(arguments).quick
    n_items = 100_000 if quick else 1_000_000
    rows: list[Row] = []
    for row in itertools.chain(many_runs(n_items), sweeps(n_items), methods(n_items)):
        print(describe(row), flush=True)
        rows.append(row)
        if not quick:
            write(rows)  # after each, so that a run that is stopped leaves what it measured


if __name__ == "__main__":
    main()
