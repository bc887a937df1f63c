"""Every search ends, with finite values: near ties, with weightless draws, gaps and extreme weights of losses.

What hung or killed the process runs in a child process, under a watchdog that a loaded machine survives.
"""

import textwrap

import numpy as np
import pytest

import partita as pt
from partita.datasets import make_draws
from partita.draws.sample import with_weight
from partita.losses.losses import LOSSES
from support import forks
from support.strategies import SEARCHED

WATCHDOG = 240


def in_child(code, seconds=WATCHDOG):
    """What the code prints; it must end by itself and well."""
    prelude = "import warnings; warnings.simplefilter('ignore')\nimport numpy as np\nimport partita as pt\n"
    prelude += f"from partita.datasets import make_draws\nSEARCHED = {SEARCHED}\n"
    script = prelude + textwrap.dedent(code)
    done = forks.run(script, timeout=seconds)
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stderr[-2000:]}"
    return done.stdout


# --- near ties -------------------------------------------------------------------------------------------------------


def test_two_draws_of_nearly_equal_weight():
    labels = in_child(
        "draws = [[0, 1, 2, 3, 4, 5, 6, 7], [0, 0, 0, 0, 1, 1, 1, 1]]\n"
        "print(pt.estimate(draws, weights=[1, 1.0000001], rng=1).labels.tolist())"
    )
    assert labels.strip() == "[0, 0, 0, 0, 1, 1, 1, 1]"


def test_random_problems_near_ties_end():
    in_child("""
        losses = (*SEARCHED, pt.VI(1, 1.0000001), pt.Binder(0.9999999, 1))
        rng = np.random.default_rng(1)
        def problem():
            n, kind = int(rng.integers(2, 12)), int(rng.integers(4))
            first = rng.integers(n, size=n)
            if kind == 0:  # singletons and blocks: everything between them ties
                draws = [np.arange(n), np.arange(n) // max(2, n // 2)]
            elif kind == 1:  # a draw and its mirror image
                draws = [first, first[::-1]]
            elif kind == 2:
                draws = [rng.permutation(first) for _ in range(4)]
            else:
                draws = list(rng.integers(3, size=(6, n)))
            return draws, 1 + 1e-7 * rng.integers(-2, 3, size=len(draws))
        for _ in range(60):
            draws, weights = problem()
            for loss in losses:
                for method in ("search", "salso", "greedy"):
                    limit = None if rng.random() < 0.5 else np.inf
                    search = pt.Search(runs=4, max_clusters=limit, n_jobs=1)
                    pt.estimate(draws, loss, method, search, weights, int(rng.integers(2**31)), check_draws=False)
            for method in ("hasse", "laugreen", "draws"):
                pt.estimate(draws, "vi" if method == "hasse" else "binder", method, weights=weights, rng=1,
                            check_draws=False)
            pt.modes(pt.as_sample(draws, weights=weights), 1, rng=1)
    """)


@pytest.mark.parametrize("wanted", ["draws = [[0,1,2,3,4,5,6,7],[0,0,0,0,1,1,1,1]]; k = 3",
                                    "draws = make_draws(20, 10, 4, rng=804); k = 10"])  # fmt: skip
def test_weights_for_a_number_that_is_skipped(wanted):
    said = in_child(f"""
        {wanted}
        try:
            print("found", pt.weights_for(draws, n_clusters=k, rng=0).n_clusters == k)
        except ValueError as error:
            print(error)
    """)
    assert said.strip() == "found True" or "reached: " in said


def test_weights_for_says_what_can_be_reached():
    draws = [[0, 0, 0, 0, 1, 1, 1, 1], [0, 1, 2, 3, 4, 5, 6, 7]]
    with pytest.raises(
        ValueError, match=r"3 clusters: 8 clusters at a=.* and 2 clusters at a=.*; reached: .*2.* clusters"
    ):
        pt.weights_for(draws, n_clusters=3, rng=1)


@pytest.mark.parametrize("power", [6, 9, 10])
@pytest.mark.parametrize("loss", [pt.VI, pt.Binder])
def test_uneven_weights_find_the_best_partition(loss, power):
    for seed in range(3):
        draws = make_draws(8, 12, 3, rng=seed)
        for weights in ((1, 10.0**power), (10.0**-power, 1), (10.0**power, 1)):
            kind = loss(*weights)
            search = pt.Search(max_clusters=8, runs=8, n_jobs=1)
            best = pt.estimate(draws, kind, "enumerate", search, rng=1, check_draws=False)
            found = pt.estimate(draws, kind, search=search, rng=1, check_draws=False)
            assert found.expected_loss <= best.expected_loss * (1 + 1e-6) + 1e-300, (seed, weights)


# --- weightless draws -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_draws", "with_some"), [(3000, 10), (10_000, 20), (1000, 2)])
def test_few_draws_of_many_have_weight(n_draws, with_some):
    in_child(f"""
        draws = make_draws(30, {n_draws}, 5, rng=1)
        for seed in range(4):
            rng = np.random.default_rng(seed)
            weights = np.zeros({n_draws})
            weights[rng.choice({n_draws}, {with_some}, replace=False)] = 1
            for loss in ("vi", "nid", "omari"):
                pt.estimate(draws, loss, search=pt.Search(runs=4), weights=weights, rng=seed, check_draws=False)
    """)


@pytest.mark.parametrize("tiny", [0.0, 1e-300, 5e-324, 1e-25])
@pytest.mark.parametrize("loss", LOSSES)
def test_weightless_draws_change_nothing(loss, tiny):
    draws = np.asarray(make_draws(30, 700, 4, rng=2))
    heavy = np.random.default_rng(3).choice(700, 9, replace=False)
    weights = np.full(700, tiny)
    weights[heavy] = np.linspace(1, 2, 9)
    draws[np.setdiff1d(np.arange(700), heavy)[0]] = np.arange(30)  # would raise the default limit on clusters
    search = pt.Search(runs=4, n_jobs=1)
    kept = np.sort(heavy)
    for method in ("search", "salso", "draws"):
        all_ = pt.estimate(draws, loss, method, search, weights, rng=1, check_draws=False)
        some = pt.estimate(draws[kept], loss, method, search, weights[kept], rng=1, check_draws=False)
        np.testing.assert_array_equal(all_.labels, some.labels)
        assert all_.expected_loss == pytest.approx(some.expected_loss, rel=1e-12)


def test_weightless_draws_with_many_items_and_some_draws():
    draws = np.asarray(make_draws(2100, 80, 4, rng=2))
    weights = np.zeros(80)
    weights[[3, 50]] = 1
    search = pt.Search(runs=2, n_jobs=1)
    all_ = pt.estimate(draws, "binder", search=search, weights=weights, rng=1, check_draws=False)
    some = pt.estimate(draws[[3, 50]], "binder", search=search, rng=1, check_draws=False)
    np.testing.assert_array_equal(all_.labels, some.labels)
    part = pt.estimate(draws, search=pt.Search(runs=2, max_draws=1), weights=weights, rng=1, check_draws=False)
    assert part.held_out is not None
    assert part.held_out.n_search == 1


def test_sample_without_its_weightless_draws_keeps_chains_and_names():
    draws = np.array([[[0, 0, 1], [0, 1, 1]], [[0, 1, 2], [0, 0, 1]]])
    sample = pt.as_sample(draws, weights=[1, 0, 0, 2], names=["a", "b", "c"])
    part, kept = with_weight(sample)
    assert kept.tolist() == [True, False, False, True]
    assert part.index.tolist() == [0, 0]
    assert part.chains is not None
    assert part.chains.tolist() == [0, 1]
    assert part.names == ("a", "b", "c")


# --- gaps -------------------------------------------------------------------------------------------------------------


def test_gaps_and_information_distance():
    labels = in_child(
        "sample = pt.as_sample([[0,-1,-1],[-1,0,1],[0,0,1]], missing=-1)\n"
        "print(pt.estimate(sample, 'id', rng=0).labels.tolist())"
    )
    assert labels.strip() == "[0, 0, 1]"


def test_split_ensembles_of_all_losses():
    """Each draw labels a part of the items only, so that searches begin with draws none of whose items are placed."""
    in_child("""
        square = np.arange(30.0) ** 2
        own = pt.CustomLoss(square, square, square, lambda joint, estimate, draw: (estimate + draw - 2 * joint) / draw)
        for seed in range(4):
            rng = np.random.default_rng(seed)
            draws = rng.integers(3, size=(12, 24))
            parts = np.arange(24) // 8
            draws[parts[None, :] != rng.integers(3, size=12)[:, None]] = -1
            sample = pt.as_sample(draws, missing=-1)
            for loss in (*SEARCHED, own):
                for method in ("search", "salso", "greedy"):
                    best = pt.estimate(sample, loss, method, pt.Search(runs=4), rng=seed, check_draws=False)
                    assert np.isfinite(best.expected_loss)
                    assert all(np.isfinite(run.loss) for run in best.runs)
    """)


def test_gaps_against_enumeration():
    rng = np.random.default_rng(5)
    for _ in range(5):
        draws = rng.integers(3, size=(6, 6))
        draws[rng.random(draws.shape) < 0.5] = -1
        draws = draws[(draws >= 0).any(axis=1)]
        sample = pt.as_sample(draws, missing=-1)
        for loss in SEARCHED:
            search = pt.Search(max_clusters=6, n_jobs=1)
            best = pt.estimate(sample, loss, "enumerate", search, rng=1)
            found = pt.estimate(sample, loss, search=search, rng=1, check_draws=False)
            assert found.expected_loss == pytest.approx(best.expected_loss, abs=1e-9)


# --- weights of losses ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [pt.VI, pt.Binder])
@pytest.mark.parametrize("weights", [(1, 1e307), (1e307, 1), (1e11, 1), (1e-6, 1e5)])
def test_weights_too_uneven_are_refused(loss, weights):
    with pytest.raises(ValueError, match=r"a is .* and b is .*1e\+10 times|must lie between 1e-250 and 1e\+250"):
        loss(*weights)


@pytest.mark.parametrize("size", [1e308, 1e251, 1e-251, 5e-324])
def test_weights_beyond_the_range_are_refused(size):
    with pytest.raises(ValueError, match=r"a is .*; it must lie between 1e-250 and 1e"):
        pt.VI(size, size)


@pytest.mark.parametrize("method", ["search", "salso", "greedy", "draws", "hasse", "laugreen", "exact"])
@pytest.mark.parametrize("power", [-830, -140, -3, 3, 133, 830])
def test_the_scale_of_the_weights_changes_nothing(method, power):
    """A power of two: even the last digit stays."""
    draws, scale = make_draws(20, 30, 3, rng=4), 2.0**power
    search = pt.Search(runs=3, n_jobs=1)
    plain = pt.estimate(draws, pt.Binder(0.75, 1.25), method, search, rng=1, check_draws=False)
    scaled = pt.estimate(draws, pt.Binder(0.75 * scale, 1.25 * scale), method, search, rng=1, check_draws=False)
    np.testing.assert_array_equal(plain.labels, scaled.labels)
    assert scaled.expected_loss == plain.expected_loss * scale
    assert [run.loss for run in scaled.runs] == [run.loss * scale for run in plain.runs]
    assert scaled.runs[:1] == () or [v * scale for v in plain.runs[0].trace] == list(scaled.runs[0].trace)


@pytest.mark.parametrize("power", [-300, 300])
def test_the_scale_of_the_weights_and_what_follows_the_estimate(power):
    draws, scale = make_draws(20, 30, 3, rng=4), 2.0**power
    plain, scaled = (pt.estimate(draws, pt.VI(s, s), rng=1, check_draws=False) for s in (1.0, scale))
    balls = pt.credible_ball(plain), pt.credible_ball(scaled)
    assert balls[1].radius == balls[0].radius * scale
    assert [len(ball.horizontal) for ball in balls] == [len(balls[0].horizontal)] * 2
    found = [pt.modes(draws, 2, loss, rng=1).labels.tolist() for loss in (pt.VI(), pt.VI(scale, scale))]
    assert found[0] == found[1]
    assert scaled.bound(1).gap == pytest.approx(plain.bound(1).gap, abs=0.1)


def test_custom_losses_of_huge_values_are_errors():
    said = in_child("""
        import scipy
        square = np.arange(31.0) ** 2
        draws = make_draws(30, 5, 3, rng=1)
        huge = lambda j, e, d: np.where(e > d, 1.7e308, -1.7e308)
        losses = [pt.CustomLoss(square, square, square, huge),
                  pt.CustomLoss(square * 1e305, square, square, lambda j, e, d: e + d - 2 * j),
                  pt.CustomLoss(square, square, square * 1e200, lambda j, e, d: e + d - 2 * j)]
        for loss in losses:
            for method in ("search", "salso", "greedy", "draws"):
                try:
                    pt.estimate(draws, loss, method, rng=1)
                    print("no error")
                except ValueError as error:
                    assert "size must be at most 1e+150" in str(error), error
    """)
    assert said == ""
