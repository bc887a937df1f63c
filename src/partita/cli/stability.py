"""`partita stability`: many runs of a clusterer on a table, and which clusters are found again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from partita._support.optional import optional
from partita._support.text.cells import parse_cell
from partita.cli.deliver import delivering, presented
from partita.cli.given import check_choice
from partita.cli.inputs import in_order, read_data, read_partition
from partita.cli.mixture_table import AsTable
from partita.cli.option import arg, opt
from partita.cli.options import OutputOptions, Quiet, Seed, TruthFile
from partita.cli.steps import step
from partita.cli.terminal import print_lines

BOOTSTRAP, ALL = "bootstrap", "all"
NULLS = ("both", "gaussian", "permuted")
#: From this ratio of standard deviations on, distances are mostly those of one column.
UNEQUAL = 10


@dataclass(frozen=True)
class Clusterer:
    """A clusterer: the setting that -k and --vary k= set, how it is made, and the default of -k if there is one."""

    size: str
    make: Callable[[int], Any]
    default: int | None = None


def _sklearn(size: str, module: str, name: str, default: int | None = None, **fixed: Any) -> Clusterer:
    """An estimator of scikit-learn."""

    def make(k: int) -> Any:
        return getattr(_scikit_learn(module), name)(**{size: k}, **fixed)

    return Clusterer(size, make, default)


def _scikit_learn(module: str) -> Any:
    return optional(module, "--clusterer needs scikit-learn", "ensembles")


def _leiden(size: int) -> Any:
    """Leiden communities of the graph of nearest neighbours, by modularity with a resolution."""
    try:
        import igraph
        import leidenalg
    except ImportError:
        raise ImportError("--clusterer leiden needs igraph and leidenalg: pip install leidenalg") from None
    kneighbors_graph = _scikit_learn("sklearn.neighbors").kneighbors_graph

    def run(data: Any, seed: int, neighbors: int = size, resolution: float = 1.0) -> Any:
        near = kneighbors_graph(data, min(neighbors, len(data) - 1)).tocoo()
        graph = igraph.Graph(len(data), list(zip(near.row.tolist(), near.col.tolist(), strict=True))).simplify()
        kind = leidenalg.RBConfigurationVertexPartition
        return leidenalg.find_partition(graph, kind, seed=seed, resolution_parameter=resolution)

    return run


CLUSTERERS = {
    "kmeans": _sklearn("n_clusters", "sklearn.cluster", "KMeans", n_init=3),
    "gmm": _sklearn("n_components", "sklearn.mixture", "GaussianMixture"),
    "hdbscan": _sklearn("min_cluster_size", "sklearn.cluster", "HDBSCAN", 5, copy=True),
    "leiden": Clusterer("neighbors", _leiden, 15),
}


@dataclass(frozen=True)
class ClustererOptions:
    """The clusterer, and how its runs differ."""

    clusterer: Annotated[str, opt(f"{', '.join(CLUSTERERS)}.")]
    k: Annotated[
        int | None,
        opt("Clusters (kmeans, gmm), smallest cluster (hdbscan: 5) or neighbours (leiden: 15).", "-k", "--k"),
    ] = None
    resample: Annotated[str, "Share of the items that each run clusters, bootstrap, or all."] = "0.8"
    vary: Annotated[
        list[str] | None, "Setting and its values, such as k=3,4,5 or resolution=0.5,1,2; may be repeated."
    ] = None

    def clusterer_and_grid(self) -> tuple[Any, dict[str, list[Any]]]:
        """The clusterer, and the values of each varied setting; k is the one that -k sets."""
        check_choice("clusterer", self.clusterer, CLUSTERERS)
        if self.k is not None and self.k < 1:
            raise ValueError(f"-k must be at least 1, but it is {self.k}")
        chosen = CLUSTERERS[self.clusterer]
        grid: dict[str, list[Any]] = {}
        for text in self.vary or ():
            name, equals, values = text.partition("=")
            if not (name and equals and values):
                raise ValueError(f"--vary must be a setting and its values, such as k=3,4,5, but it is {text}")
            grid[chosen.size if name == "k" else name] = [parse_cell(word) for word in values.split(",")]
        size = grid.get(chosen.size, [chosen.default])[0] if self.k is None else self.k
        if size is None:
            raise ValueError(f"--clusterer {self.clusterer} needs the number of clusters: -k")
        return chosen.make(size), grid

    @property
    def share(self) -> float | str | None:
        """The share of the items that each run clusters."""
        if self.resample in (BOOTSTRAP, ALL):
            return None if self.resample == ALL else BOOTSTRAP
        try:
            return float(self.resample)
        except ValueError:
            told = f"--resample must be a share of the items, bootstrap or all, but it is {self.resample}"
            raise ValueError(told) from None

    def check_number(self, n_items: int) -> None:
        """Refuses more clusters than a run has items."""
        each = int(self.share * n_items) if isinstance(self.share, float) else n_items
        if self.clusterer in ("kmeans", "gmm") and self.k is not None and self.k > each:
            raise ValueError(f"-k is {self.k}, but each run has {each} items to cluster")


def run(
    data: Annotated[str, arg("Numbers, csv or npy: one row per item, one column per variable.")],
    writing: OutputOptions,
    clustering: ClustererOptions,
    runs: Annotated[int, "Maximum number of runs; they end when more would change little."] = 50,
    null: Annotated[
        str | None, "Compare with data without clusters: both, gaussian or permuted; 200 runs more for each."
    ] = None,
    loss: Annotated[str, "Loss of the consensus."] = "vi",
    columns: Annotated[str | None, opt("The columns to use, separated by commas.", shown="all")] = None,
    scale: Annotated[bool, "Divide each column by its standard deviation."] = False,
    as_table: AsTable = False,
    truth: TruthFile = None,
    seed: Seed = None,
    jobs: Annotated[int, "Processes; -1 for all cores."] = 1,
    quiet: Quiet = False,
) -> None:
    """Run a clusterer many times: which clusters are found again, which items are certain, and which are noise.

    Each run clusters 80 % of the items. Stability is not truth: --null tells whether the runs agree more than they do
    on data without clusters.

    Example: partita stability table.csv --clusterer kmeans -k 4 --out run
    """
    import numpy as np

    from partita.cli.mistaken import refuse_draws, refuse_networks
    from partita.ensembles import stability

    if null is not None:
        check_choice("null", null, NULLS)
    share, (clusterer, grid) = clustering.share, clustering.clusterer_and_grid()
    refuse_networks(data)
    with delivering(writing) as deliver:
        files = {} if truth is None else {"truth": read_partition(truth)}
        read = read_data(data, columns, None if as_table or columns else refuse_draws)
        values = np.asarray(read.values, np.float64)
        files = in_order(files, read.names, len(values), data)
        clustering.check_number(len(values))
        called = read.columns or tuple(f"column {j + 1}" for j in range(values.shape[1]))
        spread = _spread(values, called)
        notes = list(_notes(values, called, spread, scaled=scale or clustering.clusterer == "gmm"))
        if notes and not writing.json:
            print_lines("\n".join(f"Note: {note}" for note in notes))
        if scale:
            values = values / np.where(spread > 0, spread, 1.0)
        table: Any = values
        if read.names is not None:
            import pandas as pd

            table = pd.DataFrame(values, index=list(read.names))
        shown = sys.stderr.isatty() and not quiet
        with step(f"clustered ({clustering.clusterer})", has_progress=shown):
            how: dict[str, Any] = {"loss": loss, "null": null, "n_jobs": jobs, "progress": shown}
            found = stability(clusterer, table, runs, share, grid or None, seed, **how)
        deliver(presented(found, (), **files), facts={"column_notes": notes}, truth=truth)


def _spread(values: Any, called: Sequence[str]) -> Any:
    """The standard deviation of each column."""
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore"):
        spread = values.std(axis=0)
    if (too_large := np.flatnonzero(~np.isfinite(spread))).size:
        raise ValueError(f"{called[too_large[0]]} has numbers too large for a variance; rescale it")
    return spread


def _notes(values: Any, called: Sequence[str], spread: Any, *, scaled: bool) -> Iterator[str]:
    """What to ask about numbers that a clusterer takes as they are."""
    import numpy as np

    from partita.models.mixtures.column_notes import sentinel_questions
    from partita.models.mixtures.raw import from_columns

    for value, question in sentinel_questions(from_columns(zip(called, values.T, strict=True))):
        yield f"{question} Here it is a number like others; partita cluster --missing {value} models missing cells."
    varying = np.flatnonzero(spread > 0)
    if scaled or varying.size < 2:
        return
    most, least = (int(varying[at(spread[varying])]) for at in (np.argmax, np.argmin))
    if spread[most] >= UNEQUAL * spread[least]:
        more = f"varies {spread[most] / spread[least]:,.0f} times as much as {called[least]}"
        yield f"{called[most]} {more}, and distances are mostly its own. Are the units comparable? If not: --scale."
