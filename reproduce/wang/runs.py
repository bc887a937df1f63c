"""One repetition on one data set: every method fitted, scored, and written down at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.cluster import KMeans

import frame
import partita as pt
from partita.ensembles import BCE, NBCE, Ascent, MixtureModel, consensus, cspa, hgpa, kmeans_ensemble, mcla
from partita.ensembles.kmeans import FRACTIONS
from partita.models import Sampling
from wang.data import CLUSTERINGS, synthetic, synthetic_truth

FIELDS = ("repetition", "dataset", "method", "metric", "value")
Rows = list[tuple[str, float]]  # metric, value
Job = Callable[[], Rows]  # what scores one method
Labels = NDArray[np.intp]
BETAS = (1.0, 4.0, 8.0)  # fixed concentrations of the labels
PRIORS = {"alpha_prior": (1.0, 1.0), "beta_prior": (1.0, 1.0)}  # of concentrations that are learned


@dataclass(frozen=True)
class Effort:
    """Length of the Gibbs chains, and starts of the variational methods."""

    draws: int
    warmup: int
    restarts: int

    def gibbs(self, seed: int, prior: str = "fsd", **settings: Any) -> NBCE:
        lengths = Sampling(draws=self.draws, warmup=self.warmup, thin=2, chains=2)
        return NBCE("gibbs", prior, random_state=seed, weights=None, sampling=lengths, **PRIORS, **settings)


class Results:
    """Rows on disk, so that a run can stop and go on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.exists():
            self.forget()

    def forget(self) -> None:
        """Begins anew."""
        self.path.unlink(missing_ok=True)
        frame.append_runs(self.path, FIELDS, [])

    def frame(self) -> pd.DataFrame:
        return pd.read_csv(self.path)

    def need(self, repetition: int, dataset: str, jobs: dict[str, Job]) -> None:
        """Makes and writes the rows of the methods of a data set that are not there."""
        done = self.frame()
        there = set(done[(done.repetition == repetition) & (done.dataset == dataset)].method)
        for method, make in jobs.items():
            if method in there:
                continue
            rows = ((repetition, dataset, method, metric, f"{value:.6g}") for metric, value in make())
            frame.append_runs(self.path, FIELDS, (dict(zip(FIELDS, row, strict=True)) for row in rows))
            print(f"repetition {repetition}, {dataset}, {method}", flush=True)


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


def scores(found: Labels, truth: Labels) -> Rows:
    agreement = {**F1, "ari": lambda x, y: pt.adjusted_rand(y, x), "nmi": lambda x, y: pt.nmi(y, x)}
    counted = [("clusters", float(found.max() + 1)), ("outliers", outliers(found))]
    return [(name, score(found, truth)) for name, score in agreement.items()] + counted


def outliers(labels: Labels) -> float:
    """Per cent of the items that are a cluster of their own."""
    return 100.0 * float((np.bincount(labels) == 1).sum()) / len(labels)


def base_scores(base: Labels, truth: Labels, summary: Callable[[list[float]], Any]) -> Rows:
    return [(name, float(summary([score(column, truth) for column in base.T]))) for name, score in F1.items()]


def real(X: NDArray[np.float64], truth: Labels, seed: int, effort: Effort, *, one_step: bool) -> dict[str, Job]:
    """Ten k-means clusterings of a data set; a quarter of its items is held out. `one_step`: k-means stops after one
    step, since the base clusterings of the paper are worse than those of k-means that converged."""
    rng = np.random.default_rng(seed)
    k = len(np.unique(truth))
    runs = one_step_runs(k) if one_step else None
    base = kmeans_ensemble(X, k, clusterers=runs, rng=rng)
    held_out = rng.permutation(len(X)) < len(X) // 4
    train, test, truth = base[~held_out], base[held_out], truth[~held_out]
    jobs: dict[str, Job] = {
        "base max": lambda: base_scores(train, truth, max),
        "base avg": lambda: base_scores(train, truth, np.mean),
        "expected VI": lambda: scores(consensus(train, "vi", weights=None, rng=seed), truth),
    }
    for name, method in {"CSPA": cspa, "HGPA": hgpa, "MCLA": mcla}.items():
        jobs[name] = lambda method=method: scores(method(train, k, rng=seed), truth)  # type: ignore[misc]
    levels = [np.unique(column) for column in base.T]
    made = nbce_models(k, seed, effort) if one_step else models(k, seed, effort)
    jobs |= {name: partial(fitted, model, train, test, truth, levels) for name, model in made.items()}
    return jobs


def one_step_runs(k: int) -> list[Any]:
    """The runs of `kmeans_ensemble`, each ended after one step."""
    sizes = [max(1, int(np.floor(FRACTIONS[run % len(FRACTIONS)] * k + 0.5))) for run in range(CLUSTERINGS)]
    return [KMeans(size, init="random", n_init=1, max_iter=1) for size in sizes]


def fitted(model: Any, train: Labels, test: Labels, truth: Labels, levels: list[Labels]) -> Rows:
    """Scores of a model that is fitted to the training items."""
    model.fit(train, levels=levels)
    rows = scores(model.labels_, truth)
    rows += [("train", model.perplexity(train)), ("test", model.perplexity(test))]
    return rows + (concentrations(model) if isinstance(model, NBCE) else [])


def models(k: int, seed: int, effort: Effort) -> dict[str, Any]:
    starts = {"restarts": effort.restarts, "random_state": seed}
    ascending: Any = {"weights": None, "ascent": Ascent(effort.restarts), "random_state": seed, **PRIORS}
    return {
        "MM": MixtureModel(k, random_state=seed),
        "MM, smoothed": MixtureModel(k, smoothing=0.5, random_state=seed),
        "BCE": BCE(k, **starts),
        "BCE, smoothed": BCE(k, smoothing=0.5, **starts),
        "NBCE, TSB": effort.gibbs(seed, "tsb"),
        "NBCE, CVB": NBCE("cvb", **ascending),
        "NBCE, VB": NBCE("vb", **ascending),
        **nbce_models(k, seed, effort),
    }


def nbce_models(k: int, seed: int, effort: Effort) -> dict[str, NBCE]:
    """NBCE by Gibbs sampling with what the paper does not print: concentrations learned or fixed, K = 100 or k."""
    found = {"NBCE": effort.gibbs(seed), "NBCE, K = classes": effort.gibbs(seed, truncation=k)}
    for beta in BETAS:
        found[fixed_name(beta)] = effort.gibbs(seed, alpha=1.0, beta=beta)
        found[f"{fixed_name(beta)}, K = classes"] = effort.gibbs(seed, alpha=1.0, beta=beta, truncation=k)
    return found


def fixed_name(beta: float) -> str:
    return f"NBCE, α0 = 1, β = {beta:g}" if beta != 1 else "NBCE, α0 = β = 1"


def concentrations(model: NBCE) -> Rows:
    rows = [("alpha", model.alpha_), ("beta", model.beta_)]
    if model.inference == "gibbs":
        draws = model.chain_.labels.reshape(-1, model.chain_.n_items)[::10]
        rows.append(("outliers of draws", float(np.mean([outliers(draw) for draw in draws]))))
    return rows


def noisy(noise: float, seed: int, effort: Effort) -> dict[str, Job]:
    """Table 3: two clusters and outliers, a share of whose labels was changed."""
    base, truth = synthetic(noise, np.random.default_rng(seed)), synthetic_truth()
    known: dict[str, Any] = {"NBCE": effort.gibbs(seed)}
    for k in (2, int(truth.max()) + 1):
        beside = "" if k == 2 else f", k = {k}"
        known[f"MM{beside}"] = MixtureModel(k, random_state=seed)
        known[f"BCE{beside}"] = BCE(k, restarts=effort.restarts, random_state=seed)

    def score(model: Any) -> Rows:
        model.fit(base)
        return [("train", model.perplexity(base)), *scores(model.labels_, truth)]

    return {name: partial(score, model) for name, model in known.items()}
