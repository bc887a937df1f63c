"""Graphs with planted clusters, what each method makes of them, and the file that keeps it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import frame
from partita.losses.agreement import nmi
from partita.models import StochasticBlockModel, affiliation_vb, variational_em

EPSILON = 0.01
SETTINGS = {1: (100, 5, False), 2: (100, 5, True), 3: (500, 10, False)}  # nodes, clusters, hub cluster
BETAS = tuple(round(0.45 - 0.02 * step, 2) for step in range(23))
FIELDS = ("graph", "setting", "beta", "method", "nmi", "clusters")
PAPERS_OWN = "exact ICL, Algorithm 1"
VARIATIONAL = ("mixer", "vbmod")
SAME_GRAPHS = "exact ICL, graphs of mixer"
EARLIER = ("mixer, 3 starts", "vbmod, 3 starts")  # rows of an earlier version; they are shown, not made
Rows = list[dict[str, str]]


@dataclass(frozen=True)
class Size:
    """Graphs for each β, the values of β, the settings, the largest K, starts of each method, sweeps of the sampler.

    The variational methods take most of the time: `rivals` is the number of graphs for them.
    """

    graphs: int
    betas: tuple[float, ...]
    settings: tuple[int, ...]
    k_up: int = 20
    restarts: int = 10  # of the exact ICL, and of the variational methods for each K, as in the paper
    sweeps: int = 2000
    rivals: int = 20


def run_settings(path: Path, size: Size) -> Rows:
    """All rows of the file at `path`, after those that were missing have been added to it."""
    rows = frame.read_runs(path)
    done = {(row["graph"], row["setting"], row["beta"], row["method"]) for row in rows}
    wanted = [
        (graph, setting, beta) for graph in range(size.graphs) for setting in size.settings for beta in size.betas
    ]
    for graph, setting, beta in wanted:
        due = [method for method in METHODS if graph < size.rivals or method not in VARIATIONAL]
        methods = [method for method in due if (str(graph), str(setting), str(beta), method) not in done]
        if not methods:
            continue
        new = [
            dict(zip(FIELDS, map(str, (graph, setting, beta, *result)), strict=True))
            for result in compare(setting, beta, graph, size, methods)
        ]
        rows += new
        frame.append_runs(path, FIELDS, new)
        print(f"graph {graph} setting {setting} beta {beta}: " + "  ".join(f"{r['method']} {r['nmi']}" for r in new))
    return rows


def compare(
    setting: int, beta: float, graph: int, size: Size, methods: Iterable[str]
) -> Iterator[tuple[str, float, int]]:
    """Method, NMI with the planted clusters, clusters found: all methods on the same graph."""
    X, truth = make_graph(setting, beta, graph)
    for method in methods:
        labels = METHODS[method](X, graph, size)
        yield method, round(nmi(labels, truth), 4), int(labels.max()) + 1


def free_blocks(X: np.ndarray, seed: int, size: Size) -> np.ndarray:
    return exact_icl(StochasticBlockModel(), X, seed, size)


def affiliation(X: np.ndarray, seed: int, size: Size) -> np.ndarray:
    return exact_icl(StochasticBlockModel(blocks="affiliation"), X, seed, size)


def algorithm_one(X: np.ndarray, seed: int, size: Size) -> np.ndarray:
    return exact_icl(StochasticBlockModel(), X, seed, size, algorithm="come-latouche")


def exact_icl(
    model: StochasticBlockModel, X: np.ndarray, seed: int, size: Size, algorithm: str = "search"
) -> np.ndarray:
    fit = model.maximize(X, k_max=size.k_up, restarts=size.restarts, rng=seed, algorithm=algorithm, n_jobs=1)
    return fit.labels


def most_likely_draw(X: np.ndarray, seed: int, size: Size) -> np.ndarray:
    chain = StochasticBlockModel().sample(X, draws=size.sweeps, warmup=0, chains=1, rng=seed, n_jobs=1)
    return chain.labels[0, np.asarray(chain.stats["log_density"])[0].argmax()]


def mixer(X: np.ndarray, seed: int, size: Size) -> np.ndarray:
    return variational_em(X, range(2, size.k_up + 1), restarts=size.restarts, rng=seed).labels


def vbmod(X: np.ndarray, seed: int, size: Size) -> np.ndarray:
    return affiliation_vb(X, range(2, size.k_up + 1), restarts=size.restarts, rng=seed).labels


METHODS: dict[str, Callable[[np.ndarray, int, Size], np.ndarray]] = {
    "exact ICL": free_blocks,
    PAPERS_OWN: algorithm_one,
    "exact ICL, affiliation": affiliation,
    "colsbm": most_likely_draw,
    "mixer": mixer,
    "vbmod": vbmod,
}


def make_graph(setting: int, beta: float, graph: int) -> tuple[np.ndarray, np.ndarray]:
    """A directed graph without loops and its planted clusters; cluster 0 is the hub if the setting has one."""
    n, k, hub = SETTINGS[setting]
    rng = np.random.default_rng([setting, round(100 * beta), graph])
    labels = rng.integers(k, size=n)
    linked = labels[:, None] == labels
    if hub:
        linked = linked | (labels == 0)[:, None] | (labels == 0)
    X = (rng.random((n, n)) < np.where(linked, beta, EPSILON)).astype(float)
    np.fill_diagonal(X, 0)
    return X, labels


def scores(rows: Rows, setting: int) -> dict[float, dict[str, list[float]]]:
    """NMI of the graphs of a setting, by β and method, β falling; our own also on the graphs of the rivals alone."""
    found: dict[float, dict[str, list[float]]] = {}
    had = {(row["beta"], row["graph"]) for row in rows if row["setting"] == str(setting) and row["method"] == "mixer"}
    for row in rows:
        if row["setting"] == str(setting):
            methods = found.setdefault(float(row["beta"]), {})
            methods.setdefault(row["method"], []).append(float(row["nmi"]))
            if row["method"] == "exact ICL" and (row["beta"], row["graph"]) in had:
                methods.setdefault(SAME_GRAPHS, []).append(float(row["nmi"]))
    return dict(sorted(found.items(), reverse=True))
