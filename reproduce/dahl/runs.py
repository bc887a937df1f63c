"""The contests of a set on disk, so that a run can stop and go on.

Each replication has a file, and each model and loss a row. Of each search the row has the excess of its expected loss
over the least that any search reached there, the number of clusters, and the CPU seconds; the cells of searches that
were not run are empty.
"""

from __future__ import annotations

from pathlib import Path

import frame
from dahl.contest import LOSSES, SAME, SEARCHES, Contest, Reached, contest
from dahl.samples import Design, posterior_sample

MEASURES = ("excess", "clusters", "seconds")
FIELDS = ("model", "loss", "least", *(f"{search}: {measure}" for search in SEARCHES for measure in MEASURES))
#: Replications in which SALSO is run without one of its parts, too.
WITHOUT_PARTS = 2
#: By number of items: models on which our default search is run too, in the first replication, eight of a data set.
WITH_OURS = {60: 96, 200: 24, 1072: 8}
#: Contests by loss, then model, one per replication.
Contests = dict[str, dict[int, list[Contest]]]


def run_missing(design: Design, folder: Path, replications: int) -> None:
    """Adds what is missing: a replication of all models before the next one, so that every stop leaves a design."""
    due = [
        (replication, model)
        for replication in range(replications)
        for model in sorted(set(range(design.models)) - models_done(file_of(design, folder, replication)))
    ]
    total = design.models * replications
    progress = frame.Progress(f"{design.name}, models × replications", total, total - len(due))
    for replication, model in due:
        sample = posterior_sample(design.items, design.draws, model)
        seed = 10_000 * model + 100 * replication
        also = {
            "without_parts": replication < WITHOUT_PARTS,
            "ours": replication == 0 and model < WITH_OURS[design.items],
        }
        found = {loss: contest(sample, loss, seed, **also) for loss in LOSSES}
        append(file_of(design, folder, replication), model, found)
        progress.step()


def file_of(design: Design, folder: Path, replication: int) -> Path:
    return folder / f"dahl-{design.items}-{replication}.csv.gz"


def models_done(path: Path) -> set[int]:
    """Models that have a row for every loss."""
    done = {(int(row["model"]), row["loss"]) for row in frame.read_runs(path)}
    return {model for model, _ in done if all((model, loss) in done for loss in LOSSES)}


def append(path: Path, model: int, found: dict[str, Contest]) -> None:
    frame.append_runs(path, FIELDS, (to_row(model, loss, reached) for loss, reached in found.items()))


def to_row(model: int, loss: str, found: Contest) -> dict[str, str]:
    least = min(reached.loss for reached in found.values())
    row = {"model": str(model), "loss": loss, "least": f"{least:.12g}"}
    for search, reached in found.items():
        excess = reached.loss - least
        cells = ("0" if excess <= SAME * least else f"{excess:.6g}", str(reached.clusters), f"{reached.seconds:.4g}")
        row |= {f"{search}: {measure}": cell for measure, cell in zip(MEASURES, cells, strict=True)}
    return row


def from_row(row: dict[str, str]) -> Contest:
    found = {}
    for search in SEARCHES:
        excess, clusters, seconds = (row[f"{search}: {measure}"] for measure in MEASURES)
        if excess:
            found[search] = Reached(float(row["least"]) + float(excess), int(clusters), float(seconds))
    return found


def read_contests(design: Design, folder: Path) -> Contests:
    """All that is on disk of the design's models."""
    contests: Contests = {loss: {} for loss in LOSSES}
    for replication in range(design.replications):
        # a run that was stopped while it wrote makes a model again: its last rows count
        rows = {(row["loss"], int(row["model"])): row for row in frame.read_runs(file_of(design, folder, replication))}
        for (loss, model), row in rows.items():
            contests[loss].setdefault(model, []).append(from_row(row))
    return contests
