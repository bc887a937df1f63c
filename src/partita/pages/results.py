"""What a page can be about: draws, balls and fitted models stand for the estimate that they lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from partita.estimation.result import Estimate
    from partita.uncertainty.ball import CredibleBall

TAKEN = (
    "an estimate (from draws or from pair probabilities), draws (a Chain or what as_sample returns), a credible ball, a"
    " fitted model, what `maximize` returns, or an ensemble"
)
SEED = 0


def estimate_of(result: Any, ball: CredibleBall | None) -> tuple[Estimate, CredibleBall | None]:
    """The estimate that a result stands for, and its ball.

    Draws are summarised under the variation of information with seed 0, with a ball of 95 %; a ball brings its own
    centre; a fitted model has its estimate.
    """
    from partita.draws.sample import PartitionSample
    from partita.estimation.estimate import estimate
    from partita.estimation.result import Estimate
    from partita.models.chains.chain import Chain
    from partita.models.estimator import Estimator, LazyPosterior
    from partita.uncertainty.ball import CredibleBall, credible_ball

    if isinstance(result, Estimate):
        return result, ball
    if isinstance(result, Chain | PartitionSample):
        found = estimate(result, rng=SEED)
        return found, credible_ball(found) if ball is None else ball
    if isinstance(result, CredibleBall):
        if ball is not None:
            raise ValueError("ball is given twice: the first argument is a ball already")
        return _centre(result), result
    if isinstance(result, Estimator) and not isinstance(result, LazyPosterior):
        result._check_fitted()
        if isinstance(getattr(result, "estimate_", None), Estimate):
            return result.estimate_, ball  # type: ignore[attr-defined]
    if isinstance(result, LazyPosterior):
        raise TypeError(f"report the fit of this {type(result).__name__}: report(model.maximize(data))")
    raise TypeError(f"report takes {TAKEN}, not {type(result).__name__}")


def _centre(ball: CredibleBall) -> Estimate:
    """The centre of a ball as an estimate that was given, not searched."""
    from partita.estimation.result import Estimate
    from partita.losses.expected import expected_loss

    value = float(expected_loss(ball.center, ball.sample, ball.loss))
    return Estimate(ball.center, value, ball.loss, "given", ball.sample, warnings=ball.warnings)
