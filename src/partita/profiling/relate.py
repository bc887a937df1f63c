"""Clusters and outside variables: naive, averaged over draws, and corrected for classification error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import chi2, norm

from partita._support.arrays import Floats, Ints, Labels
from partita._support.hints import plural
from partita._support.optional import data_frame
from partita._support.shown import rows_table
from partita._support.validate import check_choice, check_level
from partita.estimation.result import Estimate
from partita.profiling import regressions
from partita.profiling.outside import Outcome, Predictors, as_outcome, as_predictors, check_outside, questions
from partita.profiling.regressions import Family, NoFit, Records, fit
from partita.uncertainty.memberships import Memberships, memberships

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
        return data_frame(list(self.rows()))

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


FAMILIES = ("gaussian", "binomial", "multinomial", "poisson", "cox")
#: A matrix of classification probabilities whose least singular value is smaller cannot be inverted to any purpose.
LEAST_SINGULAR = 0.05
#: Shares above which a note says so.
MUCH_OTHER, MUCH_ERROR = 0.05, 0.2


def relate(
    estimate: Estimate | Memberships,
    outcome: Any = None,
    covariates: Any = None,
    family: str = "gaussian",
    *,
    level: float = 0.95,
) -> Relation:
    """Relation of the reported clusters to a variable that was not in the model, with their uncertainty.

    Items are reported in clusters c with error, so that a regression on c is attenuated. With P(i, t) the probability
    that item i belongs to cluster t (`memberships`, without "other"), the classification probabilities are

    D_ts = P(reported in s | belongs to t) = Σ_i P(i, t) 1{c_i = s} / Σ_i P(i, t).

    Each fit is a regression over records (i, t), item i as a member of cluster t, with weights

    naive: 1{c_i = t};  averaged over draws: P(i, t);  corrected: (D⁻¹)_{c_i t}.

    The corrected weights have mean 1{i belongs to t} if the outcome depends on the item through its cluster alone,
    which makes the equations unbiased (Bolck, Croon & Hagenaars). Averaging over draws is biased towards no relation:
    the draws do not know the outcome. With three classes of six binary items, averaged contrasts were 0.46, 0.76 and
    0.94 of the true ones where the likely answer has probability 0.7, 0.8 and 0.9. Standard errors are robust, with the
    records of an item taken together, and D is taken as known. In a corrected Cox regression the items of a
    cluster that are at risk may weigh less than zero in sum; from then on the cluster is left out, as if its items were
    censored, and a note says so.

    Parameters
    ----------
    estimate : Estimate or Memberships
        The reported clusters and their draws, or the result of `memberships`.
    outcome : (items,) array_like, table with one column, or None
        Numbers ("gaussian"), two values ("binomial"), categories ("multinomial"), counts ("poisson"), or
        (items, 2) times and events ("cox": 1 for an event, 0 for a censored time). None: the clusters are the outcome,
        regressed on the covariates by multinomial logit. Items with missing values are left out.
    covariates : (items, columns) array_like or table, optional
        Further predictors; text becomes one indicator per category but the first.
    family : str
        "gaussian", "binomial", "multinomial", "poisson" or "cox".
    level : float
        Level of the intervals.

    Returns
    -------
    Relation

    Examples
    --------
    >>> import partita as pt
    >>> rng = np.random.default_rng(1)
    >>> truth = np.repeat([0, 1], 100)
    >>> draws = np.where(rng.random((50, 200)) < 0.1, 1 - truth, truth)
    >>> found = pt.relate(pt.estimate(draws, rng=1), truth + rng.normal(size=200))
    >>> found.terms, bool(found.corrected.estimate[1] > found.averaged.estimate[1])
    (('cluster 0', 'cluster 1 - cluster 0'), True)

    References
    ----------
    Bolck, Croon & Hagenaars (2004), Polit. Anal. 12; Vermunt (2010), Polit. Anal. 18; Bakk & Kuha (2018), Psychometrika
    83; Bray, Lanza & Tan (2015), Struct. Equ. Model. 22, for the bias of averaging.
    """
    if not isinstance(estimate, Estimate | Memberships):
        raise TypeError(f"relate needs a result of estimate, not {type(estimate).__name__}")
    check_choice(family, "family", FAMILIES)
    wanted = check_level(level)
    found = estimate if isinstance(estimate, Memberships) else memberships(estimate)
    names, n = found.names, found.labels.size
    predictors = as_predictors(covariates, names, n)
    if outcome is None and not predictors.terms:
        raise TypeError("outcome is missing: without covariates there is nothing to relate the clusters to")
    response = None if outcome is None else as_outcome(outcome, family, names, n)
    if response is not None and response.name in predictors.terms:
        raise ValueError(f"covariates: {response.name!r} is the outcome")
    check_outside(response, predictors, getattr(getattr(estimate, "sample", None), "inputs", None))
    return _related(found, response, predictors, family, wanted)


def _related(
    found: Memberships, response: Outcome | None, predictors: Predictors, family: str, level: float
) -> Relation:
    labels, probabilities, clusters = found.labels, found.probabilities, found.n_clusters
    if clusters < 2:
        raise ValueError("the estimate has one cluster: there is nothing to relate")
    belongs = _of_reported(probabilities, labels)
    classification = classification_matrix(belongs, labels)
    used = (labels >= 0) & predictors.known & (True if response is None else response.known)
    if response is None:
        design = _cluster_design(predictors.values[used], predictors.terms, clusters)
    else:
        design = _outcome_design(response, family, predictors.values[used], predictors.terms, clusters, used)
    weights = {name: each[used] for name, each in _weights(belongs, labels, classification).items()}
    naive, averaged, corrected = _fits(design, weights)
    notes = [
        *questions(response, family, predictors),
        *_left_out(used),
        *(_cox_notes(design.records(weights["corrected"]), corrected) if family == "cox" else ()),
    ]

    def told(first: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return design.terms(first), (*notes, *_notes(labels, probabilities, classification, first))

    shown, name = ("multinomial", "cluster") if response is None else (family, response.name)
    own = (naive, averaged, corrected, classification, shown, name, int(used.sum()), level)
    return Relation(told(0)[0], *own, told(0)[1], told)


def _cox_notes(records: Records, corrected: Coefficients) -> list[str]:
    below, events = regressions.left_out_before(records, corrected.estimate)
    told = "A cluster is left out once the corrected number of its items at risk falls below zero, which was so before"
    return [f"{told} {below:,} of {plural(events, 'event')}."] if below else []


def _of_reported(probabilities: Floats, labels: Labels) -> Floats:
    """Probabilities of the reported clusters alone; an item that is never in one of them counts for its own."""
    inside = probabilities[:, :-1]
    total = inside.sum(axis=1, keepdims=True)
    own = labels[:, None] == np.arange(inside.shape[1])
    return np.where(total > 0, inside / np.where(total > 0, total, 1.0), own)


def classification_matrix(belongs: Floats, labels: Labels) -> Floats:
    """P(reported in s | belongs to t), (clusters, clusters); rows sum to 1.

    >>> classification_matrix(np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]]), np.array([0, 0, 1]))
    array([[0.85, 0.15],
           [0.3 , 0.7 ]])
    """
    placed = labels >= 0
    reported = (labels[placed, None] == np.arange(belongs.shape[1])).astype(np.float64)
    joint = belongs[placed].T @ reported
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))


def _weights(belongs: Floats, labels: Labels, classification: Floats) -> dict[str, Floats]:
    """The weight of each item as a member of each cluster, for each method."""
    if np.linalg.svd(classification, compute_uv=False)[-1] < LEAST_SINGULAR:
        rates = ", ".join(f"{rate:.2f}" for rate in np.diag(classification))
        raise ValueError(
            "the clusters are too uncertain for a correction: the probabilities that their items are reported in them"
            f" are {rates}"
        )
    placed = np.where(labels >= 0, labels, 0)
    naive = (placed[:, None] == np.arange(belongs.shape[1])).astype(np.float64)
    return {"naive": naive, "averaged": belongs, "corrected": np.linalg.inv(classification)[placed]}


@dataclass(frozen=True, eq=False)
class _Design:
    """A regression, but for its weights: names of the coefficients, those that the test is about, and the records."""

    terms: Callable[[int], tuple[str, ...]]  # with the clusters counted from a number
    tested: Ints
    family: Family
    predictors: Callable[[Ints, Ints], Floats]  # of records (item, cluster)
    outcomes: Callable[[Ints, Ints], Floats]

    def records(self, weights: Floats) -> Records:
        item, cluster = np.nonzero(weights)
        X, y = self.predictors(item, cluster), self.outcomes(item, cluster)
        return Records(X, y, weights[item, cluster], item, len(weights), cluster)


def _outcome_design(
    response: Outcome, family: str, Z: Floats, covariates: tuple[str, ...], clusters: int, used: Any
) -> _Design:
    """The outcome on clusters, in contrast to cluster 0, and covariates."""
    start = int(family != "cox")
    tested, y, width = np.arange(clusters - 1) + start, response.values[used], clusters - 1 + start + len(covariates)
    outcomes = [f"{name}: " for name in response.categories[1:]] if family == "multinomial" else [""]
    tested = np.concatenate([tested + place * width for place in range(len(outcomes))])

    def terms(first: int) -> tuple[str, ...]:
        own = [f"cluster {first}"] * start
        own += [f"cluster {t + first} - cluster {first}" for t in range(1, clusters)]
        return tuple(outcome + term for outcome in outcomes for term in (*own, *covariates))

    def predictors(item: Ints, cluster: Ints) -> Floats:
        indicators = (cluster[:, None] == np.arange(1 - start, clusters)) | (np.arange(1 - start, clusters) == 0)
        return np.column_stack([indicators.astype(np.float64), Z[item]])

    return _Design(terms, tested, _family(family, response), predictors, lambda item, cluster: y[item])


def _family(family: str, response: Outcome) -> Family:
    if family == "multinomial":
        return regressions.multinomial(len(response.categories))
    return {
        "gaussian": regressions.gaussian, "binomial": regressions.binomial, "poisson": regressions.poisson,
        "cox": regressions.cox,
    }[family]  # fmt: skip


def _cluster_design(Z: Floats, covariates: tuple[str, ...], clusters: int) -> _Design:
    """The clusters on covariates: logits in contrast to cluster 0."""
    own = ["intercept", *covariates]
    tested = np.flatnonzero(np.arange((clusters - 1) * len(own)) % len(own) > 0)

    def terms(first: int) -> tuple[str, ...]:
        return tuple(f"cluster {t + first}: {term}" for t in range(1, clusters) for term in own)

    def predictors(item: Ints, cluster: Ints) -> Floats:
        return np.column_stack([np.ones(len(item)), Z[item]])

    return _Design(
        terms, tested, regressions.multinomial(clusters), predictors, lambda item, cluster: cluster.astype(np.float64)
    )


def _fits(design: _Design, weights: dict[str, Floats]) -> list[Coefficients]:
    found: list[Coefficients] = []
    for method in METHODS:
        start = found[0].estimate if found else None
        try:
            beta, covariance = fit(design.family, design.records(weights[method]), len(design.terms(0)), start)
        except NoFit as problem:
            raise ValueError(
                f"the {method} regression has no finite solution ({problem}): a cluster may determine the outcome, a"
                " cluster may have too few items with all values, or covariates may repeat each other"
                + (", or the clusters are too uncertain for so few items" if method == "corrected" else "")
            ) from None
        found.append(_coefficients(beta, covariance, design.tested))
    return found


def _coefficients(beta: Floats, covariance: Floats, tested: Ints) -> Coefficients:
    part = beta[tested]
    wald = float(part @ np.linalg.solve(covariance[np.ix_(tested, tested)], part))
    return Coefficients(beta, np.sqrt(np.diag(covariance)), covariance, float(chi2.sf(wald, len(tested))))


def _left_out(used: Any) -> list[str]:
    left = int((~used).sum())
    return [f"{plural(left, 'item')} without a cluster or with missing values left out."] if left else []


def _notes(labels: Labels, probabilities: Floats, classification: Floats, first: int) -> list[str]:
    notes = []
    other = float(np.nanmean(probabilities[labels >= 0, -1]))
    if other > MUCH_OTHER:
        notes.append(
            f"{other:.0%} of the probability is in clusters that are not reported; it was divided among those that are."
        )
    for cluster, rate in enumerate(np.diag(classification)):
        if rate < 1 - MUCH_ERROR:
            told = f"Of the items of cluster {cluster + first}, {rate:.0%} are reported in it: the correction is large."
            notes.append(told)
    return notes
