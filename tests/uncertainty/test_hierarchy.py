"""Trees of clusterings: each level against all merges or splits of its neighbour, support against its definition."""

import sys

import numpy as np
import pytest

import partita as pt
from partita.datasets import make_draws
from partita.draws.sample import as_sample
from partita.uncertainty import merges
from partita.uncertainty.hierarchy import hierarchy

LOSSES = ("vi", "binder", "nvi", "omari", pt.VI(a=0.5), pt.Binder(a=0.5))


def is_one_step(fine, coarse):
    return pt.refines(fine, coarse) and max(fine) == max(coarse) + 1


@pytest.mark.parametrize("loss", LOSSES)
def test_every_level_is_the_best_next_to_the_one_it_was_made_from(loss):
    every = np.array(list(pt.enumerate_partitions(6)))
    for seed in range(4):
        draws = make_draws(6, 40, 3, doubt=0.4, rng=seed)
        tree = hierarchy(draws, loss, finest=6, rng=1)
        losses = pt.expected_loss(every, draws, loss)
        np.testing.assert_allclose(pt.expected_loss(tree.levels, draws, loss), tree.expected_loss, atol=1e-9)
        assert tree.n_clusters.tolist() == [6, 5, 4, 3, 2, 1]
        for at in range(tree.estimate_level, 5):
            near = [value for row, value in zip(every, losses, strict=True) if is_one_step(tree.levels[at], row)]
            assert tree.expected_loss[at + 1] == pytest.approx(min(near))
        for at in range(tree.estimate_level, 0, -1):
            near = [value for row, value in zip(every, losses, strict=True) if is_one_step(row, tree.levels[at])]
            assert tree.expected_loss[at - 1] == pytest.approx(min(near))


@pytest.mark.parametrize("loss", [pt.VI(), pt.Binder(), pt.VI(a=0.5)])
def test_splits_by_moves_reach_the_best_of_all(loss, monkeypatch):
    reached = 0
    for seed in range(10):
        sample = as_sample(make_draws(10, 60, 3, doubt=0.3, rng=seed))
        whole = np.zeros(10, np.int64)
        best = merges.split_losses(whole, [merges.best_split(whole, 0, sample, loss)], sample, loss)[0]
        monkeypatch.setattr(merges, "FEW_ITEMS", 1)
        found = merges.split_losses(whole, [merges.best_split(whole, 0, sample, loss)], sample, loss)[0]
        monkeypatch.undo()
        assert found >= best - 1e-12
        reached += found <= best + 1e-12
    assert reached >= 9


def test_a_fault_in_the_splits_is_found(monkeypatch):
    module = sys.modules["partita.uncertainty.hierarchy"]
    monkeypatch.setattr(module, "best_split", lambda labels, k, *_: np.flatnonzero(labels == k)[:1])
    with pytest.raises(AssertionError):
        test_every_level_is_the_best_next_to_the_one_it_was_made_from("vi")


def clusters_of(row):
    return [set(np.flatnonzero(row == k)) for k in range(max(row) + 1)]


def crosses(node, cluster):
    return bool(node & cluster and cluster - node and node - cluster)


def transfers(node, row, n):
    """The least number of items to add or remove until no cluster crosses the node: over all sets."""
    return min(
        len(node ^ other)
        for mask in range(1, 1 << n)
        if not any(crosses(other := {i for i in range(n) if mask >> i & 1}, c) for c in clusters_of(row))
        and other & node
    )


def test_support_against_its_definition():
    draws = np.array([pt.canonical(row) for row in make_draws(6, 25, 3, doubt=0.4, rng=2)])
    tree = hierarchy(draws, finest=5, rng=1)
    for node, members in enumerate(tree.members):
        items = set(np.flatnonzero(members))
        moved = [transfers(items, row, 6) for row in draws]
        if len(items) > 1:
            assert tree.support.transfer[node] == pytest.approx(1 - np.mean(moved) / (len(items) - 1))
        free = [not any(crosses(items, c) for c in clusters_of(row)) for row in draws]
        assert (
            tree.support.compatible[node] == pytest.approx(np.mean(free)) == pytest.approx(np.mean(np.equal(moved, 0)))
        )
        assert tree.support.together[node] == pytest.approx(
            np.mean([any(items <= c for c in clusters_of(r)) for r in draws])
        )
        assert tree.support.exact[node] == pytest.approx(np.mean([items in clusters_of(row) for row in draws]))


def nested_draws(seed=1, count=30):
    rng = np.random.default_rng(seed)
    fine = np.array([pt.canonical(row) for row in np.where(rng.random((count, 8)) < 0.15, 4, np.arange(8) // 2)])
    coarse = np.array(
        [pt.canonical((row >= 2).astype(int)) if rng.random() < 0.8 else np.zeros(8, int) for row in fine]
    )
    return fine, np.array([pt.join(f, c) for f, c in zip(fine, coarse, strict=True)])


def test_nested_draws():
    fine, coarse = nested_draws()
    tree = hierarchy(fine, coarser=[coarse], rng=1)
    assert pt.refines(tree.levels[0], tree.levels[1])
    every = [row for row in map(np.array, pt.enumerate_partitions(8)) if pt.refines(tree.levels[0], row)]
    assert tree.expected_loss[1] == pytest.approx(min(pt.expected_loss(np.array(every), coarse)))
    for node, members in enumerate(tree.members):
        items = set(np.flatnonzero(members))
        trees = [clusters_of(f) + clusters_of(c) for f, c in zip(fine, coarse, strict=True)]
        moved = [min([len(items ^ c) for c in clusters] + [len(items) - 1]) for clusters in trees]
        assert tree.support.transfer[node] == pytest.approx(1 - np.mean(moved) / (len(items) - 1))
        assert tree.support.exact[node] == pytest.approx(np.mean([items in clusters for clusters in trees]))
        free = [not any(crosses(items, c) for c in clusters) for clusters in trees]
        assert tree.support.compatible[node] == pytest.approx(np.mean(free))


def test_cut_newick_and_tables():
    sample = as_sample([[0, 0, 1, 1, 2]] * 3 + [[0, 0, 1, 2, 2]], names=["a", "b c", "d", "it's", "e"])
    tree = pt.hierarchy(sample, rng=1)
    assert tree.cut(1).tolist() == [0] * 5
    assert tree.newick().endswith(";")
    assert "'b c'" in tree.newick()
    assert "'it''s'" in tree.newick()
    assert tree.newick().count("(") == tree.newick().count(")")
    assert tree.to_pandas().shape == (len(tree.parents), 7)
    assert "clusters" in repr(tree)
    assert "Hierarchy" in tree._repr_html_()
    with pytest.raises(ValueError, match="k is 9, but the levels have"):
        tree.cut(9)


def test_degenerate_posteriors():
    constant = hierarchy([[0, 0, 1]] * 5, rng=1)
    assert constant.n_clusters.tolist() == [2, 1]
    assert constant.support.exact.tolist() == [1, 1, 0]
    one = hierarchy([[0]] * 3, rng=1)
    assert one.newick() == "0;"
    assert "single items" in repr(one)
    best = pt.estimate(make_draws(30, 100, 4, rng=1), "binder", rng=1)
    tree = hierarchy(best)
    assert tree.loss == best.loss
    assert (tree.levels[tree.estimate_level] == best.labels).all()


def test_bad_input():
    draws = make_draws(6, 20, 3, rng=1)
    with pytest.raises(ValueError, match="finest is 9, but it must be at least the estimate's"):
        hierarchy(draws, finest=9)
    with pytest.raises(ValueError, match=r"coarser\[0\] has 19 draws of 6 items, but draws has 20 draws of 6 items"):
        hierarchy(draws, coarser=[draws[:19]])
    with pytest.raises(ValueError, match="finest is for flat draws"):
        hierarchy(draws, coarser=[draws], finest=3)
    with pytest.raises(ValueError, match="label every item"):
        hierarchy(as_sample([[0, -1, 1]], missing=-1))


def test_the_picture(tmp_path):
    ax = pt.plots.hierarchy(hierarchy(make_draws(40, 60, 5, rng=1), rng=1))
    assert ax.get_ylabel() == "number of clusters"
    ax.figure.savefig(tmp_path / "tree.png")
