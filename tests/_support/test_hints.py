"""A keyword or name that is not known is answered with the one that was most likely meant."""

import inspect

import pytest

import partita as pt
from partita.models import GaussianDPM, LatentBlockModel, StochasticBlockModel

DRAWS = [[0, 0, 1], [0, 1, 1]]


@pytest.mark.parametrize(
    ("slip", "hint"),
    [
        ({"seed": 1}, r"method 'search' does not take seed; did you mean rng=\?"),
        ({"random_state": 1}, r"did you mean rng=\?"),
        ({"runs": 3}, r"write search=Search\(runs=\.\.\.\)"),
        ({"n_runs": 3}, r"write search=Search\(runs=\.\.\.\)"),
        ({"max_k": 3}, r"write search=Search\(max_clusters=\.\.\.\)"),
        ({"second": 3}, r"write search=Search\(seconds=\.\.\.\)"),
        ({"weigths": [1, 2]}, r"did you mean weights=\?"),
        ({"a": 0.5}, r"write loss=VI\(a=\.\.\.\) or Binder\(a=\.\.\.\)"),
        ({"burn": 10}, r"write as_sample\(draws, burn=\.\.\.\) for the draws"),
        ({"burn_in": 10}, r"write as_sample\(draws, burn=\.\.\.\) for the draws"),
        ({"method": "hasse", "criterium": "x"}, r"did you mean criterion=\?"),
        ({"qqqq": 1}, "does not take qqqq; it has no options"),
        ({"method": "hasse", "qqqq": 1}, "does not take qqqq; its options are"),
    ],
)
def test_keywords_of_estimate(slip, hint):
    with pytest.raises(TypeError, match=hint):
        pt.estimate(DRAWS, **slip)


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda: pt.Search(run=3), r"Search has no keyword run=; did you mean runs=\?"),
        (lambda: pt.Search(max_k=3), r"did you mean max_clusters=\?"),
        (lambda: pt.Search(cores=3), r"did you mean n_jobs=\?"),
        (lambda: pt.Search(zzz=3), r"Search has no keyword zzz=$"),
        (lambda: GaussianDPM(covarience="diag"), r"GaussianDPM has no keyword covarience=; did you mean covariance=\?"),
        (lambda: GaussianDPM(seed=1), r"did you mean random_state=\?"),
        (
            lambda: GaussianDPM().sample([[0.0]], seed=1),
            r"GaussianDPM\.sample has no keyword seed=; did you mean rng=\?",
        ),
        (lambda: GaussianDPM().sample([[0.0]], tune=1), r"did you mean warmup=\?"),
        (lambda: StochasticBlockModel(direct=True), r"did you mean directed=\?"),
        (lambda: StochasticBlockModel().maximize([(0, 1)], max_k=2), r"did you mean k_max=\?"),
        (lambda: LatentBlockModel().maximize([[0, 1]], runs=2), r"did you mean restarts=\?"),
        (lambda: pt.ensembles.NBCE(seed=1), r"NBCE has no keyword seed=; did you mean random_state=\?"),
        (lambda: pt.ensembles.BCE(2, restart=1), r"did you mean restarts=\?"),
        (lambda: pt.as_sample(DRAWS, burnin=1), r"as_sample has no keyword burnin=; did you mean burn=\?"),
        (lambda: pt.read_draws("x.csv", variabel="z"), r"did you mean variable=\?"),
    ],
)
def test_keywords_of_settings_models_and_draws(call, hint):
    with pytest.raises(TypeError, match=hint):
        call()


def test_names_of_losses_and_methods():
    with pytest.raises(ValueError, match=r"unknown loss 'bindr' \(did you mean 'binder'\?\); the names are 'binder'"):
        pt.estimate(DRAWS, "bindr")
    assert pt.estimate(DRAWS, "VI", rng=1).loss == pt.VI()
    with pytest.raises(ValueError, match=r"unknown method 'serch' \(did you mean 'search'\?\)"):
        pt.estimate(DRAWS, method="serch")
    with pytest.raises(ValueError, match="unknown loss 'magic'; the names are"):
        pt.estimate(DRAWS, "magic")


def test_signatures_are_as_before():
    assert list(inspect.signature(pt.Search).parameters)[:2] == ["runs", "seconds"]
    assert "covariance" in inspect.signature(GaussianDPM).parameters
    assert list(inspect.signature(GaussianDPM.sample).parameters)[:2] == ["self", "X"]
    assert GaussianDPM.sample.__doc__.startswith("Draws partitions")
    assert "missing" in inspect.signature(pt.as_sample).parameters
    with pytest.raises(TypeError, match="positional argument"):
        pt.as_sample()
