"""`partita sample`: draw partitions from data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from partita.cli.command import register
from partita.cli.errors import INTERRUPTED
from partita.cli.options import Json

app = typer.Typer(no_args_is_help=True)


@app.callback()
def sample() -> None:
    """Draw partitions from the posterior of a model.

    Example: partita sample dpm data.csv --out run.partita --draws 2000 --seed 1
    """


def dpm(
    data: Annotated[
        Path, typer.Argument(help="CSV of numbers: a row an item, a column a variable; a header is optional.")
    ],
    out: Annotated[Path, typer.Option(help="New directory for the run; the draws are in its draws.npy.")],
    covariance: Annotated[str, typer.Option(help="full or diag.")] = "full",
    alpha: Annotated[float | None, typer.Option(help="Concentration; a Gamma(1, 1) prior if not given.")] = None,
    standardize: Annotated[bool, typer.Option(help="Centre and scale each column first.")] = False,
    draws: Annotated[int, typer.Option(help="Draws kept of each chain.")] = 1000,
    warmup: Annotated[int, typer.Option(help="Sweeps thrown away first.")] = 1000,
    thin: Annotated[int, typer.Option(help="Sweeps between kept draws.")] = 1,
    chains: Annotated[int, typer.Option(help="Independent chains.")] = 4,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same chains.")] = None,
    n_jobs: Annotated[int, typer.Option(help="Threads; -1 is all cores.")] = -1,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    json: Json = False,
) -> None:
    """Dirichlet process mixture of Gaussians.

    Example: partita sample dpm data.csv --out run.partita --draws 2000 --seed 1
    """
    import numpy as np

    from partita.cli.inputs import read_data
    from partita.models import GaussianDPM
    from partita.models import resume as go_on

    progress = sys.stderr.isatty()
    if resume:
        chain = go_on(out, n_jobs=n_jobs, progress=progress)
    else:
        model = GaussianDPM(covariance, alpha, standardize=standardize)
        settings: dict[str, Any] = {"draws": draws, "warmup": warmup, "thin": thin, "chains": chains}
        table = read_data(str(data))
        chain = model.sample(table, **settings, rng=seed, path=out, n_jobs=n_jobs, progress=progress)

    np.save(out / "draws.npy", chain.labels)
    _tell(chain, out, json)
    if not chain.attrs["complete"]:
        raise typer.Exit(INTERRUPTED)


register(app, "dpm", dpm)


def _tell(chain: Any, out: Path, json: bool) -> None:
    from partita.cli.outputs import print_json

    if not json:
        print(repr(chain))
        return
    summary = {
        "path": str(out),
        "chains": chain.n_chains,
        "draws": chain.n_draws,
        "items": chain.n_items,
        "clusters": float(chain.n_clusters.mean()),
        "complete": bool(chain.attrs["complete"]),
    }
    print_json(summary)
