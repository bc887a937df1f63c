"""Two real directed networks with known groups, in place of the paper's blogs, which are not public."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import numpy as np

import frame
from partita.losses.agreement import nmi
from partita.models import Graph, StochasticBlockModel, as_graph, louvain

NETWORKS = {"polblogs": "leaning", "email_eu_core": "department"}
FILES = [f"{name}_{kind}.csv" for name in NETWORKS for kind in ("nodes", "edges")]
METHODS = ("exact ICL", "exact ICL, degree-corrected", "Louvain")


def write(page: frame.Page) -> None:
    """What each method finds, and its NMI with the labels that came with the data."""
    page.section(
        "Real directed networks",
        "The political blogs of Adamic & Glance and the e-mails of email-Eu-core, with loops, in place of the paper's "
        "1,360 blogs, which are not public. NMI is with the leaning of a blog and the department of a sender.",
    )
    for name, column in NETWORKS.items():
        graph, truth = read(page.options.data, name, column)
        for method in METHODS:
            began = time.process_time()
            labels = find(graph, method)
            seconds = time.process_time() - began
            page.row(f"{name}, {method}", int(labels.max()) + 1, column="clusters")
            page.row(f"{name}, {method}", nmi(labels, truth), column="NMI")
            page.row(f"{name}, {method}", seconds, column="CPU s")


def read(folder: Path, name: str, column: str) -> tuple[Graph, list[str]]:
    with (folder / f"{name}_nodes.csv").open(newline="", encoding="utf-8") as file:
        truth = [row[column] for row in csv.DictReader(file)]
    return as_graph(folder / f"{name}_edges.csv", directed=True, nodes=range(len(truth))), truth


def find(graph: Graph, method: str) -> np.ndarray:
    if method == "Louvain":
        return louvain(graph, rng=1).labels
    model = StochasticBlockModel(loops=True, degree_corrected=method.endswith("corrected"))
    return model.maximize(graph, rng=1).labels
