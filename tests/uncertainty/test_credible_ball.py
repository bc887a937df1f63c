"""Credible balls: the definition by brute force, its invariances, and the published galaxy draws."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import average, cut_tree
from scipy.spatial.distance import squareform

from partita.draws.sample import as_sample
from partita.estimation.estimate import estimate
from partita.losses.expected import expected_loss
from partita.losses.losses import LOSSES, VI, Binder, as_loss
from partita.pairs.similarity import similarity
from partita.uncertainty.ball import credible_ball
from support import reference as ref
from support.strategies import samples

levels = st.sampled_from([0.05, 0.3, 0.5, 0.8, 0.95, 1.0])
metrics = pytest.mark.parametrize("loss", [name for name in LOSSES if as_loss(name).is_metric])


def direct_radius(distances, weights, level):
    """The smallest of the distances whose ball holds the level."""
    total = sum(weights)
    for radius in sorted(distances):
        held = sum(w for d, w in zip(distances, weights, strict=True) if d <= radius + 1e-9)
        if held >= (level - 1e-9) * total:
            return radius
    raise AssertionError("the largest distance holds everything")


@metrics
@given(samples(max_items=6), levels)
def test_ball_is_the_definition(loss, sample, level):
    rows, weights = sample
    ball = credible_ball(rows[0], as_sample(rows, weights), loss=loss, level=level)
    distances = ref.distances(rows[0], rows, ref.LOSSES[loss])
    assert ball.radius == pytest.approx(direct_radius(distances, weights, level), abs=1e-8)
    inside = [d <= ball.radius + 1e-9 for d in distances]
    mass = sum(w for w, i in zip(weights, inside, strict=True) if i) / sum(weights)
    assert ball.mass == pytest.approx(mass)
    assert ball.mass >= level - 1e-9
    assert ball.n_inside == len({ref.canonical(r) for r, i in zip(rows, inside, strict=True) if i})
    closer = sum(w for w, d in zip(weights, distances, strict=True) if d < ball.radius - 1e-9)
    assert closer / sum(weights) < level


@metrics
@given(samples(max_items=6), levels)
def test_bounds_are_the_definition(loss, sample, level):
    rows, weights = sample
    ball = credible_ball(rows[0], as_sample(rows, weights), loss=loss, level=level)
    distance = {ref.canonical(r): d for r, d in zip(rows, ref.distances(rows[0], rows, ref.LOSSES[loss]), strict=True)}
    inside = [r for r, d in distance.items() if d <= ball.radius + 1e-9]
    fewest, most = min(map(max, inside)), max(map(max, inside))
    for found, pool in [
        (ball.upper, [r for r in inside if max(r) == fewest]),
        (ball.lower, [r for r in inside if max(r) == most]),
        (ball.horizontal, inside),
    ]:
        far = max(distance[r] for r in pool)
        assert {tuple(p.tolist()) for p in found} == {r for r in pool if distance[r] >= far - 1e-9}
        assert all(ball.contains(p) for p in found)


@given(samples(max_items=7), st.randoms(use_true_random=False))
def test_relabelling_item_order_and_duplicates_do_not_matter(sample, random):
    rows, _ = sample
    counts = [random.randint(1, 4) for _ in rows]
    order = list(range(len(rows[0])))
    random.shuffle(order)
    weighted = credible_ball(rows[0], as_sample(rows, counts), level=0.8)
    moved = [[5 * row[i] + 3 for i in order] for row in rows]
    repeated = [row for row, count in zip(moved, counts, strict=True) for _ in range(count)]
    random.shuffle(repeated)
    plain = credible_ball(moved[0], repeated, level=0.8)
    assert plain.radius == pytest.approx(weighted.radius, abs=1e-12)
    assert plain.mass == pytest.approx(weighted.mass)
    assert plain.n_inside == weighted.n_inside

    def as_sets(partitions, place):
        return {ref.canonical([int(p[i]) for i in place]) for p in partitions}

    for bound in ("upper", "lower", "horizontal"):
        back = np.argsort(order)
        assert as_sets(getattr(plain, bound), back) == as_sets(getattr(weighted, bound), range(len(order)))


@given(samples(max_items=7))
def test_balls_are_nested_in_the_level(sample):
    rows, weights = sample
    balls = [credible_ball(rows[-1], as_sample(rows, weights), level=p) for p in (0.1, 0.4, 0.7, 0.9, 1.0)]
    for smaller, larger in pairwise(balls):
        assert smaller.radius <= larger.radius
        assert not (smaller.inside & ~larger.inside).any()


def test_whole_draws_are_counted():
    """0.07 · 100 is more than 7 and 0.1 + 0.2 more than 0.3 in floating point; neither may matter."""
    near, far = [0, 0, 0, 1], [0, 1, 2, 3]
    assert credible_ball(near, [near] * 7 + [far] * 93, level=0.07).radius == 0
    assert credible_ball(near, [near] * 6 + [far] * 94, level=0.07).radius > 0
    assert credible_ball(near, as_sample([near] * 7 + [far] * 93, [1.0] * 7 + [1.0] * 93), level=0.07).radius == 0
    assert credible_ball(near, as_sample([near, far], [0.3, 0.7]), level=0.1 + 0.2).radius == 0


def test_a_draw_without_weight_bounds_nothing():
    ball = credible_ball([0, 0, 1], as_sample([[0, 0, 1], [0, 1, 2], [0, 0, 0]], [1, 0, 1]), level=1.0)
    assert [p.tolist() for p in ball.lower] == [[0, 0, 1]]
    assert ball.n_inside == 2


@pytest.mark.parametrize("loss", ["omari", VI(a=0.5), Binder(b=2)], ids=str)
def test_a_loss_that_is_no_metric_warns(loss):
    with pytest.warns(UserWarning, match="not a metric"):
        ball = credible_ball([0, 0, 1], [[0, 0, 1], [0, 1, 2]], loss=loss, level=1)
    assert ball.mass == 1


def test_summary_has_a_row_for_each_bound():
    ball = credible_ball([0, 0, 1], [[0, 0, 1], [0, 1, 2], [0, 0, 0]], level=1)
    assert [(row["partition"], row["clusters"]) for row in ball.summary()] == [
        ("estimate", 2),
        ("upper", 1),
        ("lower", 3),
        ("horizontal", 1),
    ]
    assert ball.to_pandas().shape == (4, 4)
    assert "radius" in repr(ball)
    assert "<table>" in ball._repr_html_()


@pytest.mark.parametrize("level", [0, -0.1, 1.01, float("nan")])
def test_level_outside_its_range(level):
    with pytest.raises(ValueError, match="level must be above 0 and at most 1"):
        credible_ball([0, 1], [[0, 1]], level=level)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="estimate has 3 items, but draws has 2"):
        credible_ball([0, 1, 1], [[0, 1]])
    with pytest.raises(ValueError, match="estimate has 2 items, but draws has 3"):
        credible_ball(estimate([[0, 1], [0, 0]], rng=1), [[0, 1, 1]])
    with pytest.raises(TypeError, match="draws= is required"):
        credible_ball([0, 1, 1])


def best_cut(sample, loss):
    tree = average(squareform(1 - similarity(sample), checks=False))
    cuts = [cut_tree(tree, k)[:, 0] for k in range(1, 17)]
    return min(cuts, key=lambda labels: expected_loss(labels, sample, loss))


def test_the_published_galaxy_draws(shared):
    sample = as_sample(np.load(shared / "reference/draws/galaxy.npz")["draws"])
    vi = credible_ball(best_cut(sample, "vi"), sample, loss="vi")
    assert vi.center.max() + 1 == 3
    assert vi.radius == pytest.approx(1.832173, abs=5e-7)
    rows = {row["partition"]: row for row in vi.summary()}
    assert (rows["upper"]["clusters"], rows["lower"]["clusters"], rows["horizontal"]["clusters"]) == (
        2,
        15,
        8,
    )
    assert rows["upper"]["distance"] == pytest.approx(1.363592, abs=5e-7)
    assert rows["lower"]["distance"] == pytest.approx(1.669325, abs=5e-7)
    binder = credible_ball(best_cut(sample, "binder"), sample, loss="binder")
    assert binder.radius == pytest.approx(0.450030, abs=5e-7)
    assert sorted(int(p.max()) + 1 for p in binder.horizontal) == [6, 8, 11]
    assert [len(ball.upper) for ball in (vi, binder)] == [1, 1]
