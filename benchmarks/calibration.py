"""Calibration of NBCE's pair probabilities on simulated dependent ensembles, for several weights and priors.

`python -m benchmarks.calibration` prints one row per design and choice: the largest difference between the stated
probability and the frequency in the truth, over tenths with at least 1 % of the pairs, with a 90 % interval over
ensembles (pairs of one ensemble share its errors) and the share of the pairs that are in this tenth; the mean absolute
difference over all pairs, by tenths; the share of the pairs whose tenth is within 0.1; the log predictive density per
item of one more noisy copy; clusters; adjusted Rand index. Design E is of independent clusterings. "parents alone" is
what weights can hope for: the independent clusterings from which the dependent ones were copied. "the simulation
itself" is the posterior given its own shares and errors, which is calibrated: its differences are those of chance.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

import partita as pt
from benchmarks.dependence import predictive
from partita.ensembles import NBCE, as_base, consensus, dependence
from partita.ensembles.dependence import conditional_dependence, weights_of
from partita.models import Sampling

FIRST_SEED = 200
GOAL = 0.1
LEAST = 0.01  # share of the pairs that a tenth needs
SAMPLING = {"sampling": Sampling(draws=200, warmup=200, chains=2, n_jobs=1), "truncation": 50}
EARLIER = (1.0, 1.0)  # the prior of α0 that was the default before calibration was measured


@dataclass(frozen=True)
class Design:
    """Items, shares of the clusters, copies of each parent, wrong labels of parents, and further ones of copies."""

    n_items: int
    shares: tuple[float, ...]
    copies: tuple[int, ...]
    noise: float
    own: float


DESIGNS = {
    "A": Design(200, (0.5, 0.3, 0.2), (3,) * 4, 0.2, 0.05),
    "B": Design(200, (0.2,) * 5, (5,) * 3, 0.2, 0.03),
    "C": Design(250, (0.4, 0.3, 0.15, 0.15), (6,) * 2, 0.15, 0.05),
    "D": Design(200, (0.4, 0.3, 0.3), (2,) * 5, 0.3, 0.1),
    "E": Design(200, (0.4, 0.3, 0.2, 0.1), (1,) * 12, 0.15, 0.0),
    "F": Design(240, (0.35, 0.25, 0.2, 0.2), (2,) * 6, 0.25, 0.05),
    "G": Design(200, (0.4, 0.3, 0.3), (8, 1, 1, 1, 1), 0.2, 0.03),
    "H": Design(600, (0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05), (4,) * 4, 0.2, 0.05),
    "I": Design(150, (0.6, 0.4), (1, 2, 3, 4), 0.3, 0.05),
    "J": Design(400, (0.25,) * 4, (5, 5, 1, 1, 1), 0.25, 0.03),
}


def simulate(design: Design, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Base clusterings, the truth, one more parent, and the parents."""
    rng = np.random.default_rng(seed)
    k = len(design.shares)
    truth = rng.choice(k, design.n_items, p=design.shares)

    def changed(labels: np.ndarray, share: float) -> np.ndarray:
        labels = labels.copy()
        wrong = rng.random(len(labels)) < share
        labels[wrong] = rng.integers(k, size=wrong.sum())
        return labels

    parents = [changed(truth, design.noise) for _ in range(len(design.copies) + 1)]
    copies = zip(parents[:-1], design.copies, strict=True)
    base = [changed(parent, design.own) for parent, number in copies for _ in range(number)]
    return np.column_stack(base), truth, parents[-1], np.column_stack(parents[:-1])


def choices(base: np.ndarray, parents: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray, dict[str, Any]]]:
    """Clusterings, their weights, and settings of NBCE."""
    weights, ones = dependence(base).weights, np.ones(base.shape[1])
    return {
        "plain": (base, ones, {"alpha_prior": EARLIER}),
        "dependence": (base, weights, {}),
        "alpha ~ Gamma(1, 1)": (base, weights, {"alpha_prior": EARLIER}),
        "parents alone": (parents, np.ones(parents.shape[1]), {}),
        "weights 1": (base, ones, {}),
        "given the VI consensus": (base, by_vi_consensus(base), {}),
        "dependence x 0.75": (base, 0.75 * weights, {}),
        "alpha ~ Gamma(1, 10)": (base, weights, {"alpha_prior": (1.0, 10.0)}),
        "alpha ~ Gamma(1, 100)": (base, weights, {"alpha_prior": (1.0, 100.0)}),
        "beta = 1": (base, weights, {"beta": 1.0}),
        "beta ~ Gamma(20, 20)": (base, weights, {"beta_prior": (20.0, 20.0)}),
    }


def by_vi_consensus(base: np.ndarray) -> np.ndarray:
    """Weights from shared information given the expected-VI consensus alone, each given the other."""
    read, rng = as_base(base), np.random.default_rng(1)
    alike = conditional_dependence(read, np.zeros(len(base), dtype=np.intp), rng)
    weights = weights_of(np.maximum(alike, 0.0) ** 8)
    for _ in range(3):
        given = consensus(read, weights=weights, rng=1)
        weights = weights_of(conditional_dependence(read, given, rng))
    return weights


def simulation_itself(design: Design, base: np.ndarray) -> np.ndarray:
    """Probability of being together, (items, items), given the shares and the errors of the simulation."""
    k = len(design.shares)

    def passed_on(share: float) -> np.ndarray:  # [label, label after errors]
        return (1.0 - share) * np.eye(k) + share / k

    logs = np.tile(np.log(design.shares), (len(base), 1))
    groups = np.split(base, np.cumsum(design.copies)[:-1], axis=1)
    for copies in groups:
        of_parent = np.prod([passed_on(design.own)[:, column].T for column in copies.T], axis=0)
        logs += np.log(of_parent @ passed_on(design.noise).T)
    clusters = softmax(logs, axis=1)
    return np.asarray(clusters @ clusters.T)


def tenths(similarity: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Pairs, sum of stated probabilities, and pairs that are together in the truth, by tenth of the stated."""
    upper = np.triu_indices(len(truth), 1)
    stated, together = similarity[upper], (truth[:, None] == truth)[upper]
    tenth = np.minimum((10 * stated).astype(int), 9)
    return np.column_stack([np.bincount(tenth, values, 10) for values in (np.ones(len(stated)), stated, together)])


def differences(counts: np.ndarray) -> np.ndarray:
    """Frequency in the truth minus stated probability of each tenth, from the counts of `tenths`."""
    return (counts[:, 2] - counts[:, 1]) / np.maximum(counts[:, 0], 1)


def worst_tenth(counts: np.ndarray) -> str:
    """The largest difference of a tenth with enough pairs, its interval over (ensembles, 10, 3) counts, its share."""
    total = counts.sum(axis=0)
    share = total[:, 0] / total[:, 0].sum()
    worst = int(np.argmax(np.where(share > LEAST, np.abs(differences(total)), -1)))
    again = np.random.default_rng(1).integers(len(counts), size=(500, len(counts)))
    low, high = np.quantile([differences(counts[rows].sum(axis=0))[worst] for rows in again], (0.05, 0.95))
    return f"{differences(total)[worst]:+.2f} [{low:+.2f}, {high:+.2f}] of {share[worst]:.0%}"


def scored(design: Design, seed: int, most: int) -> Iterator[tuple[str, tuple[np.ndarray, float, float, float]]]:
    """Of one ensemble, for the first choices: tenths, predictive density, clusters and adjusted Rand index."""
    base, truth, held_out, parents = simulate(design, seed)
    exact = simulation_itself(design, base)
    yield "the simulation itself", (tenths(exact, truth), np.nan, np.nan, np.nan)
    for choice, (data, weights, settings) in list(choices(base, parents).items())[:most]:
        model = NBCE(weights=weights, random_state=seed, **SAMPLING, **settings).fit(data)
        scores = predictive(model, held_out), model.n_clusters_, pt.adjusted_rand(model.labels_, truth)
        yield choice, (tenths(pt.similarity(model.chain_), truth), *scores)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ensembles", type=int, default=4, help="of each design")
    parser.add_argument("--designs", default="".join(DESIGNS))
    parser.add_argument("--choices", type=int, default=99, help="only the first")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    for name in given.designs:
        found: dict[str, list[tuple[np.ndarray, float, float, float]]] = {}
        for seed in range(FIRST_SEED, FIRST_SEED + given.ensembles):
            for choice, row in scored(DESIGNS[name], seed, given.choices):
                found.setdefault(choice, []).append(row)
        for choice, rows in found.items():
            counts = np.array([row[0] for row in rows])
            total = counts.sum(axis=0)
            share, off = total[:, 0] / total[:, 0].sum(), np.abs(differences(total))
            means = [float(np.mean([row[at] for row in rows])) for at in (1, 2, 3)]
            print(
                f"{name} {choice:24} {worst_tenth(counts):28} {share @ off:.3f} {share[off <= GOAL].sum():4.0%}"
                f" {means[0]:.3f} {means[1]:.1f} {means[2]:.2f}", flush=True
            )  # fmt: skip


if __name__ == "__main__":
    main()
