"""Settings 1-3 of Côme & Latouche (2015), NMI by β for the exact ICL and its rivals, and two real directed networks.

    python reproduce/come_latouche.py [--quick] [--graphs 20] [--settings 1 2 3] [--out results]

The paper has 20 graphs for each β in 0.45, 0.43, ..., 0.01. Rows go to come_latouche.csv as they come, one graph of
every β before the next graph; a run goes on where the last one stopped. come_latouche.md holds the means. "colsbm" is
our collapsed sampler: the draw of largest posterior density. The paper's network of 1,360 blogs is not public; in its
place are the political blogs of Adamic & Glance and the e-mails of email-Eu-core, both directed.
--quick takes two graphs of 100 nodes at three β, and no real networks, in under a minute.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np

from partita.agreement import nmi
from partita.models import StochasticBlockModel, affiliation_vb, as_graph, louvain, variational_em

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[1] / "shared" / "data"
EPSILON = 0.01
SETTINGS = {1: (100, 5, False), 2: (100, 5, True), 3: (500, 10, False)}  # nodes, clusters, hub cluster
BETAS = tuple(round(0.45 - 0.02 * step, 2) for step in range(23))
QUICK_BETAS = (0.45, 0.25, 0.09)
K_UP = 20
RESTARTS = 3  # of the variational rivals, for each K
SWEEPS = 2000
FIELDS = ["graph", "setting", "beta", "method", "nmi", "clusters"]
NETWORKS = {"polblogs": "leaning", "email_eu_core": "department"}


def main(arguments: list[str] | None = None) -> list[dict[str, float | str]]:
    """Runs what is missing, writes the tables and gives back the means: a row for each setting and β."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--settings", type=int, nargs="*", default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args(arguments)
    stem = "come_latouche-quick" if options.quick else "come_latouche"
    settings, graphs, betas = (options.settings, options.graphs, BETAS)
    if options.quick:
        settings, graphs, betas = ([1, 2], 2, QUICK_BETAS)
    options.out.mkdir(exist_ok=True)
    rows = run_settings(options.out / f"{stem}.csv", settings, graphs, betas)
    table = means(rows)
    text = as_markdown(table)
    if not options.quick and SHARED.exists():
        text += "\n" + as_markdown(real_networks())
    (options.out / f"{stem}.md").write_text(text, encoding="utf-8")
    return table


def run_settings(path: Path, settings: list[int], graphs: int, betas: tuple[float, ...]) -> list[dict[str, str]]:
    """All rows of the file at `path`, after those that were missing have been added to it."""
    rows = read_rows(path)
    done = {(row["graph"], row["setting"], row["beta"]) for row in rows}
    wanted = [(graph, setting, beta) for graph in range(graphs) for setting in settings for beta in betas]
    for graph, setting, beta in wanted:
        if (str(graph), str(setting), str(beta)) in done:
            continue
        new = [
            dict(zip(FIELDS, map(str, (graph, setting, beta, *result)), strict=True))
            for result in compare(setting, beta, graph)
        ]
        rows += new
        append_rows(path, new)
        print(f"graph {graph} setting {setting} beta {beta}: " + "  ".join(f"{r['method']} {r['nmi']}" for r in new))
    return rows


def read_rows(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def append_rows(path: Path, rows: list[dict[str, str]]) -> None:
    fresh = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if fresh:
            writer.writeheader()
        writer.writerows(rows)


def compare(setting: int, beta: float, graph: int) -> list[tuple[str, float, int]]:
    """Method, NMI with the planted clusters, clusters found: all methods on the same graph."""
    X, truth = make_graph(setting, beta, graph)
    seed, range_of_k = graph, range(2, K_UP + 1)
    found = {
        "exact ICL": StochasticBlockModel().maximize(X, k_max=K_UP, rng=seed, n_jobs=1).labels,
        "colsbm": most_likely_draw(X, seed),
        "mixer": variational_em(X, range_of_k, restarts=RESTARTS, rng=seed).labels,
        "vbmod": affiliation_vb(X, range_of_k, restarts=RESTARTS, rng=seed).labels,
    }
    return [(method, round(nmi(labels, truth), 4), int(labels.max()) + 1) for method, labels in found.items()]


def most_likely_draw(X: np.ndarray, seed: int) -> np.ndarray:
    chain = StochasticBlockModel().sample(X, draws=SWEEPS, warmup=0, chains=1, rng=seed, n_jobs=1)
    return chain.labels[0, np.asarray(chain.stats["log_density"])[0].argmax()]


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


def means(rows: list[dict[str, str]]) -> list[dict[str, float | str]]:
    """Mean NMI of each method, a row for each setting and β."""
    cells: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in rows:
        cell = cells.setdefault((row["setting"], row["beta"]), {})
        cell.setdefault(row["method"], []).append(float(row["nmi"]))
    return [
        {"setting": setting, "beta": beta, "graphs": len(next(iter(cell.values())))}
        | {method: round(float(np.mean(scores)), 3) for method, scores in cell.items()}
        for (setting, beta), cell in sorted(cells.items(), key=lambda item: (item[0][0], -float(item[0][1])))
    ]


def real_networks() -> list[dict[str, float | str]]:
    """Directed networks with loops: what each method finds, and its NMI with the labels that came with the data."""
    table = []
    for name, truth_column in NETWORKS.items():
        with (SHARED / f"{name}_nodes.csv").open(newline="", encoding="utf-8") as file:
            truth = [row[truth_column] for row in csv.DictReader(file)]
        graph = as_graph(SHARED / f"{name}_edges.csv", directed=True, nodes=range(len(truth)))
        for method, model in {
            "exact ICL": StochasticBlockModel(loops=True),
            "exact ICL, degree-corrected": StochasticBlockModel(loops=True, degree_corrected=True),
            "Louvain": None,
        }.items():
            begun = time.process_time()
            labels = louvain(graph, rng=1).labels if model is None else model.maximize(graph, rng=1).labels
            seconds = round(time.process_time() - begun, 2)
            found = {"clusters": int(labels.max()) + 1, "NMI": round(nmi(labels, truth), 3), "CPU s": seconds}
            row = {"network": name, "nodes": len(truth), "edges": graph.adjacency.nnz, "method": method}
            table.append(row | found)
    return table


def as_markdown(table: list[dict[str, float | str]]) -> str:
    head = list(table[0])
    lines = [head, ["---"] * len(head), *([row[name] for name in head] for row in table)]
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)


if __name__ == "__main__":
    main()
