"""Bakk & Kuha's design (2018) for `pt.relate`: bias and coverage of the naive, averaged and corrected answers.

`python -m benchmarks.relate [--last 200]` adds a row per replication to results/runs/relate.csv.gz, where it is not
there yet, and writes their means to results/relate.csv. Three classes of six binary items, 1,000 persons, and a normal
outcome whose class means are 0, 1 and 2; draws are from the exact posterior of the classes. "slope" is that of the
estimated on the true contrasts; "error" the root of their mean squared error; "covered" the share of 95 % intervals
that have the true contrast. StepMix fits the classes to the items by maximum likelihood and corrects by BCH with modal
classes; "of StepMix's" is our answer with the memberships that it found.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np

import partita as pt
from benchmarks.record import read_runs, write_result, write_runs
from partita.search.settings import Search

NAME, SEED = "relate", 1
SEPARATIONS = (0.7, 0.8, 0.9)
N, DRAWS, ITEMS = 1_000, 100, 6
MEANS = np.array([0.0, 1.0, 2.0])
METHODS = ("naive", "averaged", "corrected", "stepmix", "of_stepmix")


def planted(rng: np.random.Generator, n: int = 600, separation: float = 0.8, draws: int = DRAWS) -> tuple[Any, ...]:
    """Classes, draws of the classes from their exact posterior, modal classes, and the binary items."""
    truth = rng.integers(3, size=n)
    likely = np.full((3, ITEMS), 1 - separation)
    likely[0], likely[1, :3] = separation, separation
    items = rng.random((n, ITEMS)) < likely[truth]
    posterior = np.prod(np.where(items[:, None, :], likely, 1 - likely), axis=2)
    posterior /= posterior.sum(axis=1, keepdims=True)
    labels = (rng.random((draws, n, 1)) > np.cumsum(posterior, axis=1)).sum(axis=2)
    return truth, labels, posterior.argmax(axis=1), items


def reported(labels: np.ndarray, modal: np.ndarray) -> pt.Estimate:
    """An estimate with the modal classes, whose order of clusters is that of the classes where these come first."""
    quick = Search(runs=1, n_jobs=1)
    best = pt.estimate(labels, "binder", search=quick, start=modal, check_draws=False, rng=1)
    return replace(best, labels=pt.canonical(modal))


def classes_of(modal: np.ndarray) -> np.ndarray:
    """The class of each cluster."""
    return np.array([modal[np.flatnonzero(pt.canonical(modal) == c)[0]] for c in range(3)])


def replicate(separation: float, number: int, stepmix: bool = True) -> dict[str, Any]:
    """Slope, mean squared error and coverage of each method."""
    rng = np.random.default_rng([SEED, number])
    truth, labels, modal, items = planted(rng, N, separation)
    outcome = MEANS[truth] + rng.normal(size=N)
    found = pt.relate(reported(labels, modal), outcome)
    means = MEANS[classes_of(modal)]
    true = means[1:] - means[0]
    row: dict[str, Any] = {"separation": separation, "replication": number}
    for method in METHODS[:3]:
        fit = getattr(found, method)
        row |= _errors(method, fit.estimate[1:], true)
        row[f"{method}_covered"] = float(np.mean(np.abs(fit.estimate[1:] - true) < 1.96 * fit.standard_error[1:]))
    if stepmix:
        for method, (contrasts, true) in zip(METHODS[3:], _stepmix(items, outcome, truth, number), strict=True):
            row |= _errors(method, contrasts, true)
    return row


def _errors(method: str, contrasts: np.ndarray, true: np.ndarray) -> dict[str, float]:
    return {
        f"{method}_slope": round(float(contrasts @ true / (true @ true)), 5),
        f"{method}_squared": round(float(np.mean((contrasts - true) ** 2)), 5),
    }


def _stepmix(items: np.ndarray, outcome: np.ndarray, truth: np.ndarray, seed: int) -> list[tuple[Any, Any]]:
    """Contrasts and true contrasts by StepMix's three steps, and by ours with its memberships."""
    from scipy.optimize import linear_sum_assignment
    from stepmix.stepmix import StepMix

    how = {"n_components": 3, "measurement": "binary", "n_steps": 3, "correction": "BCH", "assignment": "modal"}
    model = StepMix(
        structural="gaussian_unit", n_init=10, random_state=seed, verbose=0, progress_bar=0, max_iter=2_000, **how
    )
    model.fit(items.astype(float), outcome[:, None])
    shares = np.asarray(model.predict_proba(items.astype(float)))
    modal = shares.argmax(axis=1)
    overlap = np.array([[np.sum((modal == k) & (truth == c)) for c in range(3)] for k in range(3)])
    classes = linear_sum_assignment(-overlap)[1]
    own = np.asarray(model.get_parameters()["structural"]["means"]).ravel()
    rows = np.column_stack([shares, np.zeros(len(shares))])
    ours = pt.relate(pt.Memberships(rows, modal), outcome).corrected.estimate
    true = MEANS[classes][1:] - MEANS[classes][0]
    return [(own[1:] - own[0], true), (ours[1:], true)]


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By separation and method, the means over replications."""
    found = []
    for separation in SEPARATIONS:
        own = [row for row in rows if float(row["separation"]) == separation]
        for method in METHODS if own else ():
            slopes = np.array([float(row[f"{method}_slope"]) for row in own])
            squared = np.mean([float(row[f"{method}_squared"]) for row in own])
            covered = [float(row[f"{method}_covered"]) for row in own if f"{method}_covered" in row]
            found.append(
                {
                    "separation": separation,
                    "method": method,
                    "replications": len(own),
                    "slope": round(float(slopes.mean()), 3),
                    "standard_error": round(float(slopes.std(ddof=1) / np.sqrt(len(own))), 4),
                    "error": round(float(np.sqrt(squared)), 3),
                    "covered": round(float(np.mean(covered)), 3) if covered else "",
                }
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--last", type=int, default=200)
    last = parser.parse_args().last
    rows: list[dict[str, Any]] = [*read_runs(NAME)]
    have = {(float(row["separation"]), int(row["replication"])) for row in rows}
    jobs = [(s, number) for number in range(last) for s in SEPARATIONS if (s, number) not in have]
    rows += [replicate(*job) for job in jobs]
    write_runs(NAME, rows)
    write_result(NAME, summary(rows))
    print(*summary(rows), sep="\n")


if __name__ == "__main__":
    main()
