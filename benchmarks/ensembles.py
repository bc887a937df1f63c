"""Speed of clustering ensembles: the Gibbs sampler against plain NumPy, and every method at a million items.

python -m benchmarks.ensembles [--quick]
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.ensembles import NBCE, as_base, consensus, cspa, hgpa, mcla
from partita.ensembles.gibbs import NBCEModel
from partita.models.checkpoint import Plan

CLUSTERS, CLUSTERINGS, NOISE = 20, 10, 0.1


def noisy_base(n_items: int, seed: int = 0) -> tuple[NDArray[np.int8], NDArray[np.intp]]:
    """Ten relabelled copies of 20 clusters, a tenth of their labels changed."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(CLUSTERS, size=n_items)
    base = np.stack([rng.permutation(CLUSTERS)[truth] for _ in range(CLUSTERINGS)], axis=1).astype(np.int8)
    changed = rng.random(base.shape) < NOISE
    base[changed] = rng.integers(CLUSTERS, size=int(changed.sum()))
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


def timed(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> tuple[float, Any]:
    started = clock()
    answer = work()
    return clock() - started, answer


def sweeps(n_items: int) -> None:
    base, truth = noisy_base(n_items)
    read = as_base(base)
    inputs = {"codes": read.codes, "n_labels": read.sizes}
    rates = {}
    for prior in ("fsd", "tsb"):
        before = resident_megabytes()
        (sampler,) = NBCEModel(prior).samplers(inputs, Plan(1, 0, 1, 1, 0))
        sampler.advance(1, 10, 1)
        # CPU time: the sampler has one thread, and other work on the machine is not its own
        seconds, _ = timed(lambda s=sampler: s.advance(3, 10, 1), time.process_time)
        _, stats = sampler.advance(1, 0, 1)
        clusters = stats[0, 1]
        rates[prior] = 3 * n_items * CLUSTERINGS * clusters / seconds / 1e6
        print(
            f"Gibbs {prior}, {n_items:,} items, {clusters:.0f} clusters: {seconds / 3:.2f} s of CPU "
            f"a sweep, {rates[prior]:.0f} million cells a second on one core, "
            f"{resident_megabytes() - before:.0f} MB more; the label matrix is {read.codes.nbytes / 2**20:.0f} MB"
        )
    small = min(n_items, 5_000)
    seconds, _ = timed(lambda: numpy_sweep(base[:small], truth[:small].copy(), CLUSTERS + 1), time.process_time)
    plain = small * CLUSTERINGS * CLUSTERS / seconds / 1e6
    print(f"plain NumPy: {plain:.2f} million cells a second; ratio {rates['fsd'] / plain:.0f}")


def methods(n_items: int) -> None:
    base, truth = noisy_base(n_items)
    calls: dict[str, Callable[[], Any]] = {
        "mcla": lambda: mcla(base, CLUSTERS, rng=0),
        "cspa, sample of 2,000": lambda: cspa(base, CLUSTERS, sample=2_000, rng=0),
        "hgpa": lambda: hgpa(base, CLUSTERS, rng=0),
        "expected VI": lambda: consensus(base, "vi", rng=0),
        "NBCE, 10 draws": lambda: NBCE(draws=10, warmup=10, chains=1, random_state=0).fit_predict(base),
    }
    for name, call in calls.items():
        seconds, labels = timed(call)
        table = np.zeros((int(labels.max()) + 1, CLUSTERS))
        np.add.at(table, (labels, truth), 1)
        purity = table.max(axis=1).sum() / n_items
        print(
            f"{name}: {seconds:.1f} s, {labels.max() + 1} clusters, purity {purity:.3f}, "
            f"{peak_megabytes():.0f} MB peak",
            flush=True,
        )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="100,000 items instead of a million")
    n_items = 100_000 if parser.parse_args(arguments).quick else 1_000_000
    sweeps(n_items)
    methods(n_items)


if __name__ == "__main__":
    main()
