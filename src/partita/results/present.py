"""From a result to its presentation; draws, balls and fitted models stand for the result that they lead to."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from partita.results.presentation import Presentation

TAKEN = (
    "an estimate (from draws or from pair probabilities), draws (a Chain or what as_sample returns), a credible ball, a"
    " fitted model, what `maximize` returns, or an ensemble"
)
SEED = 0


def present(result: Any, extras: Iterable[Any] = (), **given: Any) -> Presentation:
    """The presentation of a result and of what was computed beside it.

    Parameters
    ----------
    result : object
        Its class names its presentation: ``presented_by = "module.Class"``.
    extras : iterable
        What was computed beside it, in any order; what does not belong to it is refused by name.
    **given
        ``data``, ``truth`` and ``first``, as `Presentation` takes them.
    """
    subject, more = subject_of(result)
    module, _, name = subject.presented_by.rpartition(".")
    made: Presentation = getattr(import_module(module), name)(subject, (*more, *extras), **given)
    return made


def subject_of(result: Any) -> tuple[Any, tuple[Any, ...]]:
    """The result that a page is about, and extras that come with it.

    Draws are summarised under the variation of information with seed 0, with a ball of 95 %: to ask for their page is
    to ask for that. A ball brings its own centre; a fitted model has its estimate.
    """
    from partita.draws.sample import PartitionSample
    from partita.ensembles.estimator import EnsembleEstimator
    from partita.ensembles.summary import summarize
    from partita.estimation.estimate import estimate
    from partita.models.chains.chain import Chain
    from partita.models.estimator import Estimator, LazyPosterior
    from partita.uncertainty.ball import CredibleBall, credible_ball

    if hasattr(type(result), "presented_by"):
        return result, ()
    if isinstance(result, Chain | PartitionSample):
        best = estimate(result, rng=SEED)
        return best, (credible_ball(best),)
    if isinstance(result, CredibleBall):
        return _centre(result), (result,)
    if isinstance(result, EnsembleEstimator):
        return summarize(result), ()
    if isinstance(result, LazyPosterior):
        raise TypeError(f"report the fit of this {type(result).__name__}: report(model.maximize(data))")
    if isinstance(result, Estimator):
        result._check_fitted()
        found = getattr(result, "estimate_", None)
        if hasattr(type(found), "presented_by"):
            return found, ()
    raise TypeError(f"report takes {TAKEN}, not {type(result).__name__}")


def _centre(ball: Any) -> Any:
    """The centre of a ball as an estimate that was given, not searched."""
    from partita.estimation.result import Estimate

    value = float(ball.distances @ ball.sample.weights)
    known = (ball.center, ball.sample, ball.loss, ball.distances)
    return Estimate(ball.center, value, ball.loss, "given", ball.sample, cautions=ball.cautions, _measured=known)
