"""`report` takes any result: what stands for an estimate, and what is refused with a list of what it takes."""

import numpy as np
import pytest

import partita as pt
from support.pages import text


@pytest.fixture(scope="module")
def chain():
    x = np.r_[np.zeros(8), np.full(8, 9.0)] + np.random.default_rng(1).normal(size=16) / 9
    return pt.models.GaussianDPM().sample(x[:, None], draws=30, warmup=30, chains=2, rng=1)


def test_draws_are_summarised_first(chain, tmp_path):
    best = pt.estimate(chain, rng=0)
    for draws in (chain, pt.as_sample(chain)):
        page = pt.read_report(pt.report(draws, path=tmp_path / "page.html"))
        assert page.labels.tolist() == best.labels.tolist()
        assert "95% of the posterior lies within" in page.answer


def test_a_ball_brings_its_centre(chain, tmp_path):
    center = np.repeat([0, 1, 2, 3], 4)
    ball = pt.credible_ball(center, chain, level=0.8)
    page = pt.read_report(pt.report(ball, path=tmp_path / "page.html"))
    assert page.labels.tolist() == center.tolist()
    assert "80% of the posterior lies within" in page.answer
    assert f"{pt.expected_loss(center, chain):.4f} bits" in text(page, "diagnostics")
    with pytest.raises(ValueError, match="CredibleBall is given twice"):
        pt.report(ball, ball, path=tmp_path / "other.html")


def test_a_fitted_model_has_its_estimate(tmp_path):
    x = np.r_[np.zeros(8), np.full(8, 9.0)][:, None] + np.random.default_rng(1).normal(size=(16, 1)) / 9
    model = pt.models.GaussianDPM(sampling=pt.models.Sampling(draws=30, warmup=30, chains=2), random_state=1)
    with pytest.raises(ValueError, match="not fitted yet"):
        pt.report(model, path=tmp_path / "page.html")
    page = pt.read_report(pt.report(model.fit(x), path=tmp_path / "page.html", data=x))
    assert page.labels.tolist() == model.labels_.tolist()
    assert model.score(x) == pytest.approx(model.score_samples(x).mean())


@pytest.mark.parametrize("result", ["model", "list", "comparison"])
def test_what_is_refused_says_what_is_taken(result, chain, tmp_path):
    wrong = {
        "model": lambda: pt.models.StochasticBlockModel(),
        "list": lambda: [[0, 1], [0, 0]],
        "comparison": lambda: pt.compare_posteriors(chain, chain, permutations=19, rng=1),
    }[result]()
    words = r"report\(model\.maximize\(data\)\)" if result == "model" else "report takes an estimate .* draws"
    with pytest.raises(TypeError, match=words):
        pt.report(wrong, path=tmp_path / "page.html")
    assert not list(tmp_path.iterdir())
