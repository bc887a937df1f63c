"""A paragraph for a paper: what was done and found, every number from the facts of the result."""

from __future__ import annotations

from typing import Any

from partita._support.hints import plural
from partita.results.present import present

REFERENCES = {
    "binder": "Binder's loss (Binder 1978)",
    "vi": "the variation of information (Wade and Ghahramani 2018)",
}
SEARCHES = {
    "search": "the search of partita",
    "salso": "SALSO (Dahl, Johnson and Müller 2022)",
    "greedy": "the greedy search of Rastelli and Friel (2018)",
    "exact": "an exact solution",
}


def methods_text(estimate: Any, *extras: Any) -> str:
    """Sentences for the methods and results of a paper."""
    facts = present(estimate, extras).facts
    weights = ", ".join(f"{name} = {value:g}" for name, value in facts["loss_weights"].items())
    loss = REFERENCES.get(facts["loss"], f"the loss {facts['loss']}") + (f" with {weights}" if weights else "")
    how = SEARCHES.get(facts["method"], f"method {facts['method']}")
    lines = [
        f"From {plural(facts['n_draws'], 'posterior draw')} ({plural(facts['n_unique'], 'distinct partition')}) of"
        f" {plural(facts['n_items'], 'item')} we report the partition with the lowest posterior expected value of"
        f" {loss} found by {how} (partita {facts['version']}, seed {facts['seed']}).",
        f"It has {plural(facts['n_clusters'], 'cluster')}; its expected loss is {facts['expected_loss']:.4g}"
        + ("" if facts["standard_error"] is None else f" (Monte Carlo standard error {facts['standard_error']:.2g})")
        + ".",
    ]
    if facts["proven"]:
        lines.append("No partition has a lower expected loss (proven).")
    elif facts["gap"] is not None:
        lines.append(f"No partition has an expected loss that is lower by more than {facts['gap']:.2g} of it.")
    lines += list(facts["notes"])
    return " ".join(lines)
