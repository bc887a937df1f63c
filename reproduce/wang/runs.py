"""One repetition on one data set: every method fitted, scored, and written down at once."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import partita as pt
from partita.ensembles import BCE, NBCE, MixtureModel, consensus, cspa, hgpa, kmeans_ensemble, mcla
from wang.data import synthetic, synthetic_truth

FIELDS = ("repetition", "dataset", "method", "metric", "value")
Rows = list[tuple[str, str, float]]  # method, metric, value
Labels = NDArray[np.intp]


@dataclass(frozen=True)
class Effort:
    """Length of the Gibbs chains, and starts of the variational methods."""

    draws: int
    warmup: int
    restarts: int

    def gibbs(self, seed: int, prior: str = "fsd", **settings: Any) -> NBCE:
        lengths = {"draws": self.draws, "warmup": self.warmup, "thin": 2, "chains": 2}
        return NBCE("gibbs", prior, random_state=seed, weights=None, **lengths, **settings)


class Results:
    """Rows on disk, so that a run can stop and go on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.exists():
            self.forget()

    def forget(self) -> None:
        """Begins anew."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(",".join(FIELDS) + "\n")

    def frame(self) -> pd.DataFrame:
        return pd.read_csv(self.path)

    def need(self, repetition: int, dataset: str, make: Callable[[], Rows]) -> None:
        """Makes and writes the rows of a data set, unless they are there."""
        done = self.frame()
        if ((done.repetition == repetition) & (done.dataset == dataset)).any():
            return
        rows = make()
        with self.path.open("a", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([repetition, dataset, method, metric, f"{value:.6g}"] for method, metric, value in rows)
        print(f"repetition {repetition}, {dataset}", flush=True)


def pair_f1(found: Labels, truth: Labels) -> float:
    """Harmonic mean of the precision and recall of pairs: those found together against those of one class."""
    table = pd.crosstab(found, truth).to_numpy(float)
    both, in_found, in_truth = ((n * (n - 1)).sum() for n in (table, table.sum(axis=1), table.sum(axis=0)))
    return float(2 * both / (in_found + in_truth))


F1 = {
    "f1": pt.f1,  # average over the clusters found, as the paper's formula reads
    "f1 by class": lambda found, truth: pt.f1(truth, found),  # the same formula with A and B exchanged
    "f1 of pairs": pair_f1,
}


def scores(method: str, found: Labels, truth: Labels) -> Rows:
    agreement = {**F1, "ari": lambda x, y: pt.adjusted_rand(y, x), "nmi": lambda x, y: pt.nmi(y, x)}
    counted = [(method, "clusters", float(found.max() + 1)), (method, "outliers", outliers(found))]
    return [(method, name, score(found, truth)) for name, score in agreement.items()] + counted


def outliers(labels: Labels) -> float:
    """Per cent of the items that are a cluster of their own."""
    return 100.0 * float((np.bincount(labels) == 1).sum()) / len(labels)


def base_scores(base: Labels, truth: Labels) -> Rows:
    rows: Rows = []
    for name, score in F1.items():
        found = [score(column, truth) for column in base.T]
        rows += [("base max", name, max(found)), ("base avg", name, float(np.mean(found)))]
    return rows


def real(X: NDArray[np.float64], truth: Labels, seed: int, effort: Effort) -> Rows:
    """Ten k-means clusterings of a data set; a quarter of its items is held out."""
    rng = np.random.default_rng(seed)
    k = len(np.unique(truth))
    base = kmeans_ensemble(X, k, rng=rng)
    held_out = rng.permutation(len(X)) < len(X) // 4
    train, test, truth = base[~held_out], base[held_out], truth[~held_out]
    rows = base_scores(train, truth)
    for name, method in {"CSPA": cspa, "HGPA": hgpa, "MCLA": mcla}.items():
        rows += scores(name, method(train, k, rng=seed), truth)
    rows += scores("expected VI", consensus(train, "vi", rng=seed), truth)
    levels = [np.unique(column) for column in base.T]
    for name, model in models(k, seed, effort).items():
        model.fit(train, levels=levels)
        rows += scores(name, model.labels_, truth)
        rows += [(name, "train", model.perplexity(train)), (name, "test", model.perplexity(test))]
        if isinstance(model, NBCE):
            rows += concentrations(name, model)
    return rows


def models(k: int, seed: int, effort: Effort) -> dict[str, Any]:
    starts = {"restarts": effort.restarts, "random_state": seed}
    return {
        "MM": MixtureModel(k, random_state=seed),
        "MM, smoothed": MixtureModel(k, smoothing=0.5, random_state=seed),
        "BCE": BCE(k, **starts),
        "BCE, smoothed": BCE(k, smoothing=0.5, **starts),
        "NBCE": effort.gibbs(seed),
        "NBCE, TSB": effort.gibbs(seed, "tsb"),
        "NBCE, α0 = β = 1": effort.gibbs(seed, alpha=1.0, beta=1.0),
        "NBCE, K = classes": effort.gibbs(seed, truncation=k),
        "NBCE, CVB": NBCE("cvb", weights=None, **starts),
        "NBCE, VB": NBCE("vb", weights=None, **starts),
    }


def concentrations(name: str, model: NBCE) -> Rows:
    rows = [(name, "alpha", model.alpha_), (name, "beta", model.beta_)]
    if model.inference == "gibbs":
        draws = model.chain_.labels.reshape(-1, model.chain_.n_items)[::10]
        rows.append((name, "outliers of draws", float(np.mean([outliers(draw) for draw in draws]))))
    return rows


def noisy(noise: float, seed: int, effort: Effort) -> Rows:
    """Table 3: two clusters and outliers, a share of whose labels was changed."""
    base, truth = synthetic(noise, np.random.default_rng(seed)), synthetic_truth()
    known = {
        "MM": MixtureModel(2, random_state=seed),
        "BCE": BCE(2, restarts=effort.restarts, random_state=seed),
        "NBCE": effort.gibbs(seed),
    }
    rows: Rows = []
    for name, model in known.items():
        model.fit(base)
        rows += [(name, "train", model.perplexity(base)), *scores(name, model.labels_, truth)]
    return rows
