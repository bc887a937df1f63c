"""`partita sample`: draw partitions from data."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

import partita as pt
from partita._support.atomic import atomic_file
from partita._support.warn import warn_user
from partita.cli.command import Group, register
from partita.cli.deliver import print_warnings
from partita.cli.errors import INTERRUPTED
from partita.cli.given import was_typed
from partita.cli.inputs import read_data
from partita.cli.mixture_table import Expect, TableOptions, concentration
from partita.cli.network_options import Counts, DegreeCorrected, EdgeFile, Network, Weights, edge_kind
from partita.cli.option import arg, opt
from partita.cli.options import DataColumns, Json
from partita.cli.outputs import print_json
from partita.cli.terminal import print_lines

app = typer.Typer(cls=Group, no_args_is_help=True)


@app.callback()
def sample() -> None:
    """Draw partitions from the posterior of a model.

    Example: partita sample dpm data.csv --out run.partita --draws 2000 --seed 1
    """


@dataclass(frozen=True)
class Chains:
    """How long to sample."""

    draws: Annotated[int, "Draws to keep per chain."] = 1000
    warmup: Annotated[int, "Sweeps to discard at the start of each chain."] = 1000
    thin: Annotated[int, opt("Sweeps between kept draws.", rich_help_panel="Sampler")] = 1
    chains: Annotated[int, "Number of independent chains."] = 4
    seed: Annotated[int | None, opt("Random seed; the same seed gives the same chains.", rich_help_panel="Sampler")] = (
        None
    )
    jobs: Annotated[int, opt("Threads; -1 for all cores.", rich_help_panel="Sampler")] = -1

    @property
    def plan(self) -> dict[str, Any]:
        """What must stay the same when a run is continued."""
        return {"warmup": self.warmup, "thin": self.thin, "chains": self.chains, "seed": self.seed}

    @property
    def running(self) -> dict[str, Any]:
        """What may change from one command to the next."""
        return {"n_jobs": self.jobs, "progress": sys.stderr.isatty()}

    def sample(self, model: Any, data: Any, **more: Any) -> Any:
        """A chain of the model from its start."""
        plan = self.plan
        return model.sample(data, draws=self.draws, rng=plan.pop("seed"), **plan, **more, **self.running)


@dataclass(frozen=True, kw_only=True)
class Run(Chains):
    """A run that is kept in a folder, and can be continued."""

    out: Annotated[Path, "New directory for the run; the draws are in its draws.npy."]
    resume: Annotated[bool, "Continue the run in --out, to its end or to --draws."] = False
    json: Json = False

    def keep(self, model: Any, data: Any, source: str, **names: Any) -> None:
        """Samples, or continues a run; the draws are then in draws.npy of its directory."""
        from partita._support.npy import write_npy

        if self.resume:
            inputs, own = model._inputs(data)
            self._check_same(model, source, inputs, names.get("names") or own)
        try:
            if self.resume:
                chain = pt.resume(self.out, self.draws if was_typed("draws") else None, **self.running)
            else:
                chain = self.sample(model, data, path=self.out, **names)
        except KeyboardInterrupt:
            if self.out.exists():
                warn_user("stopped by Ctrl-C before there were draws; the same command with --resume continues the run")
            raise
        with atomic_file(self.out / "draws.npy") as temporary:
            write_npy(temporary, chain.labels)
        self._tell(chain)
        if not chain.attrs["complete"]:
            raise typer.Exit(INTERRUPTED)

    def _check_same(self, model: Any, data: str, inputs: Mapping[str, Any], names: Any) -> None:
        """Refuses options that differ from the data, the model and the plan with which the run began."""
        import numpy as np

        from partita._support.validate import check_rng
        from partita.models.chains.checkpoint import open_run

        run = open_run(self.out)
        asked, begun = {**model.params(), **self.plan}, {**run.params, **asdict(run.plan)}
        for kind in (asked, begun):
            kind["counts"] = kind["weights"] = kind.pop("edges", None)  # options that say what edges are
        asked["seed"] = int(check_rng(self.seed).integers(2**63))  # as `sample` turns it into that of the plan
        for name in asked:
            typed = was_typed(name) or (name == "alpha" and was_typed("expect"))
            if typed and asked[name] != begun.get(name):
                other = "another" if name == "seed" else begun.get(name)
                raise ValueError(
                    f"--{name.replace('_', '-')}: the run in {self.out} began with {other} "
                    "and cannot be continued with a different value"
                )
        stored = run.inputs()
        same = stored.keys() == inputs.keys() and all(
            np.array_equal(stored[name], array, equal_nan=array.dtype.kind == "f") for name, array in inputs.items()
        )
        if not same or run.names != names:
            raise ValueError(f"{data} does not contain the data with which the run in {self.out} began")

    def _tell(self, chain: Any) -> None:
        if not self.json:
            print_warnings(chain.notes)
            print(repr(chain))
            return
        summary = {"path": str(self.out), "notes": list(chain.notes), "n_chains": chain.n_chains}
        summary |= {"draws_per_chain": chain.n_draws, "n_items": chain.n_items}
        complete = chain.attrs["complete"]
        print_json(summary | {"mean_clusters": float(chain.n_clusters.mean()), "interrupted": not complete})


def dpm(
    data: Annotated[
        str,
        arg(
            "CSV of numbers: one row per item, one column per variable; a header is optional. "
            "A column named item, node, name or id names the items."
        ),
    ],
    run: Run,
    columns: DataColumns = None,
    covariance: Annotated[str, "full or diag."] = "full",
    alpha: Annotated[float | None, "Concentration; a Gamma(1, 1) prior if not given."] = None,
    expect: Expect = None,
    standardize: Annotated[bool, "Centre and scale each column first."] = False,
) -> None:
    """Dirichlet process mixture of Gaussians.

    Example: partita sample dpm data.csv --out run.partita --draws 2000 --seed 1
    """
    table = read_data(data, columns)
    prior = concentration(alpha, expect, len(table.values), json=run.json)
    model = pt.models.GaussianDPM(covariance, prior, standardize=standardize)
    run.keep(model, table.values, data, names=table.distinct_names())


def mixture(table: TableOptions, run: Run) -> None:
    """Dirichlet process mixture of a table with columns of several kinds and missing cells.

    Example: partita sample mixture table.csv --family visits=count --out run.partita --seed 1
    """
    if table.writes_schema():
        return
    read = table.read()
    model, _, _ = table.model(read, json=run.json)
    run.keep(model, read, table.data, names=None if table.curves else read.names)


def sbm(edges: EdgeFile, run: Run, network: Network) -> None:
    """Stochastic block model of a network.

    Example: partita sample sbm edges.csv --undirected --out run.partita --seed 1
    """
    graph, model = network.read(edges), network.model()
    if not run.json:
        print_lines(f"{'undirected' if network.undirected else 'directed'} network, {graph.n_nodes:,} nodes")
    run.keep(model, graph, str(edges))


def lbm(
    data: Annotated[
        str,
        arg(
            "CSV of 0 and 1 (or of counts or weights): one row per row of the matrix; a header is optional. "
            "A column named item, node, name or id names the rows."
        ),
    ],
    run: Run,
    columns: DataColumns = None,
    counts: Counts = False,
    weights: Weights = None,
    degree_corrected: DegreeCorrected = False,
) -> None:
    """Latent block model of a matrix: rows and columns clustered together. The draws are those of the rows.

    Example: partita sample lbm matrix.csv --out run.partita --seed 1
    """
    table = read_data(data, columns)
    kind = edge_kind(counts, weights)
    graph = pt.models.as_bipartite(table.values, edges=kind)
    graph = replace(graph, names=table.distinct_names() or graph.names)
    run.keep(pt.models.LatentBlockModel(edges=kind, degree_corrected=degree_corrected), graph, data)


for model in (dpm, mixture, sbm, lbm):
    register(app, model.__name__, model)
