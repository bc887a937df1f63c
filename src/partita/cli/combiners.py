"""The methods of `partita ensemble` as objects: how each combines, and where the number of clusters comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from partita.cli.given import check_choice

if TYPE_CHECKING:
    from partita.ensembles import ConsensusSummary
    from partita.ensembles.base_clusterings import Base

Options = dict[str, Any]


#: The summary of a consensus, and what was computed beside it.
Combined = tuple["ConsensusSummary", tuple[Any, ...]]


class Clusters(Enum):
    """Where the number of clusters comes from."""

    GIVEN = "by -k"
    FOUND = "by the method"
    EITHER = "by -k, or else by the method"


@dataclass(frozen=True)
class Combiner:
    """A method that combines base clusterings: `combine` takes (base, k, options)."""

    name: str
    combine: Callable[[Base, int | None, Options], Combined]
    clusters: Clusters = Clusters.GIVEN

    def __call__(self, base: Base, k: int | None, options: Options) -> Combined:
        """What `combine` gives, if the number of clusters is there where the method needs it."""
        if self.clusters is Clusters.GIVEN and k is None:
            raise ValueError(f"--method {self.name} needs the number of clusters: -k")
        return self.combine(base, k, options)


def _nbce(base: Base, k: int | None, options: Options) -> Combined:
    from partita.ensembles import NBCE, summarize
    from partita.models import Sampling

    lengths = {name: value for name, value in options.items() if name in ("draws", "warmup", "chains")}
    rest = {name: value for name, value in options.items() if name not in lengths}
    model = NBCE(**rest, sampling=Sampling(**lengths)).fit(base)
    facts = {"name": "nbce", "seed": options["random_state"], "inference": model.inference, "prior": model.prior}
    facts |= {"alpha": float(model.alpha_), "beta": float(model.beta_), "perplexity": float(model.perplexity(base))}
    if model.inference != "gibbs":
        return replace(summarize(model), model=facts | {"bound": float(model.bound_)}), ()
    facts |= {"loss": options["loss"], "expected_loss": model.estimate_.expected_loss}
    return replace(summarize(model), model=facts), (model.chain_,)


def _estimator(name: str, class_name: str) -> Combiner:
    """An estimator of k clusters."""

    def combine(base: Base, k: int | None, options: Options) -> Combined:
        from partita import ensembles

        seed = options["random_state"]
        labels = getattr(ensembles, class_name)(k, random_state=seed).fit_predict(base)
        return _combined(labels, base, name, seed, class_name)

    return Combiner(name, combine)


def _graph_method(name: str) -> Combiner:
    """A function of (base, k) of the same name."""

    def combine(base: Base, k: int | None, options: Options) -> Combined:
        from partita import ensembles

        seed = options["random_state"]
        return _combined(getattr(ensembles, name)(base, k, rng=seed), base, name, seed, name.upper())

    return Combiner(name, combine)


def _evidence(base: Base, k: int | None, options: Options) -> Combined:
    from partita import ensembles

    labels = ensembles.evidence_accumulation(base, k)
    return _combined(labels, base, "evidence", options["random_state"], "evidence accumulation")


def _consensus(base: Base, k: int | None, options: Options) -> Combined:
    from partita import ensembles
    from partita.ensembles.dependence import consensus_weights
    from partita.losses.losses import as_loss

    seed = options["random_state"]
    powers = consensus_weights(base) if options["weights"] == "dependence" else None
    labels = ensembles.consensus(base, options["loss"], k=k, weights=powers, rng=seed)
    words = f"least expected {as_loss(options['loss']).words}"
    found, extras = _combined(labels, base, "consensus", seed, words, powers)
    return replace(found, model={**found.model, "loss": options["loss"]}), extras


def _combined(labels: Any, base: Base, method: str, seed: int | None, words: str, weights: Any = None) -> Combined:
    """Labels with the certainty that the base clusterings give them; `words` say how they were found."""
    from partita.ensembles import summarize

    found = summarize(labels, base, weights=weights, method=words)
    return replace(found, model={"name": method, "seed": seed}), ()


NBCE = Combiner("nbce", _nbce, Clusters.FOUND)
CONSENSUS = Combiner("consensus", _consensus, Clusters.EITHER)
_ALL = (
    CONSENSUS,
    NBCE,
    _estimator("bce", "BCE"),
    _estimator("mixture", "MixtureModel"),
    *(_graph_method(name) for name in ("cspa", "mcla", "hgpa")),
    Combiner("evidence", _evidence, Clusters.EITHER),
)
METHODS = {combiner.name: combiner for combiner in _ALL}


def as_combiner(name: str) -> Combiner:
    """The method of a name."""
    check_choice("method", name, METHODS)
    return METHODS[name]
