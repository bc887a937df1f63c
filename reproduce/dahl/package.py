"""The package GreedyEPL itself, timed beside our programs on some of the samples.

It has to be installed where Rscript finds it. One run of `MinimiseEPL` starts, as in Table 2, from a random partition
with up to as many groups as there are items. Its time is R's own count of CPU seconds, its expected loss is computed
here from its labels, and the first models of each set are taken, fewer where a run takes minutes. Rows go to
runs/greedy-epl.csv.gz as they come.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import numpy as np

import frame
import partita as pt
from dahl.contest import FREE, GREEDY_EPL, GREEDY_FREE, LOSSES, SAME, Reached, reach
from dahl.samples import Design, posterior_sample

FILE = "greedy-epl.csv.gz"
PACKAGE = "GreedyEPL"
SEARCHES = (PACKAGE, GREEDY_FREE, FREE)
FIELDS = ("items", "model", "loss", *(f"{search}: {what}" for search in SEARCHES for what in ("loss", "seconds")))
#: Models of each set, by its number of items.
MODELS = {60: 16, 200: 8, 1072: 2}
TYPES = {"Binder": "B", "VI": "VI", "NVI": "NVI", "NID": "NID"}
PROGRAM = """
arguments <- commandArgs(TRUE)
draws <- as.matrix(read.csv(arguments[1], header = FALSE)) + 1L
dimnames(draws) <- NULL
weights <- scan(arguments[2], quiet = TRUE)
set.seed(as.integer(arguments[4]))
spent <- system.time(found <- GreedyEPL::MinimiseEPL(draws, list(weights = weights, loss_type = arguments[3])))
cat("seconds", spent[["user.self"]] + spent[["sys.self"]], "\\n")
cat("labels", found$decision, "\\n")
"""


def run_package(sample: pt.PartitionSample, loss: str, seed: int) -> Reached:
    """One run of the package, on the distinct partitions with their weights, as our programs have them."""
    with tempfile.TemporaryDirectory() as folder:
        draws, weights = Path(folder) / "draws.csv", Path(folder) / "weights.txt"
        np.savetxt(draws, sample.labels, fmt="%d", delimiter=",")
        np.savetxt(weights, sample.weights)
        command = ["Rscript", "-e", PROGRAM, str(draws), str(weights), TYPES[loss], str(seed)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    values = {line.split()[0]: line.split()[1:] for line in said.splitlines() if line.startswith(("seconds", "labels"))}
    labels = pt.canonical(np.array(values["labels"], dtype=int))
    expected = float(pt.expected_loss(labels, sample, LOSSES[loss]))
    return Reached(expected, int(labels.max()) + 1, float(values["seconds"][0]))


def run_missing(designs: tuple[Design, ...], folder: Path) -> None:
    path = folder / FILE
    done = {(row["items"], row["model"], row["loss"]) for row in frame.read_runs(path)}
    due = [(design, model) for design in designs for model in range(min(MODELS[design.items], design.models))]
    progress = frame.Progress("GreedyEPL, models", len(due))
    for design, model in due:
        missing = [loss for loss in GREEDY_EPL if (str(design.items), str(model), loss) not in done]
        if missing:
            sample = posterior_sample(design.items, design.draws, model)
            frame.append_runs(path, FIELDS, (to_row(design, model, loss, sample) for loss in missing))
        progress.step()


def to_row(design: Design, model: int, loss: str, sample: pt.PartitionSample) -> dict[str, str]:
    free = {"runs": 1, "max_clusters": sample.n_items}
    found = {
        PACKAGE: run_package(sample, loss, model),
        GREEDY_FREE: reach(sample, LOSSES[loss], model, "greedy", **free),
        FREE: reach(sample, LOSSES[loss], model, "salso", **free),
    }
    row = {"items": str(design.items), "model": str(model), "loss": loss}
    for search, reached in found.items():
        row |= {f"{search}: loss": f"{reached.loss:.12g}", f"{search}: seconds": f"{reached.seconds:.4g}"}
    return row


def write_package(page: frame.Page, folder: Path) -> None:
    rows = frame.read_runs(folder / FILE)
    if not rows:
        return
    page.section(
        "The package GreedyEPL itself",
        "One run of GreedyEPL 1.3 (P) beside one run of our own program of Rastelli & Friel's algorithm (B) and one of "
        "SALSO (A), from random starts with any number of clusters, on the first models of each set. All have the "
        "distinct partitions and their weights. Seconds are of CPU, P's as R counts them.",
        decimals=3,
    )
    for items in dict.fromkeys(row["items"] for row in rows):
        for loss in GREEDY_EPL:
            write_row(page, items, loss, [row for row in rows if row["items"] == items and row["loss"] == loss])


def write_row(page: frame.Page, items: str, loss: str, rows: list[dict[str, str]]) -> None:
    if not rows:
        return
    losses = {search: np.array([float(row[f"{search}: loss"]) for row in rows]) for search in SEARCHES}
    seconds = {search: np.array([float(row[f"{search}: seconds"]) for row in rows]) for search in SEARCHES}
    name = f"{int(items):,} items, {loss}, {len(rows)} model{'s' if len(rows) > 1 else ''}"
    for column, search in (("seconds P", PACKAGE), ("seconds B", GREEDY_FREE), ("seconds A", FREE)):
        mean, error = frame.mean_and_error(seconds[search])
        page.row(name, mean, None, error, column=column)
    for column, first, second in (("A < P", FREE, PACKAGE), ("P < A", PACKAGE, FREE), ("B < P", GREEDY_FREE, PACKAGE)):
        lower = losses[first] < losses[second] - SAME * np.abs(losses[second])
        share, error = frame.mean_and_error(lower)
        page.row(name, share, None, error, column=column)
