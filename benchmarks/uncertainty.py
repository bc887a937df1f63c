"""Credible ball against plain NumPy; exact Binder and the bounds on the reference draws, where these are at hand."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from partita.datasets import make_draws
from partita.estimate import Search, estimate
from partita.sample import as_sample
from partita.uncertainty import credible_ball

REFERENCE = Path(__file__).parents[1].parent / "shared" / "reference" / "draws"
N_ITEMS, N_DRAWS, N_CLUSTERS = 200, 10_000, 12
REPEATS = 25
#: name: seconds within which the proof is wanted
PROOFS = {"galaxy": 15, "iris": 15, "gaskins_like": 15, "cls15": 15, "simce_like": 120}
#: name, seconds to spend, gap wanted
BOUNDS = [
    ("galaxy", 10, 0.06), ("iris", 10, 0.06), ("galaxy", 120, 0.01), ("iris", 120, 0.01),
    ("gaskins_like", 180, 0.15), ("cls15", 180, 0.15),
]  # fmt: skip


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


def best_time(work: Callable[[], Any], repeats: int = REPEATS) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def ball_row() -> dict[str, str]:
    labels = make_draws(N_ITEMS, N_DRAWS, N_CLUSTERS, rng=1)
    sample = as_sample(labels)
    center = sample.labels[0].astype(np.int64)
    draws = sample.to_numpy().astype(np.int64)
    ball = credible_ball(center, sample)
    assert math.isclose(ball.radius, numpy_ball(center, draws, 0.95), abs_tol=1e-9)
    ours = best_time(lambda: credible_ball(center, sample))
    theirs = best_time(lambda: numpy_ball(center, draws, 0.95), 2)
    return {
        "what": f"credible ball of {N_DRAWS:,} x {N_ITEMS}", "ours": f"{ours:.4f} s", "other": "NumPy",
        "theirs": f"{theirs:.3f} s", "ratio": f"{theirs / ours:.0f} times as fast", "target": "at least 50",
    }  # fmt: skip


def proof_row(name: str, wanted: float) -> dict[str, str]:
    sample = reference(name)
    start = time.perf_counter()
    exact = estimate(sample, "binder", "exact")
    seconds = time.perf_counter() - start
    found = estimate(sample, "binder", search=Search(max_clusters=math.inf), rng=1)
    state = "proven" if exact.proven else f"gap {exact.gap:.2%}"
    return {
        "what": f"exact Binder on {name}", "ours": f"{seconds:.1f} s, {state} at {exact.expected_loss:.9f}",
        "other": "default search", "theirs": f"{found.expected_loss:.9f}",
        "ratio": f"search above by {found.expected_loss - exact.expected_loss:.2e}", "target": f"{wanted} s",
    }  # fmt: skip


def bound_row(name: str, seconds: float, wanted: float) -> dict[str, str]:
    best = estimate(reference(name), "vi", rng=1)
    start = time.perf_counter()
    bound = best.bound(seconds)
    return {
        "what": f"bound on VI, {name}", "ours": f"{bound.value:.6f} in {time.perf_counter() - start:.0f} s",
        "other": "estimate", "theirs": f"{best.expected_loss:.6f}", "ratio": f"gap {bound.gap:.2%}",
        "target": f"{wanted:.0%} in {seconds} s",
    }  # fmt: skip


def reference(name: str) -> Any:
    return as_sample(np.load(REFERENCE / f"{name}.npz")["draws"])


def main(slow: bool = False) -> list[dict[str, str]]:
    """The ball always; with the reference draws the quick proofs and bounds too, and with `slow` all of them."""
    rows = [ball_row()]
    if REFERENCE.is_dir():
        rows += [proof_row(name, wanted) for name, wanted in PROOFS.items() if slow or wanted <= 15]
        rows += [bound_row(*row) for row in BOUNDS if slow or row[1] <= 10]
    for row in rows:
        print(f"{row['what']}: {row['ours']}; {row['other']} {row['theirs']}; {row['ratio']} (target {row['target']})")
    return rows


if __name__ == "__main__":
    main(slow="--slow" in sys.argv)
