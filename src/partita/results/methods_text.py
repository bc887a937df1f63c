"""Sentences for the methods and results of a paper: every number is one of the facts of the result."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from partita._support.hints import plural
from partita.losses.base import Loss
from partita.results.present import present
from partita.results.presentation import Presentation
from partita.results.sentences import UNSURE, amount, percent, sizes_in_words
from partita.uncertainty.ball import CredibleBall, credible_ball

CITED = {
    "Binder 1978": "Binder, D. A. (1978). Bayesian cluster analysis. Biometrika 65, 31–38.",
    "Dahl, Johnson and Müller 2022": "Dahl, D. B., Johnson, D. J. and Müller, P. (2022). Search algorithms and loss"
    " functions for Bayesian clustering. Journal of Computational and Graphical Statistics 31, 1189–1201.",
    "Rastelli and Friel 2018": "Rastelli, R. and Friel, N. (2018). Optimal Bayesian estimators for latent variable"
    " cluster models. Statistics and Computing 28, 1169–1186.",
    "Vehtari et al. 2021": "Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. and Bürkner, P.-C. (2021)."
    " Rank-normalization, folding, and localization: an improved R-hat for assessing convergence of MCMC. Bayesian"
    " Analysis 16, 667–718.",
    "Wade and Ghahramani 2018": "Wade, S. and Ghahramani, Z. (2018). Bayesian cluster analysis: point estimation and"
    " credible balls. Bayesian Analysis 13, 559–626.",
}
LOSSES = {"binder": "Binder 1978", "vi": "Wade and Ghahramani 2018"} | dict.fromkeys(
    ("nvi", "id", "nid", "omari"), "Dahl, Johnson and Müller 2022"
)
SEARCHES = {
    "search": "by search",
    "salso": "by SALSO (Dahl, Johnson and Müller 2022)",
    "greedy": "by greedy search (Rastelli and Friel 2018)",
    "exact": "by an exact method",
}


def methods_text(estimate: Any, *extras: Any) -> str:
    """Paragraphs on methods and results, the notes, and the references."""
    if not any(isinstance(extra, CredibleBall) for extra in extras):
        with warnings.catch_warnings():  # the notes say what they say
            warnings.simplefilter("ignore")
            extras = (credible_ball(estimate), *extras)
    shown = present(estimate, extras)
    *told, cited = paragraphs(shown)
    return "\n\n".join([*told, *filter(None, [" ".join(shown.facts["notes"])]), cited])


def paragraphs(shown: Presentation) -> tuple[str, str, str]:
    """Methods, results and references of an estimate from draws."""
    facts, loss = shown.facts, shown.result.loss
    methods, results = " ".join(_methods(facts, loss)), " ".join(_results(facts, loss))
    found = [full for short, full in CITED.items() if short in methods + results]
    return methods, results, " ".join(["References:", *found])


def _methods(facts: dict[str, Any], loss: Loss) -> Iterator[str]:
    weights = [f"{name} = {value:g}" for name, value in facts["loss_weights"].items()]
    about = "; ".join(filter(None, [", ".join(weights), LOSSES.get(facts["loss"], "")]))
    chains = f", in {facts['n_chains']:,} chains," if facts["n_chains"] > 1 else ""
    seed = "" if facts["seed"] is None else f", seed {facts['seed']}"
    if facts["method"] == "given":
        what, how = "a given partition and its", ""
    else:
        by = SEARCHES.get(facts["method"], f"by method {facts['method']}")
        what, how = "the partition with the lowest", f" found {by}"
    yield (
        f"From {plural(facts['n_draws'], 'posterior draw')}{chains} of the partition of"
        f" {plural(facts['n_items'], 'item')} ({plural(facts['n_unique'], 'distinct partition')}) we report"
        f" {what} posterior expected {loss.words}{f' ({about})' if about else ''}{how}, with partita"
        f" {facts['version']}{seed}."
    )
    if facts["effective_draws"] is not None:
        r_hat = "" if facts["r_hat"] is None else f"R-hat is at most {facts['r_hat']:.3f} and "
        yield (
            f"For the number of clusters, the entropy of the partition and the distance to the estimate {r_hat}the"
            f" effective sample size is at least {facts['effective_draws']:,.0f} (Vehtari et al. 2021)."
        )


def _results(facts: dict[str, Any], loss: Loss) -> Iterator[str]:
    labels = np.array(facts["labels"])
    error = facts["standard_error"]
    yield (
        f"The partition has {plural(facts['n_clusters'], 'cluster')} ({sizes_in_words(labels[labels >= 0])}); its"
        f" expected loss is {amount(facts['expected_loss'], loss)}"
        + ("." if error is None else f" (Monte Carlo standard error {error:.2g}).")
    )
    if facts["proven"]:
        yield "It is proven that no partition has a lower expected loss."
    elif facts["gap"] is not None:
        yield f"No partition has an expected loss that is lower by more than {percent(round(facts['gap'], 3))}."
    if (ball := facts["ball"]) is not None:
        counts = sorted(row["clusters"] for row in ball["summary"])
        span = f"{counts[0]} to {counts[-1]} clusters" if counts[0] < counts[-1] else plural(counts[0], "cluster")
        yield (
            f"Its {percent(ball['level'])} credible ball (Wade and Ghahramani 2018) has radius"
            f" {amount(ball['radius'], loss)} and holds {plural(ball['n_inside'], 'distinct draw')} with {span}."
        )
    if (certainty := facts["certainty"]) is not None:
        unsure = sum(value is not None and value < UNSURE for value in certainty)
        who = plural(unsure, "item") if unsure else "no item"
        yield (
            f"For {who} the mean posterior probability of being with another member of the same cluster is below"
            f" {UNSURE:g}."
        )
