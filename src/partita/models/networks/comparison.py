"""Several block models of one network beside each other: the ICL where it means the same, held-out dyads where not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from partita._support.hints import plural
from partita._support.optional import data_frame
from partita._support.shown import Noted, rows_table
from partita._support.validate import check_rng
from partita.models.networks.core import EdgeModel
from partita.models.networks.fit import BlockFit
from partita.models.networks.nested import NestedBlockModel
from partita.models.networks.prediction import HeldOut, held_out
from partita.models.networks.sbm import StochasticBlockModel

ComparableModel = StochasticBlockModel | NestedBlockModel


@dataclass(frozen=True)
class ComparedModel:
    """One row: the model, its fit, and how it stands. `below` is the deficit of its ICL from the best of those with the
    same `scale`; `exact` whether the ICL is. `held_out` is None if no dyads were hidden."""

    model: ComparableModel
    fit: BlockFit
    scale: str
    below: float
    exact: bool
    held_out: HeldOut | None


@dataclass(frozen=True, eq=False, repr=False)
class ModelComparison(Noted):
    """The models, the best first: by the log score of held-out dyads, or by ICL if they share one scale.

    ICLs are compared within a `scale` alone. "binary" is a probability of a network of 0 and 1, "counts" (also
    degree-corrected models) one of a network of counts, of which the network at hand is one among many more. Held-out
    dyads are scored by the presence of an edge, which all models predict.
    """

    rows: tuple[ComparedModel, ...]

    @property
    def best(self) -> BlockFit:
        """The fit of the first row."""
        return self.rows[0].fit

    def to_pandas(self) -> Any:
        """One row per model, the best first."""
        return data_frame([dict(zip(self.header(), row, strict=True)) for row in self.cells()])

    @staticmethod
    def header() -> tuple[str, ...]:
        """The names of the columns."""
        return ("model", "clusters", "icl", "scale", "below", "exact", "auc", "log_score")

    def cells(self) -> list[tuple[Any, ...]]:
        """One row per model."""
        nothing = (float("nan"), float("nan"))
        scores = [(r.held_out.auc, r.held_out.log_score) if r.held_out else nothing for r in self.rows]
        return [
            (repr(r.model), r.fit.n_clusters, r.fit.icl, r.scale, r.below, r.exact, *score)
            for r, score in zip(self.rows, scores, strict=True)
        ]

    def __repr__(self) -> str:
        lines = [
            f"  {name}: {plural(k, 'cluster')}, ICL {icl:.2f}"
            f" ({scale}{'' if exact else ', approximate'}; {below:.2f} below)"
            + ("" if np.isnan(log_score) else f", held-out AUC {area:.3f}, log score {log_score:.4f}")
            for name, k, icl, scale, below, exact, area, log_score in self.cells()
        ]
        return "\n".join([f"ModelComparison of {len(lines)} models, the best first:", *lines])

    def _repr_html_(self) -> str:
        cells = [[f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in row] for row in self.cells()]
        return rows_table("Models, the best first", list(self.header()), cells)


def compare_models(
    graph: Any, models: Sequence[ComparableModel], *, share: float | None = 0.1, rng: Any = None, **search: Any
) -> ModelComparison:
    """Fit several block models to one network and rank them on one scale.

    The scale is the mean log score of dyads that are hidden from all of them (the same ones), or the ICL with
    `share=None`. The ICL of binary edges and that of counts or degree correction are log probabilities of different
    data and do not rank against each other: `share=None` raises an error if both are there, and models that
    differ in `directed` or `loops`, which have different dyads, always do.

    Parameters
    ----------
    graph : anything that `as_graph` takes
        The network.
    models : sequence of StochasticBlockModel or NestedBlockModel
        Models with the same `directed` and `loops`.
    share : float or None
        Share of the dyads to hide; None hides none and ranks by ICL.
    rng : None, int or numpy Generator
        Seed or source of random numbers; the same seed gives the same result.
    **search : optional
        Arguments of `maximize`, for example ``restarts``.

    Returns
    -------
    ModelComparison

    Examples
    --------
    >>> from partita.datasets import load_karate
    >>> sbm = StochasticBlockModel
    >>> models = [sbm(directed=False), sbm(directed=False, blocks="affiliation")]
    >>> compare_models(load_karate().data, models, share=None, rng=1).best.n_clusters
    4
    """
    _check_comparable(models)
    seed = int(check_rng(rng).integers(2**63))
    fits = [model.maximize(graph, rng=seed, **search) for model in models]
    scales = [_scale(fit.edges) for fit in fits]
    if share is None and len(set(scales)) > 1:
        raise ValueError(
            f"models have ICLs of different data ({', '.join(sorted(set(scales)))}); give share= to hide dyads"
        )
    hide = "absent" if any(model.degree_corrected for model in models) else "missing"
    rows = []
    for model, fit, scale in zip(models, fits, scales, strict=True):
        top = max(other.icl for other, name in zip(fits, scales, strict=True) if name == scale)
        scored = None if share is None else held_out(model, graph, share, seed, hide=hide, **search)
        exact = not model.degree_corrected or model.loops
        rows.append(ComparedModel(model, fit, scale, top - fit.icl, exact, scored))
    rows.sort(key=lambda row: -(row.held_out.log_score if row.held_out else row.fit.icl))
    return ModelComparison(tuple(rows))


def _scale(edges: EdgeModel) -> str:
    return "counts" if edges.counts else edges.kind


def _check_comparable(models: Sequence[ComparableModel]) -> None:
    if not models or not all(isinstance(model, ComparableModel) for model in models):
        raise TypeError("models must be a list of StochasticBlockModels or NestedBlockModels, at least one")
    for name in ("directed", "loops"):
        values = [getattr(model, name) for model in models]
        if len(set(values)) > 1:
            raise ValueError(f"models differ in {name}: they describe different sets of dyads and cannot be compared")
