"""Bad draws are announced: by the estimate, the ball, the models, the command and the page; good ones are not."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

import partita as pt
from partita.cli import app
from partita.datasets import make_draws
from partita.draws.sample import as_sample
from partita.estimation.convergence import (
    ESS_LIMIT,
    R_HAT_LIMIT,
    MixingWarning,
    quantities,
    r_hat_limit,
    sample_warnings,
)
from partita.estimation.r_hat import convergence, effective_sample_size
from partita.models import Chain, GaussianDPM


def r_hat(values):
    return quantities({"": values})[0].r_hat


def stuck_chains():
    """Two chains of 50 draws around different partitions of 20 items."""
    return np.stack([make_draws(20, 50, n_clusters=k, doubt=0.02, rng=k) for k in (2, 5)])


def sticky_chain():
    """One chain of 400 draws that moves four times."""
    return np.repeat(make_draws(20, 4, n_clusters=3, doubt=0.3, rng=1), 100, axis=0)


def test_the_limit_on_r_hat_fits_that_on_effective_draws():
    """Converged AR(1) chains with 50 effective draws each: most exceed 1.01, hardly any 1.05 (guide/poor_draws.md)."""
    rng, length = np.random.default_rng(1), 500
    rho = (length - ESS_LIMIT) / (length + ESS_LIMIT)
    chains = rng.normal(size=(400, 4, length))
    chains[..., 1:] *= np.sqrt(1 - rho**2)
    for t in range(1, length):
        chains[..., t] += rho * chains[..., t - 1]
    found = convergence(chains)[0]
    assert (found > 1.01).mean() > 0.7
    assert (found > R_HAT_LIMIT).mean() < 0.03


def test_chains_that_are_constant_and_differ_have_not_mixed():
    apart = np.repeat([[1.0], [2.0]], 50, axis=1)
    assert r_hat(apart) == np.inf
    assert effective_sample_size(apart) == 2
    assert r_hat(np.ones((2, 50))) == 1
    assert effective_sample_size(np.ones((2, 50))) == 100


@pytest.mark.parametrize(("n_chains", "length"), [(1, 100), (4, 25), (4, 200)])
def test_independent_draws_stay_below_the_limit_on_r_hat(n_chains, length):
    rng = np.random.default_rng(n_chains * length)
    limit = r_hat_limit(n_chains, length)
    above = sum(r_hat(rng.normal(size=(n_chains, length))) > limit for _ in range(400))
    assert above <= 4  # each is above with probability 0.001 for the values and as much for their distances


def test_good_draws_are_not_announced():
    for seed in range(20):
        chains = make_draws(15, 400, n_clusters=3, rng=seed).reshape(4, 100, 15)
        sample = as_sample(chains)
        assert sample_warnings(sample, pt.distances(chains[0, 0], sample)[np.unique(sample.index, True)[1]]) == ()


def test_estimate_announces_chains_that_have_not_mixed():
    with pytest.warns(MixingWarning, match=r"The chains have not mixed: .*R-hat"):
        best = pt.estimate(stuck_chains(), rng=1)
    assert best.notes[0].startswith("The chains have not mixed")
    assert "warning       The chains have not mixed" in repr(best)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pt.credible_ball(best).cautions == best.cautions  # said already, and carried on


def test_estimate_announces_few_effective_draws():
    with pytest.warns(MixingWarning, match="The 400 draws have a small effective sample size"):
        pt.estimate(sticky_chain(), rng=1)


def test_estimate_announces_weights_that_have_collapsed():
    draws = make_draws(60, 200, n_clusters=5, rng=1)  # no draw equals another: equal ones would share their weight
    with pytest.warns(
        MixingWarning, match=r"198 of the 200 draws have .* weight, and the effective sample size is 2\.0"
    ):
        best = pt.estimate(draws, weights=np.r_[1, 1, np.full(198, 1e-9)], rng=1)
    assert best.notes[0].startswith("198 of the 200 draws")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        counts = np.r_[9_000, np.ones(199)]
        assert pt.estimate(draws, weights=counts, rng=1).cautions == ()  # one partition was drawn 9,000 times


def test_a_ball_around_plain_labels_announces_bad_draws():
    chains = stuck_chains()
    with pytest.warns(MixingWarning, match="have not mixed"):
        assert pt.credible_ball(chains[0, 0], chains).cautions


def test_partitions_without_the_order_of_a_chain_are_not_checked():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pt.estimate(sticky_chain(), rng=1, check_draws=False).cautions == ()
        few = np.repeat(make_draws(12, 3, n_clusters=3, rng=1), 20, axis=0)
        assert pt.estimate(few, rng=1).cautions == ()  # 60 partitions may be any list
        pt.ensembles.consensus(sticky_chain().T, rng=1)


def test_limits_that_bind_are_said():
    draws = make_draws(30, 300, n_clusters=5, rng=1)
    best = pt.estimate(draws, search=pt.Search(max_clusters=2), rng=1)
    assert any("as many clusters as were allowed (2)" in sentence for sentence in best.notes)
    finest = pt.estimate(draws, pt.VI(a=0.05), rng=1)
    assert finest.n_clusters == finest.sample.n_clusters.max()
    assert any("as many clusters as were allowed" in sentence for sentence in finest.notes)
    assert pt.estimate(np.tile([0, 0, 1, 1, 2, 2], (200, 1)), rng=1).cautions == ()  # as many as every draw has


def test_models_announce_chains_that_have_not_mixed():
    far = np.r_[np.full((30, 1), -1e3), np.full((30, 1), 1e3)] + np.random.default_rng(1).normal(size=(60, 1))
    chain = GaussianDPM().sample(far, draws=60, warmup=20, chains=2, rng=1)
    assert chain.notes == ()
    stats = dict(chain.stats) | {"n_clusters": np.repeat([[2.0], [3.0]], 60, axis=1)}
    stuck = type(chain)(chain.labels, stats)
    assert stuck.notes[0].startswith("The chains have not mixed: clusters (R-hat ∞)")


def test_chains_with_as_many_clusters_may_have_different_partitions():
    rng = np.random.default_rng(1)
    alike = {"n_clusters": np.full((2, 60), 2.0), "log_density": rng.normal(size=(2, 60))}
    apart = np.stack([np.tile([0, 0, 0, 1, 1, 1], (60, 1)), np.tile([0, 1, 0, 1, 0, 1], (60, 1))])
    assert Chain(apart, alike).notes[0].startswith("The chains have not mixed: partition (R-hat ∞)")
    mixed = apart[rng.integers(2, size=(2, 60)), 0]
    assert Chain(mixed, alike).notes == ()


def test_estimates_of_chains_that_agree_are_not_called_different_modes():
    rng = np.random.default_rng(5)
    calm = np.tile([0, 0, 0, 1, 1, 1], (200, 1))
    lively = calm.copy()
    lively[rng.random((200, 6)) < 0.1] = 2
    with pytest.warns(MixingWarning) as said:
        found = pt.diagnostics(np.stack([calm, lively]), rng=1)
    assert found.chain_distances.max() == 0
    text = str(said[0].message)
    assert "The estimates of the chains are the same nevertheless" in text
    assert "modes" not in text


@pytest.fixture
def stuck_files(tmp_path):
    paths = [tmp_path / f"chain{n}.csv" for n in (1, 2)]
    for path, chain in zip(paths, stuck_chains(), strict=True):
        np.savetxt(path, chain, fmt="%d", delimiter=",", header=",".join(f"z{i}" for i in range(20)), comments="")
    return [str(path) for path in paths]


@pytest.mark.parametrize("command", ["estimate", "ball", "report"])
def test_the_command_says_it_first(command, stuck_files, tmp_path):
    more = ["--out", str(tmp_path / "page.html"), "--force"] if command == "report" else []
    told = CliRunner().invoke(app, [command, *stuck_files, "--seed", "1", *more])
    assert told.exit_code == 0, told.output
    assert told.stdout.startswith("Warning: The chains have not mixed")
    facts = json.loads(CliRunner().invoke(app, [command, *stuck_files, "--seed", "1", "--json", *more]).stdout)
    assert facts["notes"][0].startswith("The chains have not mixed")


def test_the_page_says_it_above_the_answer(tmp_path):
    with pytest.warns(MixingWarning):
        best = pt.estimate(stuck_chains(), rng=1)
    page = pt.report(best, path=tmp_path / "page.html").read_text(encoding="utf-8")
    assert 0 < page.index("Warning.") < page.index('class="answer"')
    assert page.rindex("Warning.") < page.index('class="answer"')


def test_the_warning_points_to_the_line_of_the_user():
    with pytest.warns(pt.MixingWarning) as seen:
        pt.models.GaussianDPM(sampling=pt.models.Sampling(draws=20, chains=2), random_state=1).fit(
            np.random.default_rng(0).normal(size=(30, 2))
        )
    assert {warning.filename for warning in seen} == {__file__}


def test_equal_draws_are_no_hard_search():
    """All runs end at a loss of 0, but for rounding."""
    labels = np.random.default_rng(1).integers(8, size=2000)
    best = pt.estimate(np.tile(labels, (50, 1)), rng=1)
    assert best.times_reached == len(best.runs)
    assert best.cautions == ()
