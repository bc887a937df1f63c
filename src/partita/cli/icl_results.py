"""What the commands that maximise an ICL write of their search."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def search_facts(fit: Any) -> dict[str, Any]:
    """Clusters, ICL and the runs of a fit, for summary.json."""
    return {
        "n_clusters": fit.n_clusters,
        "icl": fit.icl,
        "runs": [{"start": run.start, "icl": run.icl} for run in fit.runs],
        "group_icl": fit.group_icl.tolist(),
        "times_reached": fit.times_reached,
        "interrupted": fit.interrupted,
        "warnings": list(fit.found.warnings("--restarts ")),
    }


def write_search(folder: Path, fit: Any) -> None:
    """path.csv and runs.csv."""
    from partita.cli.outputs import write_csv

    write_csv(folder / "path.csv", ("n_clusters", "icl"), zip(fit.path.n_clusters.tolist(), fit.path.icl, strict=True))
    write_csv(folder / "runs.csv", ("run", "start", "icl"), [(i, r.start, r.icl) for i, r in enumerate(fit.runs)])
