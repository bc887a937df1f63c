"""Weighted regressions with robust errors: generalised linear models, multinomial logit and Cox, by Newton's method.

Records (rows) have weights, which may be negative, and belong to items. A fit solves Σ_r w_r s_r(β) = 0, with s_r the
score of record r. The covariance is the sandwich A⁻¹ B A⁻¹, with A = −Σ_r w_r ∂s_r/∂β and B = Σ_i u_i u_iᵀ, where u_i
sums w_r s_r over the records of item i.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from partita._support.arrays import Floats, Ints

MAX_STEPS, HALVINGS = 100, 30
#: A fit has converged if a Newton step changes no coefficient by more, in its standard errors of the start.
SMALL_STEP = 1e-8
#: A risk set with a smaller share of all weights has none.
LEAST_RISK = 1e-9


class NoFit(ValueError):
    """The equations have no finite solution."""


@dataclass(frozen=True, eq=False)
class Records:
    """What a regression sees: predictors, outcome, weight and item of each record."""

    X: Floats  # (records, predictors)
    y: Floats  # (records,) numbers or codes; for Cox (records, 2): time and event
    weights: Floats
    items: Ints
    n_items: int
    clusters: Ints | None = None  # of each record, for Cox


@dataclass(frozen=True, eq=False)
class Step:
    """A regression at some coefficients: weighted log likelihood, weighted score of each record, information A."""

    value: float
    scores: Floats  # (records, coefficients)
    information: Floats


Family = Callable[[Records, Floats], Step]


def fit(family: Family, records: Records, n_coefficients: int, start: Floats | None = None) -> tuple[Floats, Floats]:
    """Coefficients and their covariance."""
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is told below
        beta, covariance = _newton(family, records, n_coefficients, start)
    if not (np.isfinite(covariance).all() and (np.diag(covariance) > 0).all()):
        raise NoFit("a coefficient has no finite standard error")
    return beta, covariance


def _newton(family: Family, records: Records, n_coefficients: int, start: Floats | None) -> tuple[Floats, Floats]:
    beta = np.zeros(n_coefficients) if start is None else start.copy()
    step = family(records, beta)
    for _ in range(MAX_STEPS):
        move = _solved(step.information, step.scores.sum(axis=0))
        beta, step, moved = _uphill(family, records, beta, step, move)
        if moved <= SMALL_STEP * (1 + np.abs(beta).max()):
            return beta, _sandwich(step, records)
        if np.abs(beta).max() > 1e6:
            break
    raise NoFit("the regression did not converge")


def _uphill(family: Family, records: Records, beta: Floats, step: Step, move: Floats) -> tuple[Floats, Step, float]:
    """The Newton step, halved until the likelihood does not fall."""
    for halving in range(HALVINGS):
        tried = beta + move * 0.5**halving
        found = family(records, tried)
        if np.isfinite(found.value) and found.value >= step.value - 1e-10 * abs(step.value):
            return tried, found, float(np.abs(tried - beta).max())
    return beta, step, 0.0


def _solved(information: Floats, right: Floats) -> Floats:
    if not np.isfinite(information).all():
        raise NoFit("the information matrix is not finite")
    try:
        np.linalg.cholesky(information)
    except np.linalg.LinAlgError:
        raise NoFit("the information matrix is not positive definite") from None
    return np.asarray(np.linalg.solve(information, right))


def _sandwich(step: Step, records: Records) -> Floats:
    by_item = np.zeros((records.n_items, step.scores.shape[1]))
    np.add.at(by_item, records.items, step.scores)
    bread = np.linalg.inv(step.information)
    return np.asarray(bread @ (by_item.T @ by_item) @ bread)


def gaussian(records: Records, beta: Floats) -> Step:
    """Least squares; the variance plays no part in the coefficients or the sandwich."""
    apart = records.y - records.X @ beta
    return _linear(records, -0.5 * apart**2, apart, np.ones_like(apart))


def binomial(records: Records, beta: Floats) -> Step:
    """Logistic regression of outcomes 0 and 1."""
    eta = records.X @ beta
    mean = expit(eta)
    return _linear(records, records.y * eta - np.logaddexp(0, eta), records.y - mean, mean * (1 - mean))


def poisson(records: Records, beta: Floats) -> Step:
    """Log-linear regression of counts."""
    eta = np.minimum(records.X @ beta, 700.0)
    mean = np.exp(eta)
    return _linear(records, records.y * eta - mean, records.y - mean, mean)


def _linear(records: Records, logs: Floats, residual: Floats, variance: Floats) -> Step:
    X, w = records.X, records.weights
    information = X.T @ (X * (w * variance)[:, None])
    return Step(float(w @ logs), X * (w * residual)[:, None], information)


def multinomial(n_categories: int) -> Family:
    """Multinomial logit with the first category as reference; coefficients (categories − 1, predictors), flat."""

    def at(records: Records, beta: Floats) -> Step:
        X, w = records.X, records.weights
        eta = np.column_stack([np.zeros(len(X)), X @ beta.reshape(n_categories - 1, -1).T])
        logs = eta - logsumexp(eta, axis=1, keepdims=True)
        chosen = records.y.astype(np.int64)
        shares = np.exp(logs[:, 1:])
        residual = w[:, None] * ((chosen[:, None] == np.arange(1, n_categories)) - shares)
        scores = (residual[:, :, None] * X[:, None, :]).reshape(len(X), -1)
        n_free, n_predictors = n_categories - 1, X.shape[1]
        information = np.empty((n_free, n_predictors, n_free, n_predictors))
        for a in range(n_free):
            for b in range(n_free):
                spread = w * shares[:, a] * ((a == b) - shares[:, b])
                information[a, :, b, :] = X.T @ (X * spread[:, None])
        value = float(w @ logs[np.arange(len(X)), chosen])
        return Step(value, scores, information.reshape(n_free * n_predictors, -1))

    return at


def cox(records: Records, beta: Floats) -> Step:
    """Cox's partial likelihood with Breslow's ties; robust scores of Lin & Wei (1989).

    Corrected weights are negative for some records, so that the risk of a cluster's items at risk may sum to less than
    zero. From the first such time on the cluster is left out, with its events, as if its items were censored: whether
    that time has come is known from the past, so that the equations stay unbiased. See `left_out_before`.
    """
    order, eta, sums = _risk_sets(records, beta)
    X, w, time, event = records.X[order], records.weights[order], records.y[order, 0], records.y[order, 1]
    own, risk = sums.own, sums.risk
    keep = ~_since(sums.by_cluster <= LEAST_RISK * np.abs(risk).sum())
    s0 = (sums.by_cluster * keep).sum(axis=1)
    events = w * event * (s0 > 0) * keep[np.arange(len(own)), own]
    s0 = np.where(s0 > 0, s0, 1.0)
    s1 = sum(keep[:, k, None] * sums.of(np.where(own == k, risk, 0.0)[:, None] * X) for k in range(keep.shape[1]))
    pairs = X[:, :, None] * X[:, None, :]
    s2 = sum(
        keep[:, k, None, None] * sums.of(np.where(own == k, risk, 0.0)[:, None, None] * pairs)
        for k in range(keep.shape[1])
    )
    mean = np.asarray(s1) / s0[:, None]
    spread = np.asarray(s2) / s0[:, None, None] - mean[:, :, None] * mean[:, None, :]
    information = np.einsum("r,rpq->pq", events, spread)
    # hazard and hazard-weighted means up to the record's time: events at times not above it, as its cluster sees them
    jumps, first = events / s0, np.searchsorted(-time, -time, side="left")
    seen = jumps[:, None] * keep
    later = np.cumsum(seen[::-1], axis=0)[::-1][first, own]
    later_mean = np.cumsum((seen[:, :, None] * mean[:, None, :])[::-1], axis=0)[::-1][first, own]
    scores = np.empty_like(X)
    scores[order] = events[:, None] * (X - mean) - risk[:, None] * (later[:, None] * X - later_mean)
    value = float(events @ (eta - eta.max() - np.log(s0)))
    return Step(value, scores, information)


@dataclass(frozen=True, eq=False)
class _RiskSets:
    """Records by falling time, and the sums over those that are at risk with each."""

    own: Ints  # the cluster of each record
    risk: Floats
    last: Ints  # the last record that is at risk at its time

    def of(self, values: Floats) -> Floats:
        """Sums of the values of the records at risk with each."""
        return np.asarray(np.cumsum(values, axis=0)[self.last])

    @cached_property
    def by_cluster(self) -> Floats:
        """Risk of the records of each cluster at risk, (records, clusters)."""
        return self.of(np.where(self.own[:, None] == np.arange(self.own.max() + 1), self.risk[:, None], 0.0))


def _risk_sets(records: Records, beta: Floats) -> tuple[Ints, Floats, _RiskSets]:
    order = np.argsort(-records.y[:, 0], kind="stable")
    time, eta = records.y[order, 0], records.X[order] @ beta
    risk = records.weights[order] * np.exp(eta - eta.max())
    own = np.zeros(len(order), np.int64) if records.clusters is None else records.clusters[order]
    return order, eta, _RiskSets(own, risk, np.searchsorted(-time, -time, side="right") - 1)


def _since(happens: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether it happens at the time of a record or before, (records, clusters); records are by falling time."""
    return np.logical_or.accumulate(happens[::-1])[::-1]


def left_out_before(records: Records, beta: Floats) -> tuple[int, int]:
    """Number of items with an event before which `cox` leaves out a cluster of negative risk, and with an event."""
    order, _, sums = _risk_sets(records, beta)
    event = records.y[order, 1] > 0
    below = event & _since(sums.by_cluster < -LEAST_RISK * np.abs(sums.risk).sum()).any(axis=1)
    return len(np.unique(records.items[order][below])), len(np.unique(records.items[order][event]))
