"""Block models: speed and quality as ratios in one run. `python -m benchmarks.networks [--large] [--samplers]`.

The default takes under a minute. --large adds the paper's setting 4 and the growth of a sweep to 100,000 nodes;
--samplers times the collapsed samplers at the length of Rastelli & Friel. R's greed is measured if it is installed.
"""

from __future__ import annotations

import argparse
import csv
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from partita.agreement import nmi
from partita.models import LatentBlockModel, StochasticBlockModel, as_graph

SHARED = Path(__file__).resolve().parents[2] / "shared"
GREED = """
args <- commandArgs(TRUE)
for (lib in strsplit(Sys.getenv("GREED_LIB"), ":")[[1]]) .libPaths(c(lib, .libPaths()))
suppressMessages(library(greed))
e <- read.csv(args[1]); n <- as.integer(args[2]); X <- matrix(0, n, n)
X[cbind(e$source + 1, e$target + 1)] <- 1
if (args[4] == "undirected") X <- X + t(X)
set.seed(1)
time <- system.time(invisible(capture.output(suppressMessages(
  fit <- greed(X, model = if (args[3] == "dcsbm") DcSbm() else Sbm())))))
cat(time[["user.self"]] + time[["sys.self"]], ICL(fit), as.vector(clustering(fit)))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--samplers", action="store_true")
    arguments = parser.parse_args()
    real_networks()
    planted_networks()
    sparse_networks()
    if arguments.large:
        setting_four(graphs=5)
        growth()
    if arguments.samplers:
        samplers()


def real_networks() -> None:
    """Exact ICL and CPU seconds beside greed's. greed's labels are scored with our ICL, which agrees with the
    definition: the value that greed prints is at times not that of its labels."""
    print("network   model  ours: ICL (K) CPU s      greed: ICL of its labels, as printed, CPU s   time ratio")
    for name in ("polbooks", "football", "jazz"):
        path = SHARED / "data" / f"{name}_edges.csv"
        n = len((SHARED / "data" / f"{name}_nodes.csv").read_text(encoding="utf-8").splitlines()) - 1
        graph = as_graph(path, directed=False, nodes=range(n))
        for kind in ("sbm", "dcsbm"):
            model = StochasticBlockModel(directed=False, degree_corrected=kind == "dcsbm")
            seconds, fit = cpu_time(lambda m=model, g=graph: m.maximize(g, rng=1))
            line = f"{name:9} {kind:6} {fit.icl:12.3f} ({fit.n_clusters}) {seconds:6.2f}"
            rival = greed(path, n, kind, "undirected")
            if rival is not None:
                rival_seconds, printed, labels = rival
                line += f"   {model.icl(graph, labels):12.3f} {printed:12.3f} {rival_seconds:6.2f}"
                line += f"   {seconds / rival_seconds:.3f}"
            print(line)


def planted_networks() -> None:
    print("planted directed SBM: nodes, groups, NMI, CPU s")
    for n, k in ((500, 10), (2000, 20)):
        labels, graph = planted(np.random.default_rng(1), n, affiliation(k, 0.3, 0.01))
        seconds, fit = cpu_time(lambda g=graph: StochasticBlockModel().maximize(g, rng=1))
        print(f"{n:6} {k:3} {nmi(fit.labels, labels):.4f} {seconds:.2f}")


def sparse_networks() -> None:
    print("sparse networks: nodes, edges, NMI, wall s (paper: 15 s and 300 s)")
    for n, k in ((500, 5), (5000, 10)):
        inside = 25 * k / n / 2
        labels, graph = planted(np.random.default_rng(2), n, affiliation(k, inside, inside / 25))
        started = time.perf_counter()
        fit = StochasticBlockModel().maximize(graph, rng=1, restarts=4)
        print(f"{n:6} {graph.nnz:8} {nmi(fit.labels, labels):.4f} {time.perf_counter() - started:.2f}")


def setting_four(graphs: int) -> None:
    """N = 10,000, K = 50, about 3.5 million directed edges (Côme & Latouche, Section 4.4)."""
    print("setting 4: edges, K found, NMI, wall s, peak GB")
    scores = []
    for seed in range(graphs):
        rng = np.random.default_rng(seed)
        active, value = rng.random((50, 50)) < 0.1, rng.uniform(0, 0.45, (50, 50))
        matrix = np.where(active | np.eye(50, dtype=bool), value, 0.01)
        labels, graph = planted(rng, 10_000, matrix)
        started = time.perf_counter()
        fit = StochasticBlockModel().maximize(graph, rng=1)
        scores.append(nmi(fit.labels, labels))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"{graph.nnz:9} {fit.n_clusters:4} {scores[-1]:.4f} {time.perf_counter() - started:7.1f} {peak:.2f}")
    print(f"mean NMI {np.mean(scores):.4f}")


def growth() -> None:
    """CPU time of one climb over edges + nodes x clusters squared: flat if the cost is linear in it."""
    print("growth: nodes, edges, CPU s, microseconds for each unit of L + N K²")
    for n in (10_000, 30_000, 100_000):
        k = 10
        _, graph = planted(np.random.default_rng(3), n, affiliation(k, 60 / n, 5 / n))
        start = np.random.default_rng(4).integers(k, size=n)
        seconds, _ = cpu_time(lambda g=graph, s=start: StochasticBlockModel().icl(g, s))
        climb, _ = cpu_time(
            lambda g=graph, s=start, k=k: StochasticBlockModel().maximize(g, k_max=k, restarts=1, starts=[s], rng=1)
        )
        print(f"{n:7} {graph.nnz:8} {climb:7.1f} {1e6 * (climb - seconds) / (graph.nnz + n * k * k):.3f}")


def samplers() -> None:
    """2 million sweeps on one core: 1 million discarded, then 10,000 draws of every hundredth."""
    length = {"draws": 10_000, "warmup": 1_000_000, "thin": 100, "chains": 1, "rng": 1}
    prior = {"n0": 0.5, "eta0": 0.5, "zeta0": 0.5}
    blogs = as_graph(SHARED / "data" / "french_blogs_edges.csv", directed=False, nodes=range(196))
    seconds, chain = cpu_time(lambda: StochasticBlockModel(directed=False, **prior).sample(blogs, **length))
    print(f"French blogs: {seconds / 60:.1f} CPU minutes, {chain} (paper: 5 hours)")
    with open(SHARED / "data" / "house_votes_84.csv", encoding="utf-8", newline="") as file:
        votes = np.array([[vote == "y" for vote in row[1:]] for row in list(csv.reader(file))[1:]], dtype=float)
    seconds, chain = cpu_time(lambda: LatentBlockModel(**prior).sample(votes, **length))
    print(f"congress votes: {seconds / 60:.1f} CPU minutes, {chain} (paper: 30 hours)")


def affiliation(k: int, inside: float, outside: float) -> np.ndarray:
    return np.where(np.eye(k, dtype=bool), inside, outside)


def planted(rng: np.random.Generator, n: int, matrix: np.ndarray) -> tuple[np.ndarray, sp.csr_array]:
    """A directed stochastic block model without loops."""
    labels = rng.integers(len(matrix), size=n)
    members = [np.flatnonzero(labels == k) for k in range(len(matrix))]
    sources, targets = [], []
    for k, one in enumerate(members):
        for m, other in enumerate(members):
            cells = len(one) * len(other)
            chosen = rng.choice(cells, rng.binomial(cells, matrix[k, m]), replace=False, shuffle=False)
            sources.append(one[chosen // max(len(other), 1)])
            targets.append(other[chosen % max(len(other), 1)])
    source, target = np.concatenate(sources), np.concatenate(targets)
    keep = source != target
    values = (np.ones(keep.sum()), (source[keep], target[keep]))
    return labels, sp.coo_array(values, shape=(n, n)).tocsr()


def greed(path: Path, n: int, kind: str, direction: str) -> tuple[float, float, np.ndarray] | None:
    """CPU seconds, printed ICL and labels of R's greed (set GREED_LIB to its library), None if it is not there."""
    if shutil.which("Rscript") is None:
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".R") as script:
        script.write(GREED)
        script.flush()
        command = ["Rscript", script.name, str(path), str(n), kind, direction]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    numbers = done.stdout.split()
    return float(numbers[0]), float(numbers[1]), np.array(numbers[2:], dtype=int)


def cpu_time(work):
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


if __name__ == "__main__":
    main()
