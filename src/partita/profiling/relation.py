"""The relation of clusters to outside variables, as `relate` finds it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from scipy.stats import norm

from partita._support.arrays import Floats
from partita._support.hints import plural
from partita._support.html import rows_table
from partita._support.optional import optional

METHODS = ("naive", "averaged", "corrected")


@dataclass(frozen=True, eq=False)
class Coefficients:
    """One fit: an entry per term.

    Attributes
    ----------
    estimate, standard_error : (terms,) arrays
        Coefficients and their robust standard errors.
    covariance : (terms, terms) array
        Their covariance.
    p_value : float
        Wald test that the clusters do not differ; that no covariate matters, if the clusters are the outcome.
    """

    estimate: Floats
    standard_error: Floats
    covariance: Floats
    p_value: float


@dataclass(frozen=True, eq=False, repr=False)
class Relation:
    """How clusters and variables outside the model are related: the result of `relate`.

    Attributes
    ----------
    terms : tuple of str
        The coefficients: contrasts with cluster 0, and covariates.
    naive, averaged, corrected : Coefficients
        With the reported clusters taken as observed; averaged over draws; corrected for classification error.
    classification : (clusters, clusters) array
        Probability that an item of cluster t (row) is reported in cluster s (column), from the draws.
    family : str
        The regression.
    outcome : str
        What was regressed.
    n_items : int
        Number of items with all values.
    level : float
        Level of the intervals.
    notes : tuple of str
        What a careful reader should know.
    """

    terms: tuple[str, ...]
    naive: Coefficients
    averaged: Coefficients
    corrected: Coefficients
    classification: Floats
    family: str
    outcome: str
    n_items: int
    level: float = 0.95
    notes: tuple[str, ...] = ()
    _told: Callable[[int], tuple[tuple[str, ...], tuple[str, ...]]] | None = None  # terms and notes, counted from

    @property
    def p_value(self) -> float:
        """Of the corrected fit."""
        return self.corrected.p_value

    def counted_from(self, first: int) -> Relation:
        """The same with the clusters counted from another number than 0."""
        if self._told is None:
            return self
        terms, notes = self._told(first)
        return replace(self, terms=terms, notes=notes)

    def in_words(self) -> str:
        """The answer in a sentence."""
        what = "The covariates and the clusters" if self.outcome == "cluster" else f"The clusters and {self.outcome}"
        verdict = "are related" if self.p_value < 1 - self.level else "show no clear relation"
        return (
            f"{what} {verdict} (corrected for classification error: p = {self.p_value:.2g}; with the clusters taken as"
            f" observed: p = {self.naive.p_value:.2g}; {plural(self.n_items, 'item')}, {self.family})."
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """One entry per term and method: estimate, standard error and interval."""
        width = float(norm.ppf((1 + self.level) / 2))
        for place, term in enumerate(self.terms):
            for method in METHODS:
                found: Coefficients = getattr(self, method)
                value, error = float(found.estimate[place]), float(found.standard_error[place])
                yield {
                    "term": term, "method": method, "estimate": value, "standard_error": error,
                    "low": value - width * error, "high": value + width * error,
                }  # fmt: skip

    def to_pandas(self) -> Any:
        """The entries of `rows` as a data frame."""
        pd = optional("pandas", "tables of results need pandas", "io")
        return pd.DataFrame(list(self.rows()))

    def __repr__(self) -> str:
        wide = max(map(len, self.terms))
        lines = "".join(
            f"\n  {row['term']:<{wide}}  {row['method']:<9}  {row['estimate']:>9.4g}"
            f"  [{row['low']:.4g}, {row['high']:.4g}]"
            for row in self.rows()
        )
        notes = "".join(f"\n  {note}" for note in self.notes)
        return f"Relation: {self.outcome}, {self.family}, {plural(self.n_items, 'item')}{lines}{notes}"

    def _repr_html_(self) -> str:
        header = ("term", "method", "estimate", "standard error", "low", "high")
        rows = ([f"{v:.4g}" if isinstance(v, float) else str(v) for v in row.values()] for row in self.rows())
        return rows_table(f"{self.outcome}, {self.family}", header, rows)
