"""Items are matched by name wherever both sides have names; names that do not match are an error that lists them."""

import numpy as np
import pandas as pd
import pytest

import partita as pt
from partita import plots
from partita._support.names import as_named, names_or_none, order_by_name, row_names
from support.pages import content_of, figure, table

NAMES = [f"gene {letter}" for letter in "abcdefghijklmnopqrst"]


@pytest.fixture(scope="module")
def frame():
    """Draws of named items in which it matters who is who."""
    return pd.DataFrame(pt.datasets.make_draws(20, 60, n_clusters=4, rng=5), columns=NAMES)


@pytest.fixture(scope="module")
def best(frame):
    return pt.estimate(frame, rng=1)


def shuffled(series, seed=0):
    return series.sample(frac=1, random_state=seed)


def test_two_series_are_matched_by_their_index(best):
    labels = best.to_pandas()["cluster"]
    other = pd.Series(np.arange(20) % 3, index=NAMES)
    for measure in (pt.adjusted_rand, pt.nmi, pt.f1, pt.partition_loss):
        assert measure(labels, shuffled(other)) == measure(labels.to_numpy(), other.to_numpy())
    assert pt.adjusted_rand(labels, shuffled(labels)) == 1
    expected = pt.compare_partitions(other.to_numpy(), best.labels)
    assert pt.compare_partitions(shuffled(other), labels) == pytest.approx(expected)
    assert pt.meet(labels, shuffled(other)).tolist() == pt.meet(best.labels, other.to_numpy()).tolist()
    assert pt.join(labels, shuffled(other)).tolist() == pt.join(best.labels, other.to_numpy()).tolist()
    assert pt.refines(labels, shuffled(labels))
    assert pt.align_labels(labels, shuffled(other)).tolist() == pt.align_labels(best.labels, other).tolist()
    gaps = other.where(other > 0, -1)
    assert pt.align_labels(labels, shuffled(gaps)).tolist() == pt.align_labels(best.labels, gaps).tolist()


def test_an_estimate_is_a_partition_with_names(best):
    labels = best.to_pandas()["cluster"]
    assert pt.adjusted_rand(best, shuffled(labels)) == 1
    assert pt.compare_partitions(shuffled(labels), best)["vi"] == 0


def test_labels_are_matched_with_the_draws(frame, best):
    labels, truth = best.to_pandas()["cluster"], pd.Series(np.arange(20) % 3, index=NAMES)
    assert pt.credible_ball(shuffled(labels), frame).radius == pt.credible_ball(best.labels, frame).radius
    assert pt.credible_ball(best, frame[NAMES[::-1]]).radius == pytest.approx(pt.credible_ball(best).radius)
    assert (pt.distances(shuffled(labels), frame) == pt.distances(best.labels, frame)).all()
    assert pt.expected_loss(shuffled(labels), frame) == best.expected_loss == pt.expected_loss(best, frame)
    many = pt.expected_loss([shuffled(labels), shuffled(truth, 1)], frame)
    assert many.tolist() == pt.expected_loss([best.labels, truth.to_numpy()], frame).tolist()
    turned = pt.as_sample(frame[NAMES[::-1]])
    assert pt.expected_loss(turned, frame).tolist() == pt.expected_loss(pt.as_sample(frame), frame).tolist()
    ball = pt.credible_ball(best)
    assert ball.contains(shuffled(labels))
    certain = pt.item_certainty(best).probability
    assert (pt.item_certainty(shuffled(labels), frame).probability == certain).all()
    matrix = pd.DataFrame(pt.similarity(frame), index=NAMES, columns=NAMES)
    assert pt.pear(shuffled(labels), matrix) == pt.pear(best.labels, matrix.to_numpy())
    assert pt.vi_lower_bound(shuffled(labels), matrix) == pt.vi_lower_bound(best.labels, matrix.to_numpy())


def page(best, **given):
    return content_of(best, **given)


def test_report_matches_truth_and_data(best, tmp_path):
    truth = pd.Series(np.arange(20) % 3, index=NAMES)
    data = pd.DataFrame({"x": np.arange(20.0), "y": np.arange(20.0) ** 2}, index=NAMES)
    plain = page(best, truth=truth.to_numpy(), data=data.to_numpy())
    mixed = page(best, truth=shuffled(truth), data=shuffled(data))
    assert table(mixed, "truth").rows == table(plain, "truth").rows
    assert figure(mixed, "points") == figure(plain, "points") | {"axes": ["x", "y"]}
    assert figure(page(best, data=shuffled(data["x"])), "points")["x"] == list(range(20))
    with pytest.raises(ValueError, match="not in truth: 'gene a'; not in the estimate: 'gene A'"):
        pt.report(best, truth=truth.rename({"gene a": "gene A"}), path=tmp_path / "page.html")
    with pytest.raises(ValueError, match="not in data: 'gene c'"):
        pt.report(best, data=data.drop("gene c"), path=tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_plots_match_data_labels_and_nodes(best):
    networkx = pytest.importorskip("networkx")
    labels = best.to_pandas()["cluster"]
    data = pd.DataFrame({"x": np.arange(20.0), "y": np.arange(20.0) ** 2}, index=NAMES)
    graph = networkx.path_graph(20)
    graph = networkx.relabel_nodes(graph, dict(enumerate(NAMES)))
    matrix = pd.DataFrame(pt.similarity(best.sample), index=NAMES, columns=NAMES)
    ball = pt.credible_ball(best)

    def drawn(ax):
        return [np.asarray(c.get_offsets()).tolist() for c in ax.collections if hasattr(c, "get_offsets")]

    assert drawn(plots.points(shuffled(data), labels)) == drawn(plots.points(data.to_numpy(), best.labels))
    assert drawn(plots.points(shuffled(data), best)) == drawn(plots.points(data.to_numpy(), best.labels))
    assert drawn(plots.network(graph, shuffled(labels))) == drawn(plots.network(graph, best.labels))
    for mine, plain in zip(
        plots.ball_panels(shuffled(data), shuffled(labels), ball).flat,
        plots.ball_panels(data.to_numpy(), best.labels, ball).flat,
        strict=True,
    ):
        assert drawn(mine) == drawn(plain)
    images = [plots.similarity_map(matrix, given).images[0].get_array() for given in (shuffled(labels), best.labels)]
    assert (images[0] == images[1]).all()
    certainty = pd.Series(pt.item_certainty(best).probability, index=NAMES)
    heights = [
        [bar.get_height() for bar in plots.item_certainty(labels, given).patches]
        for given in (shuffled(certainty), certainty.to_numpy())
    ]
    assert heights[0] == heights[1]


def test_chains_with_their_columns_in_another_order(frame):
    halves = [frame[:30], frame[30:][NAMES[::-1]]]
    assert (pt.as_sample(halves).to_numpy() == pt.as_sample([frame[:30], frame[30:]]).to_numpy()).all()


def test_files_with_their_columns_in_another_order(frame, tmp_path):
    frame[:30].to_csv(tmp_path / "part-1.csv", index=False)
    frame[30:][NAMES[::-1]].to_csv(tmp_path / "part-2.csv", index=False)
    whole = pt.as_sample(frame).to_numpy()
    assert (pt.read_draws([tmp_path / "part-1.csv", tmp_path / "part-2.csv"]).to_numpy() == whole).all()
    assert (pt.read_draws(tmp_path / "part-*.csv").to_numpy() == whole).all()
    (tmp_path / "part-2.csv").write_text(",".join(NAMES[1:]) + ",gene z\n" + ",".join("-" * 20) + "\n")
    with pytest.raises(ValueError, match=r"not in \S*part-2\.csv: 'gene a'; not in \S*part-1\.csv: 'gene z'"):
        pt.read_draws(tmp_path / "part-*.csv")
    cell = "1," * 19 + "-3\n"
    (tmp_path / "part-2.csv").write_text(",".join(NAMES[::-1]) + "\n" + cell)
    with pytest.raises(ValueError, match=r"part-2\.csv, line 2, column 20, is -3"):
        pt.read_draws(tmp_path / "part-*.csv")


def test_weights_are_matched_where_draws_have_an_index(frame):
    draws = frame.set_axis([f"d{i}" for i in range(60)])
    weights = pd.Series(np.arange(1.0, 61), index=draws.index)
    expected = pt.as_sample(frame, weights.to_numpy()).weights
    assert (pt.as_sample(draws, shuffled(weights)).weights == expected).all()
    assert (pt.as_sample(frame, weights).weights == expected).all()  # by position: the draws only count
    with pytest.raises(ValueError, match="items of weights and of draws have different names; not in weights: 'd0'"):
        pt.as_sample(draws, weights.rename({"d0": "d60"}))
    with pytest.raises(ValueError, match=r"weights and draws number their items in different orders"):
        pt.as_sample(frame, shuffled(weights.reset_index(drop=True)))


def test_names_that_do_not_match_are_listed():
    x = pd.Series(range(8), index=list("abcdefgh"))
    y = pd.Series(range(8), index=list("stuvwxyz"))
    with pytest.raises(ValueError) as error:
        pt.adjusted_rand(x, y)
    assert str(error.value) == (
        "the items of y and of x have different names; not in y: 'a', 'b', 'c', 'd', 'e', ... (8 in all); "
        "not in x: 's', 't', 'u', 'v', 'w', ... (8 in all)"
    )
    with pytest.raises(ValueError, match=r"different names; not in y: 'h'$"):
        pt.adjusted_rand(x, x[:7])
    with pytest.raises(ValueError, match=r"y has duplicate item names, which cannot be matched: 'a'$"):
        pt.adjusted_rand(x, x.set_axis(list("aacdefgh")))
    same = x.set_axis(list("aacdefgh"))
    assert pt.adjusted_rand(same, same) == 1  # the same names in the same order need no match


def test_without_names_on_both_sides_positions_decide(frame, best):
    truth = np.arange(20) % 3
    named = pd.Series(truth, index=NAMES[::-1])
    expected = pt.adjusted_rand(best.labels, truth)
    assert pt.adjusted_rand(best.labels, named) == pt.adjusted_rand(named, best.labels) == expected
    assert pt.adjusted_rand(pd.Series(best.labels), named) == expected
    assert pt.adjusted_rand(best, truth) == expected
    assert pt.adjusted_rand(best, pd.Series(truth)) == expected
    assert pt.adjusted_rand(best, pd.Series(truth, index=range(1, 21))) == expected  # row numbers, as R counts
    with pytest.raises(ValueError, match="x has 20 items, but y has 19"):
        pt.adjusted_rand(best.labels, named[1:])
    with pytest.raises(ValueError, match="estimate has 19 items, but draws has 20"):
        pt.credible_ball(pd.Series(truth[1:], index=NAMES[1:]), frame.to_numpy())


def test_numbers_in_another_order_are_not_guessed(best):
    """They may be the numbers of the items, or what sorting the rows has left of them."""
    labels = pd.Series(best.labels)
    for given in ((labels, shuffled(labels)), (shuffled(labels), labels), (best.labels, shuffled(labels))):
        with pytest.raises(ValueError, match=r"different orders .*: pass y\.to_numpy\(\) if their rows are"):
            pt.adjusted_rand(*given)
    mixed = shuffled(labels)
    assert pt.adjusted_rand(labels, mixed.sort_index()) == 1
    assert pt.adjusted_rand(mixed.to_numpy(), mixed.to_numpy()) == 1
    assert pt.adjusted_rand(mixed, shuffled(labels, 1)) == 1  # both have numbers of their own: names like others


def test_order_by_name():
    assert order_by_name(("b", "a"), ("a", "b"), "x", "y").tolist() == [1, 0]
    assert order_by_name(("a", "b"), ("a", "b"), "x", "y") is None
    assert order_by_name(("1", "2"), ("a", "b"), "x", "y") is None
    assert order_by_name(("2", "1"), ("1", "2"), "x", "y").tolist() == [1, 0]
    with pytest.raises(ValueError, match="not in x: 'a', 'b'; not in y: '2', '1'"):
        order_by_name(("2", "1"), ("a", "b"), "x", "y")


def test_names_of_rows():
    assert names_or_none(["0", "1"]) is None
    assert names_or_none(["item0", "item1"]) is None
    assert names_or_none([1, 2]) == ("1", "2")
    assert row_names([1, 2]) is None
    assert row_names(pd.Series([5, 6])) is None
    assert row_names(pd.Series([5, 6], index=[0, 1])) is None
    assert row_names(pd.Series([5, 6], index=[1, 0])) == ("1", "0")
    xarray = pytest.importorskip("xarray")
    array = xarray.DataArray([1, 2], dims="item", coords={"item": ["a", "b"]})
    assert row_names(array) == ("a", "b")
    assert row_names(array.drop_vars("item")) is None
    assert as_named(array, "x").in_order_of(("b", "a"), 2, "y").values.tolist() == [2, 1]
