"""What `repeat` can run: scikit-learn's estimators and pipelines, functions, community detection; and on what."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.names import Names, names_or_none, row_names
from partita.ensembles.base_clusterings import Labels
from partita.partitions.codes import BadLabel, Missing, to_codes, type_problem

Settings = Mapping[str, Any]
#: Called with the data, a seed and settings; returns what the clusterer returns.
Runner = Callable[[Any, int, Settings], Any]
SEEDS = ("seed", "random_state")


@dataclass(frozen=True)
class Data:
    """Data to be clustered, its items and their names; `take` gives some of the rows and of the columns (all if None).

    `nodes` are the items of a networkx graph, whose communities are sets of them.
    """

    values: Any
    n_items: int
    n_columns: int | None
    take: Callable[[NDArray[np.intp], NDArray[np.intp] | None], Any]
    names: Names | None = None
    nodes: tuple[Any, ...] | None = None

    @property
    def is_graph(self) -> bool:
        return self.nodes is not None or hasattr(self.values, "vcount")


def as_data(X: Any) -> Data:
    """A table, array, sparse matrix, list of texts, AnnData object (its X_pca, or X), networkx or igraph graph."""
    if hasattr(X, "obs_names") and hasattr(X, "obsm"):
        inner = as_data(X.obsm.get("X_pca", X.X))
        return Data(inner.values, inner.n_items, inner.n_columns, inner.take, names_or_none(list(X.obs_names)))
    if hasattr(X, "number_of_nodes") and hasattr(X, "subgraph"):
        nodes = tuple(X.nodes)
        take = _no_columns(lambda rows: X.subgraph([nodes[i] for i in rows]).copy())
        return Data(X, len(nodes), None, take, names_or_none(list(nodes)), nodes)
    if hasattr(X, "vcount") and hasattr(X, "induced_subgraph"):
        names = names_or_none(X.vs["name"]) if "name" in X.vs.attributes() else None
        return Data(X, X.vcount(), None, _no_columns(lambda rows: X.induced_subgraph(rows.tolist())), names)
    if hasattr(X, "iloc"):
        take = _by_columns(X.iloc.__getitem__, lambda part, columns: part.iloc[:, columns])
        return Data(X, X.shape[0], X.shape[1], take, row_names(X))
    if hasattr(X, "tocsr"):
        rows_of = X.tocsr()
        take = _by_columns(rows_of.__getitem__, lambda part, columns: part[:, columns])
        return Data(rows_of, rows_of.shape[0], rows_of.shape[1], take)
    if isinstance(X, list | tuple) and X and isinstance(X[0], str):
        return Data(X, len(X), None, _no_columns(lambda rows: [X[i] for i in rows]))
    array = np.asarray(X)
    if array.ndim not in (1, 2) or not array.size:
        raise ValueError(f"X must be (items, columns), a graph or a list of texts, but its shape is {array.shape}")
    columns = array.shape[1] if array.ndim == 2 else None
    take = _by_columns(partial(array.take, axis=0), lambda part, chosen: part[:, chosen])
    return Data(array, len(array), columns, take)


def checksum(data: Data) -> str:
    """A checksum of the data and of the names of the items."""
    digest = hashlib.blake2b(repr((data.names, data.nodes)).encode(), digest_size=16)
    for part in _parts(data):
        array = np.asarray(part)
        digest.update(repr(array.tolist()).encode() if array.dtype == object else array.tobytes())
    return digest.hexdigest()


def _parts(data: Data) -> list[Any]:
    values = data.values
    if data.nodes is not None:
        return [[repr(edge) for edge in values.edges(data=True)]]
    if data.is_graph:
        return [values.get_edgelist(), *(values.es[name] for name in values.es.attributes())]
    if hasattr(values, "iloc"):
        return [values.iloc[:, column].to_numpy() for column in range(values.shape[1])]
    return [values.data, values.indices, values.indptr] if hasattr(values, "tocsr") else [values]


def clusterer_words(clusterer: Any) -> str:
    """An estimator with its parameters, but for seeds and what has no words of its own, or the name of a function."""
    if hasattr(clusterer, "get_params"):
        told = [f"{name}={value!r}" for name, value in clusterer.get_params().items() if not _is_seed(name)]
        return f"{type(clusterer).__name__}({', '.join(each for each in told if ' at 0x' not in each)})"
    return str(getattr(clusterer, "__qualname__", type(clusterer).__name__))


def _no_columns(take: Callable[[NDArray[np.intp]], Any]) -> Callable[..., Any]:
    return lambda rows, columns: take(rows)


def _by_columns(take: Callable[[Any], Any], choose: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda rows, columns: take(rows) if columns is None else choose(take(rows), columns)


def as_runner(clusterer: Any) -> Runner:
    """The clusterer as a function of the data, a seed and settings."""
    if hasattr(clusterer, "umap_model") and hasattr(clusterer, "hdbscan_model"):  # BERTopic: of embeddings
        return _topics(clusterer)
    if hasattr(clusterer, "get_params") and (hasattr(clusterer, "fit_predict") or hasattr(clusterer, "fit")):
        return lambda data, seed, settings: _fit(clusterer, data, seed, settings)
    if callable(clusterer):
        return _function(clusterer)
    raise TypeError(
        "clusterer must be a scikit-learn estimator or pipeline, or a function (X, seed) -> labels, "
        f"not {type(clusterer).__name__}"
    )


def is_seeded(clusterer: Any) -> bool:
    """Whether the seed of a run can change its result."""
    if hasattr(clusterer, "umap_model") or not hasattr(clusterer, "get_params"):
        return True
    return any(_is_seed(name) for name in clusterer.get_params())


def _is_seed(name: str) -> bool:
    return name == "random_state" or name.endswith("__random_state")


def _fit(clusterer: Any, data: Any, seed: int, settings: Settings) -> Any:
    from sklearn.base import clone

    fresh = clone(clusterer)
    fresh.set_params(**settings)
    fresh.set_params(**{name: seed for name in fresh.get_params() if _is_seed(name)})
    return fresh.fit_predict(data) if hasattr(fresh, "fit_predict") else fresh.fit(data).labels_


def _topics(model: Any) -> Runner:
    """The clustering step of BERTopic: its reduction, then its clusterer, on the embeddings of the documents."""

    def run(data: Any, seed: int, settings: Settings) -> Any:
        from sklearn.base import clone

        reduction = clone(model.umap_model)
        reduction.set_params(random_state=seed)
        return _fit(model.hdbscan_model, reduction.fit_transform(data), seed, settings)

    return run


def _function(function: Callable[..., Any]) -> Runner:
    try:
        known = inspect.signature(function).parameters
    except (TypeError, ValueError):  # built-in functions may have none
        known = {}  # type: ignore[assignment]
    name = next((name for name in SEEDS if name in known), None)
    takes_all = not known or any(own.kind is inspect.Parameter.VAR_KEYWORD for own in known.values())

    def run(data: Any, seed: int, settings: Settings) -> Any:
        if not takes_all and (wrong := [setting for setting in settings if setting not in known]):
            others = ", ".join(own for own in [*known][1:] if own not in SEEDS)
            raise ValueError(f"the function has no setting {wrong[0]!r}; its settings are: {others or 'none'}")
        given = {} if name is None else {name: seed}
        return function(data, **given, **settings) if given else function(data, seed, **settings)

    return run


def labels_from(found: Any, n_items: int, nodes: tuple[Any, ...] | None = None) -> Labels:
    """Labels of the items, −1 for noise, from what a clusterer returns.

    That is an array of labels, a partition with `membership` (igraph, leidenalg), a dictionary from node to label, or
    communities as sets of nodes (networkx).
    """
    if hasattr(found, "membership"):
        found = found.membership
    elif isinstance(found, Mapping):
        found = [found[node] for node in (range(n_items) if nodes is None else nodes)]
    elif not isinstance(found, np.ndarray) and hasattr(found, "__iter__"):
        found = list(found)
        if found and all(isinstance(part, set | frozenset) for part in found):
            found = _of_communities(found, n_items, nodes)
    labels = np.asarray(found)
    if labels.ndim != 1 or len(labels) != n_items:
        raise ValueError(f"the clusterer returned labels of shape {labels.shape} for {n_items} items")
    if problem := type_problem(labels.dtype):
        raise ValueError(f"the clusterer's result {problem}")
    try:
        return np.asarray(to_codes(labels[None, :], Missing((-1,)), "the clusterer's result")[0], np.intp)
    except BadLabel as bad:
        raise ValueError(f"the clusterer's {bad.at(f'label of item {bad.column}')}") from None


def _of_communities(parts: Iterable[Any], n_items: int, nodes: tuple[Any, ...] | None) -> Labels:
    place = {node: i for i, node in enumerate(range(n_items) if nodes is None else nodes)}
    labels = np.full(n_items, -1, np.intp)
    for number, part in enumerate(parts):
        for node in part:
            if labels[place[node]] >= 0:
                raise ValueError(f"the clusterer put node {node!r} into two communities")
            labels[place[node]] = number
    return labels
