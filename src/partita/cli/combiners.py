"""The methods of `partita ensemble`: how each combines, and where the number of clusters comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import partita as pt
from partita.cli.given import check_choice

Options = dict[str, Any]
#: The summary of a consensus, and what was computed beside it.
Combined = tuple["pt.ensembles.ConsensusSummary", tuple[Any, ...]]


@dataclass(frozen=True)
class Combiner:
    """A method that combines base clusterings: `combine` takes (base, k, options); `k` says whether -k is for it."""

    name: str
    combine: Callable[[Any, int | None, Options], Combined]
    k: Literal["needed", "optional", "unused"] = "needed"

    def __call__(self, base: Any, k: int | None, options: Options) -> Combined:
        """What `combine` gives, if the number of clusters is there where the method needs it."""
        if self.k == "needed" and k is None:
            raise ValueError(f"--method {self.name} needs the number of clusters: -k")
        return self.combine(base, k, options)


def _nbce(base: Any, k: int | None, options: Options) -> Combined:
    lengths = {name: value for name, value in options.items() if name in ("draws", "warmup", "chains")}
    rest = {name: value for name, value in options.items() if name not in lengths}
    model = pt.ensembles.NBCE(**rest, sampling=pt.models.Sampling(**lengths)).fit(base)
    facts = {"name": "nbce", "seed": options["random_state"], "inference": model.inference, "prior": model.prior}
    facts |= {"alpha": float(model.alpha_), "beta": float(model.beta_), "perplexity": float(model.perplexity(base))}
    if model.inference != "gibbs":
        return replace(pt.ensembles.summarize(model), model=facts | {"bound": float(model.bound_)}), ()
    facts |= {"loss": options["loss"], "expected_loss": model.estimate_.expected_loss}
    return replace(pt.ensembles.summarize(model), model=facts), (model.chain_,)


def _consensus(base: Any, k: int | None, options: Options) -> Combined:
    from partita.ensembles.dependence import consensus_weights
    from partita.losses.losses import as_loss

    loss, seed = options["loss"], options["random_state"]
    powers = consensus_weights(base) if options["weights"] == "dependence" else None
    labels = pt.ensembles.consensus(base, loss, k=k, weights=powers, rng=seed)
    found = pt.ensembles.summarize(labels, base, weights=powers, method=f"least expected {as_loss(loss).words}")
    return replace(found, model={"name": "consensus", "seed": seed, "loss": loss}), ()


def _other(name: str, words: str, find: Callable[..., Any], k: Literal["needed", "optional"] = "needed") -> Combiner:
    """A method that finds labels from (base, k, seed); their certainty is what the base clusterings give them."""

    def combine(base: Any, k: int | None, options: Options) -> Combined:
        seed = options["random_state"]
        found = pt.ensembles.summarize(find(base, k, seed), base, method=words)
        return replace(found, model={"name": name, "seed": seed}), ()

    return Combiner(name, combine, k)


NBCE = Combiner("nbce", _nbce, "unused")
CONSENSUS = Combiner("consensus", _consensus, "optional")
_ALL = (
    CONSENSUS,
    NBCE,
    _other("bce", "BCE", lambda base, k, seed: pt.ensembles.BCE(k, random_state=seed).fit_predict(base)),
    _other(
        "mixture",
        "MixtureModel",
        lambda base, k, seed: pt.ensembles.MixtureModel(k, random_state=seed).fit_predict(base),
    ),
    _other("cspa", "CSPA", lambda base, k, seed: pt.ensembles.cspa(base, k, rng=seed)),
    _other("mcla", "MCLA", lambda base, k, seed: pt.ensembles.mcla(base, k, rng=seed)),
    _other("hgpa", "HGPA", lambda base, k, seed: pt.ensembles.hgpa(base, k, rng=seed)),
    _other(
        "evidence", "evidence accumulation", lambda base, k, _: pt.ensembles.evidence_accumulation(base, k), "optional"
    ),
)
METHODS = {combiner.name: combiner for combiner in _ALL}


def as_combiner(name: str) -> Combiner:
    """The method of a name."""
    check_choice("method", name, METHODS)
    return METHODS[name]
