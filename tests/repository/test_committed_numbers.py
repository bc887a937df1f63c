"""The committed tables of the papers' pages are those of the committed runs: each number computed again, plainly."""

import csv
import gzip
import math
from collections import defaultdict
from pathlib import Path
from statistics import fmean, stdev

import pytest

RESULTS = Path(__file__).parents[2] / "reproduce" / "results"
#: Metric of the rows of a section of Wang, Domeniconi & Laskey's page.
WANG_METRICS = {"Table 2: F1": "f1", "Table 4: perplexity, train": "train", "Table 5: perplexity, test": "test"}
#: Columns of Dahl, Johnson & Müller's tables that are shares of comparisons: the two searches.
DAHL_SHARES = {
    ("Table 2", "A < B"): ("SALSO, unconstrained", "R&F"),
    ("Table 2", "B < A"): ("R&F", "SALSO, unconstrained"),
    ("Table 4", "A < B"): ("SALSO, 4 runs", "SALSO, 1 run"),
    ("Table 4", "B < A"): ("SALSO, 1 run", "SALSO, 4 runs"),
    ("Table 4", "A < C"): ("SALSO, 4 runs", "R&F, equal time"),
    ("Table 4", "C < A"): ("R&F, equal time", "SALSO, 4 runs"),
}


def read(name):
    path = RESULTS / name
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def standard_error(values):
    return stdev(values) / math.sqrt(len(values))


def check(row, values, spread=standard_error):
    assert float(row["ours"]) == pytest.approx(fmean(values), rel=1e-8), row
    if row["error"]:
        assert float(row["error"]) == pytest.approx(spread(values), rel=1e-6, abs=1e-12), row


def test_settings_of_come_and_latouche():
    scores, of_mixer = defaultdict(list), set()
    for run in read("runs/come_latouche.csv.gz"):
        place = run["setting"], f"β = {float(run['beta']):.2f}"
        scores[*place, run["method"]].append(float(run["nmi"]))
        of_mixer |= {(*place, run["graph"])} if run["method"] == "mixer" else set()
    for run in read("runs/come_latouche.csv.gz"):
        place = run["setting"], f"β = {float(run['beta']):.2f}"
        if run["method"] == "exact ICL" and (*place, run["graph"]) in of_mixer:
            scores[*place, "exact ICL, graphs of mixer"].append(float(run["nmi"]))
    rows = [row for row in read("come_latouche.csv") if row["section"] in ("Setting 1", "Setting 2", "Setting 3")]
    assert len(rows) > 100
    for row in rows:
        check(row, scores[row["section"].removeprefix("Setting "), row["quantity"], row["column"]])


def test_tables_of_wang_domeniconi_and_laskey():
    values = defaultdict(list)
    for run in read("runs/wang_domeniconi_laskey.csv.gz"):
        values[run["dataset"], run["method"], run["metric"]].append(float(run["value"]))
    rows = [row for row in read("wang_domeniconi_laskey.csv") if row["section"] in WANG_METRICS]
    compared = 0
    for row in rows:
        found = values.get((row["quantity"], row["column"], WANG_METRICS[row["section"]]))
        if found and "∞" not in row["ours"]:
            check(row, found)
            compared += 1
    assert compared > 50


def excesses():
    """By items, model and loss: of each replication, the excess of every search over the least expected loss."""
    found = defaultdict(list)
    for path in sorted((RESULTS / "runs").glob("dahl-*.csv.gz")):
        for row in read(f"runs/{path.name}"):
            searches = {name.removesuffix(": excess"): cell for name, cell in row.items() if name.endswith(": excess")}
            known = {search: float(cell) for search, cell in searches.items() if cell}
            found[int(path.name.split("-")[1]), row["loss"], int(row["model"])].append((float(row["least"]), known))
    return found


def wins(first, second, least, known):
    """Whether the first search is better than the second by more than 1e-9 of the loss."""
    return known[first] < known[second] - 1e-9 * (least + known[second])


def test_shares_of_dahl_johnson_and_mueller():
    found, compared = excesses(), 0
    for row in read("dahl_johnson_mueller.csv"):
        searches = DAHL_SHARES.get((row["section"].partition(":")[0], row["column"]))
        if searches is None:
            continue
        items, loss = row["quantity"].split(" items, ")
        models = [runs for (n, name, _), runs in found.items() if (n, name) == (int(items.replace(",", "")), loss)]
        check(row, [fmean(wins(*searches, *run) for run in runs) for runs in models])
        compared += 1
    assert compared >= 40


def test_examples_of_rastelli_and_friel():
    values, compared = defaultdict(list), 0
    for run in read("runs/rastelli-example1.csv.gz"):
        place = run["method"], f"n = {run['items']}"
        values["Example 1, Table 1: groups of the optimal partitions", *place].append(float(run["groups"]))
        values["Example 1, Table 2: expected VI", *place].append(float(run["expected"]))
    for run in read("runs/rastelli-example2.csv.gz"):
        place = run["method"], f"σ = {run['sigma']}"
        values["Example 2, Figure 3: share of data sets with four groups", *place].append(run["groups"] == "4")
        values["Example 2, Figure 3: mean number of groups", *place].append(float(run["groups"]))
        for name in ("VI", "Binder", "NVI", "NID"):
            values[f"Example 2, Figure 4: {name} from the truth", *place].append(float(run[name]))
    for row in read("rastelli_friel.csv"):
        found = values.get((row["section"], row["quantity"], row["column"]))
        if found:
            spread = stdev if row["section"].startswith("Example 1") else standard_error  # the paper has one data set
            check(row, found, spread)
            compared += 1
    assert compared == len(values) > 300


def test_speed_beside_salso_is_what_was_measured():
    """README, paper and the measurements quote default estimates beside default calls of salso."""
    root = RESULTS.parents[1]
    lines = (root / "benchmarks/results/search_defaults.csv").read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    ratios = [float(row["ratio"]) for row in rows]
    lower = sum(float(row["loss_excess"]) < -1e-7 for row in rows)
    assert all(float(row["loss_excess"]) < 1e-7 for row in rows)
    (slower,) = [row for row in rows if float(row["ratio"]) < 1]
    mean = math.exp(fmean(map(math.log, ratios)))
    seconds = f"{float(slower['seconds']):.2f} against {float(slower['salso_seconds']):.2f} seconds"
    readme, paper, page = (
        " ".join((root / name).read_text(encoding="utf-8").split())
        for name in ("README.md", "paper/paper.md", "benchmarks/NOTES.md")
    )
    assert f"in {lower} of {len(rows)} cases lower, and it took 1/{mean:.0f} of the CPU time" in readme
    assert f"It was slower in one case, {seconds}" in readme
    assert f"for {len(rows)} pairs of draws and losses" in paper
    assert f"below it in {lower}, in 1/{mean:.0f} of the CPU time" in paper
    for data in {row["data"] for row in rows}:
        own = [f"{float(row['ratio']):.1f}" for row in rows if row["data"] == data]
        assert f"| {data} | {' | '.join(own)} |" in page
