"""The result of a sampler: labels and statistics, by chain and draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.hints import plural
from partita._support.optional import optional
from partita._support.shown import rows_table


@dataclass(frozen=True, eq=False, repr=False)
class Chain:
    """Posterior draws of partitions from one or more chains.

    Attributes
    ----------
    labels : (chains, draws, items) unsigned integer array
        The partition of each draw, with canonical labels: numbered from 0 in order of first appearance.
    stats : dict of (chains, draws) float arrays
        Quantities of each draw by name: always `log_density` (ln p(data, partition | hyperparameters)) and
        `n_clusters`, and those that the model adds, such as `alpha`.
    model : model
        The model that was sampled.
    inputs : dict of arrays
        The data that the model saw, by name.
    attrs : dict
        Seed, warm-up and thinning of the run, whether it is complete, and the like.
    names : tuple of str or None
        Names of the items, if the data have any: nodes of a graph, rows of a table.
    """

    __partita_chain__: ClassVar[bool] = True

    labels: NDArray[Any]
    stats: Mapping[str, NDArray[np.float64]]
    model: Any = None
    inputs: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    attrs: Mapping[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] | None = None

    @property
    def n_chains(self) -> int:
        return int(self.labels.shape[0])

    @property
    def n_draws(self) -> int:
        """Draws of one chain."""
        return int(self.labels.shape[1])

    @property
    def n_items(self) -> int:
        return int(self.labels.shape[2])

    @property
    def log_density(self) -> NDArray[np.float64]:
        """ln p(data, partition | hyperparameters) of each draw, (chains, draws)."""
        return self.stats["log_density"]

    @property
    def n_clusters(self) -> NDArray[np.int64]:
        """Number of clusters of each draw, (chains, draws)."""
        return self.stats["n_clusters"].astype(np.int64)

    @property
    def alpha(self) -> NDArray[np.float64]:
        """Concentration of each draw, (chains, draws), for the models that have one."""
        return self.stats["alpha"]

    @cached_property
    def noise(self) -> NDArray[np.float64] | None:
        """The share of the draws in which each item is noise, (items,), if the model has noise: it is alone then."""
        from partita.draws.sample import as_sample

        return as_sample(self).noise

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What is wrong with the chains, by number of clusters, log density and partition, and with the model."""
        from partita.estimation.convergence import chain_summaries, mixing_warnings

        summaries = chain_summaries(self.labels, self.stats["n_clusters"], self.log_density)
        if hasattr(self.model, "mixing_summaries"):
            summaries |= self.model.mixing_summaries(self)
        return (*mixing_warnings(summaries), *self.model_notes)

    @cached_property
    def model_notes(self) -> tuple[str, ...]:
        """What the data say against the model, such as columns that are correlated within clusters."""
        if not hasattr(self.model, "data_notes") or not self.n_draws:
            return ()
        return tuple(self.model.data_notes(self))

    @cached_property
    def inclusion(self) -> dict[str, float]:
        """The probability that each column takes part in the clusters, by name, for `MixtureDPM(select=True)`.

        A column takes part in a draw if its parameter differs between clusters, and there are two clusters or more.

        Examples
        --------
        >>> import numpy as np, partita as pt
        >>> rng = np.random.default_rng(1)
        >>> size = np.append(rng.normal(0, 1, 40), rng.normal(8, 1, 40))
        >>> chain = pt.models.MixtureDPM(select=True).sample({"size": size, "noise": rng.normal(size=80)}, rng=1)
        >>> chain.inclusion["size"] > 0.9, chain.inclusion["noise"] < 0.3
        (True, True)
        """
        if not hasattr(self.model, "inclusion"):
            raise TypeError(f"{type(self.model).__name__} does not select columns")
        return dict(self.model.inclusion(self))

    def predictive_density(self, X: ArrayLike) -> NDArray[np.float64]:
        """Density of new points, averaged over the draws: (points,) for X of shape (points, dimensions)."""
        if not hasattr(self.model, "predictive_density"):
            raise TypeError(f"{type(self.model).__name__} has no predictive density")
        return np.asarray(self.model.predictive_density(self, X))

    def impute(self, *, draws: int | None = None, rng: Any = None) -> Any:
        """Draws of the missing cells of the table from their posterior predictive distribution.

        In each draw of the chain a missing cell is drawn given the observed cells of its column in its cluster.

        Parameters
        ----------
        draws : int, optional
            Number of draws of the chain to use, evenly spread over it; by default all.
        rng : None, int or numpy Generator
            Seed or source of random numbers; the same seed gives the same result.

        Returns
        -------
        Imputation
            Draws and a summary of every missing cell.

        Examples
        --------
        >>> import partita as pt
        >>> table = {"size": [1.0, 1.2, None, 7.9, 8.1, 8.0], "colour": ["red", "red", "red", "blue", None, "blue"]}
        >>> chain = pt.models.MixtureDPM(b=0.1).sample(table, draws=500, chains=2, rng=1)
        >>> chain.impute(rng=2)
        Imputation: 2 missing cells x 1,000 draws; size (1), colour (1)
        """
        if not hasattr(self.model, "impute"):
            raise TypeError(f"{type(self.model).__name__} has no missing cells to impute")
        return self.model.impute(self, draws=draws, rng=rng)

    def to_xarray(self) -> Any:
        """An xarray Dataset with dims chain, draw and item (pip install 'partita[arviz]')."""
        xarray = optional("xarray", "to_xarray needs xarray", "arviz")
        variables: dict[str, Any] = {name: (("chain", "draw"), values) for name, values in self.stats.items()}
        variables["labels"] = (("chain", "draw", "item"), self.labels)
        coordinates = {"chain": np.arange(self.n_chains), "draw": np.arange(self.n_draws), "item": self._items()}
        attributes = {name: _netcdf_value(value) for name, value in self.attrs.items()}
        return xarray.Dataset(variables, coordinates, attributes)

    def to_arviz(self) -> Any:
        """ArviZ inference data: labels and parameters in `posterior`, the log density in `sample_stats`."""
        arviz = optional("arviz", "to_arviz needs arviz", "arviz")
        posterior = {name: values for name, values in self.stats.items() if name != "log_density"}
        posterior["labels"] = self.labels
        groups: dict[str, Any] = {"posterior": posterior, "sample_stats": {"lp": self.log_density}}
        options: dict[str, Any] = {"coords": {"item": self._items()}, "dims": {"labels": ["item"]}}
        if int(arviz.__version__.split(".")[0]) >= 1:
            return arviz.from_dict(groups, **options)
        return arviz.from_dict(**groups, **options)

    def _items(self) -> Any:
        """The names of the items, or their numbers."""
        return np.arange(self.n_items) if self.names is None else list(self.names)

    def __repr__(self) -> str:
        name = type(self.model).__name__ if self.model is not None else "Chain"
        state = "" if self.attrs.get("complete", True) else ", stopped early"
        clusters = f"{self.n_clusters.mean():.1f}" if self.n_draws else "no"
        size = f"{plural(self.n_chains, 'chain')} x {self.n_draws:,} draws x {self.n_items:,} items"
        return f"Chain of {name}: {size}, {clusters} clusters on average{state}"

    def _repr_html_(self) -> str:
        shown = {name: x for name, x in self.stats.items() if x.size and not name.startswith("included_")}
        rows = [(name, f"{x.mean():.4g}", f"{x.std():.4g}") for name, x in shown.items()]
        return rows_table(repr(self), ("statistic", "mean", "sd"), rows)


def smallest_unsigned(labels: NDArray[Any]) -> NDArray[Any]:
    """The same labels in the smallest unsigned type that holds the largest of them.

    >>> smallest_unsigned(np.array([0, 1, 300])).dtype
    dtype('uint16')
    """
    largest = int(labels.max()) if labels.size else 0
    return labels.astype(np.min_scalar_type(largest), copy=False)


def _netcdf_value(value: Any) -> Any:
    """netCDF attributes know no booleans and no None."""
    if isinstance(value, bool):
        return int(value)
    return value if isinstance(value, (int, float, str)) else str(value)
