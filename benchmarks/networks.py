"""Block models: speed and quality as ratios in one run. `python -m benchmarks.networks [--large] [--samplers]`.

The default takes under a minute. --large adds the paper's setting 4, the growth of a sweep to 100,000 nodes and planted
networks of 10,000 to 100,000 nodes (--parts million: 1,000,000); --seeds gives every real network twelve seeds, and a
network with many small communities four (benchmarks/results/network_seeds.csv has one row per fit, with the last commit
of the search; fits of that commit are not made again, and --cases "polblogs DC" makes one case); --samplers times the
collapsed samplers at the length of Rastelli & Friel. R's greed and graph-tool (of the system's Python) are measured
if they are installed. Every figure goes to benchmarks/results/networks.csv, where the rows of a part that is run again
are replaced. Times are CPU seconds on one thread.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import shutil
import subprocess
import tempfile
import time
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads that wait would count as CPU time

import numpy as np
import scipy.sparse as sp
from scipy.optimize import nnls
from scipy.special import gammaln

from benchmarks.record import machine
from partita.losses.agreement import nmi
from partita.models import Graph, LatentBlockModel, StochasticBlockModel, as_graph
from partita.models.networks.core import EdgeModel, native_model
from partita.models.networks.search import Limits, search_partition

SHARED = Path(__file__).resolve().parents[2] / "shared"
SEEDS = Path(__file__).parent / "results" / "network_seeds.csv"
RESULTS = Path(__file__).parent / "results" / "networks.csv"
NETWORKS = ("karate", "dolphins", "polbooks", "football", "jazz", "french_blogs", "email_eu_core", "polblogs")
KINDS = {"free": {}, "DC": {"degree_corrected": True}, "affiliation": {"blocks": "affiliation"}}
KINDS["DC affiliation"] = KINDS["DC"] | KINDS["affiliation"]
TWELVE = range(12)
GREED = """
args <- commandArgs(TRUE)
for (lib in strsplit(Sys.getenv("GREED_LIB"), ":")[[1]]) .libPaths(c(lib, .libPaths()))
suppressMessages(library(greed))
e <- read.csv(args[1]); n <- as.integer(args[2]); X <- matrix(0, n, n)
X[cbind(e$source + 1, e$target + 1)] <- 1
if (args[4] == "undirected") X <- X + t(X)
set.seed(as.integer(args[5]))
time <- system.time(invisible(capture.output(suppressMessages(
  fit <- greed(X, model = if (args[3] == "dcsbm") DcSbm() else Sbm())))))
cat(time[["user.self"]] + time[["sys.self"]], format(ICL(fit), digits = 15), as.vector(clustering(fit)))
"""
GRAPH_TOOL = """
import sys, time
import numpy as np
import graph_tool.all as gt
edges, n = np.load(sys.argv[1]), int(sys.argv[2])
graph = gt.Graph(directed=True)
graph.add_vertex(n)
graph.add_edge_list(edges)
gt.seed_rng(1)
np.random.seed(1)
began = time.process_time()
state = gt.minimize_blockmodel_dl(graph, state_args={"deg_corr": False})
print(time.process_time() - began, *state.get_blocks().a)
"""


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--samplers", action="store_true")
    parser.add_argument("--seeds", action="store_true")
    parser.add_argument("--parts", nargs="*", help="only these functions of this module")
    parser.add_argument("--cases", nargs="*", help="of twelve_seeds: network and model, as in its table")
    options = parser.parse_args(arguments)
    parts = [real_networks, planted_networks, sparse_networks]
    parts += [setting_four, growth, large_networks, weak_networks] if options.large else []
    parts += [twelve_seeds, small_communities] if options.seeds else []
    parts += [samplers] if options.samplers else []
    if options.parts:
        parts = [globals()[name] for name in options.parts]
    if options.cases:
        for case in options.cases:
            by_seed(case, *real_case(case), TWELVE)
        return
    for part in parts:
        rows = []
        for case, figures in part():
            figures_in_words = "  ".join(f"{name} {value:.6g}" for name, value in figures.items())
            print(f"{part.__name__}  {case}  {figures_in_words}", flush=True)
            rows += [[part.__name__, case, name, value] for name, value in figures.items()]
            keep(part.__name__, rows)


def keep(first: str, rows: list[list[object]], path: Path = RESULTS, head=("part", "case", "figure", "value")) -> None:
    """Writes rows to a table of results, in place of the older ones whose first cell is the same; the last column says
    when and where a row was measured. A row that has it already keeps it."""
    measured = f"{datetime.now(UTC).date().isoformat()}, {machine()}"
    older = [row for row in earlier_rows(path, head) if row[0] != first]
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([[*head, "measured"], *older, *([*row, measured][: len(head) + 1] for row in rows)])


def earlier_rows(path: Path, head) -> list[list[str]]:
    """The rows of a table of results, with an empty cell for each column that they lack."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [[row.get(name) or "" for name in (*head, "measured")] for row in csv.DictReader(file)]


def real_networks(seeds=range(2)):
    """Best exact ICL of two seeds, CPU seconds of one fit, ours and greed's. Its labels are scored by the exact
    ICL, and our labels by the value that greed prints (see `as_greed_prints`)."""
    for name in ("polbooks", "football", "jazz"):
        path = SHARED / "data" / f"{name}_edges.csv"
        n = len((SHARED / "data" / f"{name}_nodes.csv").read_text(encoding="utf-8").splitlines()) - 1
        graph = as_graph(path, directed=False, nodes=range(n))
        for kind in ("sbm", "dcsbm"):
            model = as_greed_has_it(graph, kind == "dcsbm")
            seconds, fits = cpu_time(lambda m=model, g=graph: [m.maximize(g, rng=s, n_jobs=1) for s in seeds])
            rivals = [greed(path, n, kind, "undirected", seed + 1) for seed in seeds]
            figures = score(model, graph, "our", seconds / len(fits), [fit.labels for fit in fits])
            if rivals[0] is not None:
                time_of_one = float(np.mean([rival[0] for rival in rivals]))
                figures |= score(model, graph, "greed's", time_of_one, [rival[2] for rival in rivals])
                figures["greed's best as printed"] = max(rival[1] for rival in rivals)
                figures["time ratio"] = seconds / len(fits) / time_of_one
            yield f"{name} {kind}", figures


def score(model, graph, whose: str, seconds: float, partitions: list[np.ndarray]) -> dict[str, float]:
    exact = [model.icl(graph, labels) for labels in partitions]
    printed = [as_greed_prints(icl, labels) for icl, labels in zip(exact, partitions, strict=True)]
    return {
        f"{whose} best ICL": max(exact),
        f"{whose} worst ICL": min(exact),
        f"{whose} best ICL in greed's convention": max(printed),
        f"{whose} CPU s": seconds,
    }


def as_greed_has_it(graph: Graph, corrected: bool) -> StochasticBlockModel:
    """The undirected model with greed's prior: its mean rate of degree-corrected edges is that of the whole matrix."""
    rate = graph.n_nodes**2 / float(graph.adjacency.sum())
    return StochasticBlockModel(directed=False, degree_corrected=corrected, b0=rate)


def as_greed_prints(icl: float, labels: np.ndarray) -> float:
    """From the exact ICL (n0 = 1) to the value that greed prints for a partition from its merge path.

    There the Dirichlet term log Γ(K) − log Γ(K + n) + Σ_k log Γ(n_k + 1) is replaced by its form for small n0 taken at
    n0 = 1, −log K + Σ_k log Γ(n_k) − log Γ(n). Without a merge greed prints the exact value.
    """
    sizes = np.unique(labels, return_counts=True)[1]
    n, k = len(labels), len(sizes)
    return float(icl - np.log(sizes).sum() + gammaln(n + k) - gammaln(n) - gammaln(k + 1))


def planted_networks():
    """Directed, 0.3 inside and 0.01 between the groups."""
    for n, k in ((500, 10), (2000, 20)):
        labels, graph = planted(np.random.default_rng(1), n, affiliation(k, 0.3, 0.01))
        seconds, fit = cpu_time(lambda g=graph: StochasticBlockModel().maximize(g, rng=1, n_jobs=1))
        figures = {"NMI": nmi(fit.labels, labels), "CPU s": seconds}
        entries = graph.tocoo()
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write("source,target\n" + "".join(f"{i},{j}\n" for i, j in zip(*entries.coords, strict=True)))
            file.flush()
            rival = greed(Path(file.name), n, "sbm", "directed", 1)
        if rival is not None:
            figures |= {"greed's NMI": nmi(rival[2], labels), "greed's CPU s": rival[0], "ratio": seconds / rival[0]}
        yield f"{n} nodes {k} groups", figures


def sparse_networks():
    """The paper reports 15 s and 300 s."""
    for n, k in ((500, 5), (5000, 10)):
        inside = 25 * k / n / 2
        labels, graph = planted(np.random.default_rng(2), n, affiliation(k, inside, inside / 25))
        seconds, fit = cpu_time(lambda g=graph: StochasticBlockModel().maximize(g, rng=1, n_jobs=1))
        yield f"{n} nodes", {"edges": graph.nnz, "NMI": nmi(fit.labels, labels), "CPU s": seconds}


def setting_four(graphs: int = 5):
    """N = 10,000, K = 50, about 3.5 million directed edges (Côme & Latouche, Section 4.4)."""
    scores = []
    for seed in range(graphs):
        rng = np.random.default_rng(seed)
        active, value = rng.random((50, 50)) < 0.1, rng.uniform(0, 0.45, (50, 50))
        matrix = np.where(active | np.eye(50, dtype=bool), value, 0.01)
        labels, graph = planted(rng, 10_000, matrix)
        seconds, fit = cpu_time(lambda g=graph: StochasticBlockModel().maximize(g, rng=1))
        scores.append(nmi(fit.labels, labels))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        figures = {"edges": graph.nnz, "K": fit.n_clusters, "NMI": scores[-1], "CPU s": seconds, "peak GB": peak}
        yield f"graph {seed}", figures
    yield "all", {"mean NMI": float(np.mean(scores))}


def growth():
    """CPU time of a climb that starts at the truth (sweeps and merges), fitted by a L + b N K²."""
    shapes = [(10_000, 10), (30_000, 10), (100_000, 10), (30_000, 20), (30_000, 40)]
    sizes, times = [], []
    for n, k in shapes:
        labels, matrix = planted(np.random.default_rng(3), n, affiliation(k, 6 * k / n, 4 / n))
        native = native_model(as_graph(matrix), EdgeModel(True, False, False, 1.0, 1.0), 1.0)
        start = labels[None].astype(np.uint32)
        limits = Limits((k, 1), n_jobs=1)
        climb = cpu_time(
            lambda m=native, s=start, at=limits: search_partition(m, s, ["given"], at, np.random.default_rng(1))
        )
        sizes.append((matrix.nnz, n * k * k))
        times.append(climb[0])
        yield f"{n} nodes {matrix.nnz} edges {k} groups", {"CPU s": times[-1]}
    weights, _ = nnls(np.array(sizes, dtype=float), np.array(times))
    fitted = np.array(sizes) @ weights
    worst = float(np.abs(np.array(times) / fitted - 1).max())
    yield "fit", {"s a million edges": weights[0] * 1e6, "s a million N K2": weights[1] * 1e6, "worst excess": worst}


def large_networks(shapes=((10_000, 20), (30_000, 30), (100_000, 50))):
    """Directed, mean out-degree 15, 70 % of the edges inside the groups; two restarts, all threads.

    graph-tool, without degree correction, on the first. "growth" is the power of the edges by which CPU time grows.
    """
    times = []
    for n, k in shapes:
        labels, graph = sparse_planted(np.random.default_rng(1), n, k)
        began = time.perf_counter()
        seconds, fit = cpu_time(lambda g=graph: StochasticBlockModel().maximize(g, restarts=2, rng=1))
        figures = {"edges": graph.nnz, "K": fit.n_clusters, "NMI": nmi(fit.labels, labels), "CPU s": seconds}
        figures |= {"wall-clock s": time.perf_counter() - began, "load": os.getloadavg()[0]}
        figures["peak GB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        rival = graph_tool(graph) if n == 10_000 else None
        if rival is not None:
            figures |= {"graph-tool's NMI": nmi(rival[1], labels), "graph-tool's CPU s": rival[0]}
            figures["times faster"] = rival[0] / seconds
        times.append((graph.nnz, seconds))
        yield f"{n} nodes {k} groups", figures
    if len(times) > 1:
        edges, seconds = np.log(np.array(times)).T
        yield "growth", {"power of the edges": float(np.polyfit(edges, seconds, 1)[0])}


def million():
    """100,000 and 1,000,000 nodes (15 million edges), 50 groups: wall-clock seconds of a machine that is left alone."""
    yield from large_networks(((100_000, 50), (1_000_000, 50)))


def weak_networks():
    """Groups that keep 25 to 50 % of the edges inside, of equal or very different sizes, some with uneven degrees.

    The ICL above that of the planted groups: of a climb from them, and of a search with two restarts.
    """
    cases = {
        "2000 nodes 8 groups 25 %": (3, 2000, 8, 0.25, 0, 0.0),
        "5000 nodes 15 unequal groups 25 %": (10, 5000, 15, 0.25, 1, 0.0),
        "5000 nodes 15 unequal groups 40 %": (1, 5000, 15, 0.4, 1, 0.0),
        "5000 nodes 60 unequal groups 50 %": (9, 5000, 60, 0.5, 3, 0.0),
        "10000 nodes 20 groups 40 %": (1, 10_000, 20, 0.4, 0, 0.0),
        "10000 nodes 20 unequal groups 40 %": (2, 10_000, 20, 0.4, 1, 0.0),
        "10000 nodes 20 unequal groups 40 % DC": (3, 10_000, 20, 0.4, 1, 0.7),
        "10000 nodes 20 unequal groups 30 % DC": (4, 10_000, 20, 0.3, 1, 0.7),
    }
    for case, (seed, n, k, inside, evenness, spread) in cases.items():
        labels, matrix = uneven_planted(np.random.default_rng(seed), n, k, inside, evenness, spread)
        model, graph = StochasticBlockModel(degree_corrected=spread > 0), as_graph(matrix)
        planted_icl = model.icl(graph, labels)
        near = model.maximize(graph, starts=[labels], restarts=1, rng=1, n_jobs=1)
        seconds, fit = cpu_time(lambda m=model, g=graph: m.maximize(g, restarts=2, rng=1, n_jobs=1))
        yield (
            case,
            {
                "planted ICL": planted_icl,
                "climb from it: above": near.icl - planted_icl,
                "climb from it: NMI": nmi(near.labels, labels),
                "search: above": fit.icl - planted_icl,
                "search: NMI": nmi(fit.labels, labels),
                "K": fit.n_clusters,
                "CPU s": seconds,
            },
        )


def twelve_seeds():
    """The ICL of every model from each of twelve seeds: the best, the worst, and how often the best was reached."""
    for name in NETWORKS:
        for kind in KINDS:
            case = f"{name} {kind}"
            yield case, by_seed(case, *real_case(case), TWELVE)


def real_case(case: str) -> tuple[StochasticBlockModel, Graph]:
    """The model and the network of a case such as "karate DC"."""
    name, kind = case.split(" ", 1)
    directed = name in ("email_eu_core", "polblogs")
    n = len((SHARED / "data" / f"{name}_nodes.csv").read_text(encoding="utf-8").splitlines()) - 1
    path = SHARED / "data" / f"{name}_edges.csv"
    graph = as_graph(path, directed=directed, nodes=range(n), columns=("source", "target"))
    loops = bool(graph.adjacency.diagonal().any())
    return StochasticBlockModel(directed=directed, loops=loops, **KINDS[kind]), graph


def small_communities(seeds=range(4), n: int = 5000):
    """A network of Lancichinetti, Fortunato & Radicchi with mixing 0.5, made by networkx: the ICL above the truth's."""
    import networkx

    sizes = {"average_degree": 20, "max_degree": 50, "min_community": 20, "max_community": 100}
    made = networkx.LFR_benchmark_graph(n, 3, 1.5, 0.5, seed=1, **sizes)
    made.remove_edges_from(networkx.selfloop_edges(made))
    groups = {frozenset(made.nodes[node]["community"]) for node in made}
    truth = np.empty(n, dtype=int)
    for place, members in enumerate(sorted(groups, key=min)):
        truth[list(members)] = place
    graph = as_graph(networkx.to_scipy_sparse_array(made), directed=False)
    for kind, corrected in (("free", False), ("DC", True)):
        model = StochasticBlockModel(directed=False, degree_corrected=corrected)
        figures = by_seed(f"LFR {n} {kind}", model, graph, seeds)
        above = figures["worst ICL"] - model.icl(graph, truth)
        yield f"LFR {n} nodes {len(groups)} groups {kind}", figures | {"worst above the truth": above}


def by_seed(case: str, model: StochasticBlockModel, graph, seeds) -> dict[str, float]:
    """Fits from each seed, with one row each in the table of seeds; their summary."""
    head, commit = ["case", "seed", "ICL", "CPU s", "commit"], search_commit()
    rows = [row for row in earlier_rows(SEEDS, head) if row[0] == case and row[4] == commit]
    for seed in seeds:
        if str(seed) not in {row[1] for row in rows}:
            seconds, fit = cpu_time(lambda s=seed: model.maximize(graph, rng=s, n_jobs=1))
            print(f"{case}, seed {seed}: {fit.icl:.1f}, {seconds:.1f} CPU s", flush=True)
            rows.append([case, str(seed), str(fit.icl), str(seconds), commit])
            keep(case, rows, SEEDS, head)  # as they come: a fit may take a minute
    icl = [float(row[2]) for row in rows]
    reached = sum(value > max(icl) - 1e-6 for value in icl)
    seconds = float(np.mean([float(row[3]) for row in rows]))
    return {"best ICL": max(icl), "worst ICL": min(icl), "reached": reached, "CPU s": seconds}


@cache
def search_commit() -> str:
    """The last commit that touched what a search depends on."""
    files = [f"src/partita/models/networks/{name}.py" for name in ("search", "starts", "core", "sbm")]
    command = ["git", "log", "-1", "--format=%h", "--", "cpp/networks", "cpp/partition", "cpp/common", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parent.parent)
    return done.stdout.strip()


def sparse_planted(rng: np.random.Generator, n: int, k: int) -> tuple[np.ndarray, sp.csr_array]:
    """A directed network of mean out-degree 15, 70 % of whose edges stay inside one of k groups."""
    labels = rng.integers(k, size=n)
    order = np.argsort(labels, kind="stable")
    first = np.searchsorted(labels[order], np.arange(k + 1))
    source = np.repeat(np.arange(n), rng.poisson(15, n))
    low, high = first[labels[source]], first[labels[source] + 1]
    own = order[(low + rng.random(len(source)) * (high - low)).astype(np.int64)]
    target = np.where(rng.random(len(source)) < 0.7, own, rng.integers(n, size=len(source)))
    keep = source != target
    graph = sp.coo_array((np.ones(keep.sum()), (source[keep], target[keep])), shape=(n, n)).tocsr()
    graph.data[:] = 1
    return labels, graph


def uneven_planted(
    rng: np.random.Generator, n: int, k: int, inside: float, evenness: float, spread: float
) -> tuple[np.ndarray, sp.csr_array]:
    """A directed network of mean out-degree 15: a share of the edges stays inside one of k groups.

    Sizes are Dirichlet(evenness, ...), or equal if it is 0; how much a node sends and receives is log-normal with this
    spread.
    """
    share = rng.dirichlet(np.full(k, float(evenness))) if evenness else np.full(k, 1 / k)
    labels = rng.choice(k, size=n, p=share)
    sends, receives = (np.exp(spread * rng.standard_normal(n)) for _ in range(2))
    source = np.repeat(np.arange(n), rng.poisson(15 * sends / sends.mean()))
    order = np.argsort(labels, kind="stable")
    first = np.searchsorted(labels[order], np.arange(k + 1))
    total = np.concatenate([[0], np.cumsum(receives[order])])
    low, high = total[first[labels[source]]], total[first[labels[source] + 1]]
    stays = rng.random(len(source)) < inside
    own, any_node = low + rng.random(len(source)) * (high - low), rng.random(len(source)) * total[-1]
    place = np.searchsorted(total, np.where(stays, own, any_node), side="right") - 1
    target = order[np.minimum(place, n - 1)]
    keep = source != target
    graph = sp.coo_array((np.ones(keep.sum()), (source[keep], target[keep])), shape=(n, n)).tocsr()
    graph.data[:] = 1
    return labels, graph


def samplers():
    """2 million sweeps on one core: 1 million discarded, then 10,000 draws of every hundredth.

    The paper's two networks, each as all readings in reproduce/rastelli. On a machine that others use too, wall-clock
    minutes say little: the load is the number of processes that wanted a core, just before and just after a run.
    """
    length = {"draws": 10_000, "warmup": 1_000_000, "thin": 100, "chains": 1, "rng": 1}
    half, one = ({"n0": value, "eta0": value, "zeta0": value} for value in (0.5, 1.0))
    blogs = as_graph(SHARED / "data" / "french_blogs_edges.csv", directed=False, nodes=range(196))
    with open(SHARED / "data" / "house_votes_84.csv", encoding="utf-8", newline="") as file:
        votes = np.array([[vote == "y" for vote in row[1:]] for row in list(csv.reader(file))[1:]], dtype=float)
    cases = {
        "French blogs (paper: 300 minutes)": (StochasticBlockModel(directed=False, **half), blogs),
        "French blogs, K uniform": (StochasticBlockModel(directed=False, k_prior=np.ones(50), **half), blogs),
        "French blogs, eq. 29 as printed": (StochasticBlockModel(directed=True, **half), blogs),
        "congress votes (paper: 1800 minutes)": (LatentBlockModel(**half), votes),
        "congress votes, uniform priors": (LatentBlockModel(**one), votes),
    }
    for case, (model, data) in cases.items():
        before, began = os.getloadavg()[0], time.time()
        seconds, _ = cpu_time(lambda m=model, d=data: m.sample(d, **length))
        minutes = {"CPU minutes": seconds / 60, "wall-clock minutes": (time.time() - began) / 60}
        yield case, minutes | {"load before": before, "load after": os.getloadavg()[0]}


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


def greed(path: Path, n: int, kind: str, direction: str, seed: int) -> tuple[float, float, np.ndarray] | None:
    """CPU seconds, printed ICL and labels of R's greed (set GREED_LIB to its library), None if it is not there."""
    if shutil.which("Rscript") is None:
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".R") as script:
        script.write(GREED)
        script.flush()
        command = ["Rscript", script.name, str(path), str(n), kind, direction, str(seed)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    numbers = done.stdout.split()
    return float(numbers[0]), float(numbers[1]), np.array(numbers[2:], dtype=int)


def graph_tool(graph: sp.csr_array) -> tuple[float, np.ndarray] | None:
    """CPU seconds and labels of graph-tool on one thread, in the system's Python; None if it is not there."""
    python = shutil.which("python3", path="/usr/bin")
    if python is None:
        return None
    entries = graph.tocoo()
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        np.save(file, np.stack(entries.coords, axis=1).astype(np.int64))
        file.flush()
        command = [python, "-c", GRAPH_TOOL, file.name, str(graph.shape[0])]
        one_thread = os.environ | {"OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=one_thread)
    if done.returncode != 0:
        return None
    numbers = done.stdout.split()
    return float(numbers[0]), np.array(numbers[1:], dtype=int)


def cpu_time(work):
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


if __name__ == "__main__":
    main()
