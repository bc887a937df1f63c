"""Figures draw what their data say; the numbers on each axis are checked against a plain computation."""

from collections import Counter
from itertools import combinations
from math import comb
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_rgba

import partita as pt
from partita import plots
from partita.losses.expected import partition_loss
from partita.partitions.lattice import enumerate_partitions
from partita.plots.canvas import HIGHLIGHT, cluster_color, cluster_marker
from partita.plots.matrices import APART, ONLY_ESTIMATE, ONLY_TRUTH, TOGETHER


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


@pytest.fixture
def psm():
    rng = np.random.default_rng(3)
    draws = rng.integers(0, 3, size=(40, 12))
    return np.mean(draws[:, :, None] == draws[:, None, :], axis=0)


def test_display_order_keeps_clusters_together(psm):
    labels = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2])
    order = plots.display_order(labels, psm)
    assert sorted(order) == list(range(12))
    assert np.count_nonzero(np.diff(labels[order])) == 2


def test_display_order_puts_neighbours_side_by_side():
    position = np.random.default_rng(0).permutation(30)
    psm = np.clip(1 - np.abs(position[:, None] - position[None, :]) / 30, 0, 1)
    shown = position[plots.display_order(np.zeros(30, int), psm)]
    assert set(np.abs(np.diff(shown))) == {1}


def test_similarity_map_shows_the_ordered_matrix(psm):
    labels = np.arange(12) % 2
    ax = plots.similarity_map(psm, labels)
    order = plots.display_order(labels, psm)
    assert np.array_equal(ax.images[0].get_array(), psm[np.ix_(order, order)])
    boxes = [patch.get_width() for patch in ax.patches]
    assert boxes == [6, 6]


def test_comparison_map_counts_pairs():
    rng = np.random.default_rng(1)
    x, y = rng.integers(4, size=30), rng.integers(3, size=30)
    shown = plots.comparison_map(x, y).images[0].get_array()
    kinds = [[APART, ONLY_ESTIMATE], [ONLY_TRUTH, TOGETHER]]
    expected = Counter(kinds[int(x[i] == x[j])][int(y[i] == y[j])] for i, j in combinations(range(30), 2))
    assert Counter(np.asarray(shown)[np.triu_indices(30, 1)].tolist()) == expected


def test_adjacency_map_moves_every_edge_to_its_block():
    rng = np.random.default_rng(2)
    labels = rng.permutation(np.repeat([0, 1, 2], 10))
    matrix = (labels[:, None] == labels[None, :]).astype(int)
    image = np.asarray(plots.adjacency_map(matrix, labels).images[0].get_array())
    assert np.array_equal(image, np.kron(np.eye(3), np.ones((10, 10))))


def test_adjacency_map_of_many_nodes_shows_shares():
    from scipy.sparse import eye_array

    ax = plots.adjacency_map(eye_array(3000), np.repeat([0, 1], 1500))
    image = np.asarray(ax.images[0].get_array())
    assert image.shape == (1000, 1000)
    assert image.sum() == pytest.approx(3000 / 9)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("stretch", [None, "vi", "binder"])
def test_hasse_diagram_has_all_partitions_and_coverings(n, stretch):
    ax = plots.hasse(n, stretch=stretch)
    partitions = list(enumerate_partitions(n))
    assert len({text.get_text() for text in ax.texts}) == len(partitions)
    assert len(ax.lines) == sum(comb(int(p.max()) + 1, 2) for p in partitions)
    if stretch is not None:
        heights = sorted(-text.get_position()[1] for text in ax.texts)
        losses = [partition_loss(np.zeros(n, int), p, stretch) for p in partitions]
        assert heights == pytest.approx(sorted(losses))


def test_hasse_ball_is_coloured_up_to_its_radius():
    ax = plots.hasse(4, center=[0, 0, 1, 1], radius=0.5)
    white = [text.get_bbox_patch().get_facecolor()[:3] == (1, 1, 1) for text in ax.texts]
    inside = [partition_loss(p, [0, 0, 1, 1]) <= 0.5 for p in enumerate_partitions(4)]
    assert white == [not i for i in inside]
    with pytest.raises(ValueError, match="between 1 and 5"):
        plots.hasse(6)


def test_ball_panels_match_colours_and_name_the_bounds():
    data = np.array([[0.0, 0], [0, 1], [5, 5], [5, 6]])
    ball = SimpleNamespace(upper=[[0, 0, 0, 0]], lower=[[0, 1, 2, 3]], horizontal=[[1, 1, 0, 2]])
    axes = plots.ball_panels(data, [0, 0, 1, 1], ball)
    titles = [ax.get_title() for ax in axes.flat]
    assert titles[:2] == ["estimate: 2 clusters", "upper bound: 1 cluster"]
    first = axes.flat[3].collections[0]
    assert first.get_offsets().tolist() == data[:2].tolist()
    assert first.get_label() == "0"


def test_points_projects_many_columns():
    data = np.random.default_rng(0).normal(size=(20, 5)) * [5, 3, 1, 1, 1]
    ax = plots.points(data, np.arange(20) % 2)
    assert ax.get_xlabel().startswith("PC 1")
    drawn = np.concatenate([np.asarray(c.get_offsets()) for c in ax.collections])
    assert np.linalg.norm(drawn) == pytest.approx(np.sqrt((np.linalg.svd(data - data.mean(0))[1][:2] ** 2).sum()))


def test_columns_in_different_units_are_scaled():
    data = np.random.default_rng(0).normal(size=(40, 4))
    plain, scaled = plots.points(data, np.arange(40) % 2), plots.points(data * [1, 1, 1, 1000], np.arange(40) % 2)
    assert "scaled" not in plain.get_xlabel()
    assert scaled.get_xlabel().startswith("PC 1 of scaled columns (")
    drawn = np.concatenate([np.asarray(c.get_offsets()) for c in scaled.collections])
    standardised = (data - data.mean(0)) / data.std(0)
    assert np.linalg.norm(drawn) == pytest.approx(np.sqrt((np.linalg.svd(standardised)[1][:2] ** 2).sum()))
    constant = plots.points(np.c_[data[:, :3], np.ones(40)], np.arange(40) % 2)
    assert "scaled" not in constant.get_xlabel()


def test_density_uses_the_given_curve():
    ax = plots.density_plot([0.0, 1.0, 2.0], [0, 0, 1], density=([0, 2], [0, 2]))
    assert np.asarray(ax.collections[0].get_offsets()).tolist() == [[0, 0], [1, 1]]


def test_kernel_density_integrates_to_about_one(shared):
    values = np.loadtxt(shared / "data" / "galaxies.csv", delimiter=",", skiprows=1)[:, 0]
    line = plots.density_plot(values, np.zeros(len(values), int)).lines[0]
    assert np.trapezoid(line.get_ydata(), line.get_xdata()) == pytest.approx(1, abs=0.02)


def test_cluster_counts_are_weighted():
    from partita.draws.sample import as_sample

    sample = as_sample([[0, 0, 0], [0, 1, 1]], weights=[3, 1])
    heights = [bar.get_height() for bar in plots.cluster_counts(sample, estimate=[0, 0, 0]).patches]
    assert heights == pytest.approx([0.75, 0.25])


def test_network_keeps_lonely_nodes_near():
    import networkx

    graph = networkx.karate_club_graph()
    graph.add_nodes_from(["alone", "apart"])
    ax = plots.network(graph, [0] * 34 + [1, 1])
    core, lonely = (np.asarray(points.get_offsets()) for points in ax.collections[1:3])
    assert (lonely[:, 1] < core[:, 1].min()).all()
    assert np.ptp(np.vstack([core, lonely]), axis=0).max() < 1.5 * np.ptp(core, axis=0).max()


def test_network_draws_each_edge_once():
    import networkx

    graph = networkx.karate_club_graph()
    ax = plots.network(graph, np.arange(34) % 12)
    assert len(ax.collections[0].get_segments()) == 78
    with pytest.raises(ValueError, match="labels has 3 items, but graph has 34"):
        plots.network(graph, [0, 1, 2])


def test_run_trace_colours_the_best():
    ax = plots.run_trace([[3, 2], [3, 1, 0.5], [4, 2]])
    assert ax.lines[-1].get_ydata().tolist() == [3, 1, 0.5]
    with pytest.raises(ValueError, match="at least one"):
        plots.run_trace([])


def test_forty_clusters_can_be_told_apart():
    assert len({(cluster_color(k), cluster_marker(k)) for k in range(40)}) == 40


@pytest.mark.parametrize(
    "draw",
    [
        lambda ax: plots.similarity_map(np.eye(3), [0, 0, 1], ax=ax),
        lambda ax: plots.comparison_map([0, 1], [0, 0], ax=ax),
        lambda ax: plots.adjacency_map(np.eye(2), [0, 1], ax=ax),
        lambda ax: plots.points([[0, 0], [1, 1]], [0, 1], ax=ax),
        lambda ax: plots.density_plot([1.0, 1.0], [0, 1], ax=ax),
        lambda ax: plots.cluster_counts([[0, 0], [0, 1]], ax=ax),
        lambda ax: plots.item_certainty([0, 1], [1, 1], ax=ax),
        lambda ax: plots.run_trace([[1.0]], ax=ax),
        lambda ax: plots.weight_path([1], [2], ax=ax),
        lambda ax: plots.hasse(3, ax=ax),
        lambda ax: plots.network(np.eye(2), [0, 1], ax=ax),
        lambda ax: plots.dendrogram(pt.merge_tree([0, 1, 2], [[0, 0, 1], [0, 1, 2]]), ax=ax),
    ],
)
def test_every_figure_draws_into_the_axes_it_is_given(draw):
    figure, ax = pyplot.subplots()
    assert draw(ax) is ax
    figure.canvas.draw()
    assert pyplot.get_fignums() == [figure.number]


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plots.similarity_map([[1, 2], [2, 1]], [0, 1]), r"psm\[0, 1\] is 2.0"),
        (lambda: plots.similarity_map(np.eye(3), [0, 1]), "3 rows but labels has 2"),
        (lambda: plots.comparison_map([0, 1], [0]), "truth has 2 items, but estimate has 1"),
        (lambda: plots.points([[0, np.nan]], [0]), r"data\[0, 1\] is nan"),
        (lambda: plots.adjacency_map(np.eye(3), [0, 1]), "labels has 2 items"),
    ],
)
def test_bad_input_is_named(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


@pytest.fixture(scope="module")
def best():
    draws = pt.datasets.make_draws(24, 120, n_clusters=4, rng=1)
    return pt.estimate(pt.as_sample(draws, names=[f"gene {i}" for i in range(24)]), rng=1)


def test_figures_take_an_estimate_where_they_take_labels(best):
    data = pd.DataFrame({"height": np.arange(24.0), "width": np.arange(24.0) ** 2}, index=best.sample.names)
    ax = plots.points(data.iloc[::-1], best)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("height", "width")
    first = ax.collections[0].get_offsets()
    assert first[:, 0].tolist() == np.flatnonzero(best.labels == 0).tolist()  # matched by name
    image = plots.similarity_map(best).images[0].get_array()
    assert np.allclose(image, plots.similarity_map(pt.similarity(best.sample), best).images[0].get_array())
    assert plots.run_trace(best).lines[-1].get_ydata()[-1] == pytest.approx(best.expected_loss)
    heights = [bar.get_height() for bar in plots.item_certainty(best).patches]
    assert sorted(heights) == pytest.approx(sorted(pt.item_certainty(best).probability))
    orange = [bar for bar in plots.cluster_counts(best).patches if bar.get_facecolor() == to_rgba(HIGHLIGHT)]
    assert [round(bar.get_x() + bar.get_width() / 2) for bar in orange] == [best.n_clusters]
    assert len(plots.density_plot(data["height"], best).lines) == 1
    assert plots.density_plot(data["height"], best).get_xlabel() == "height"
    with pytest.raises(ValueError, match="certainty is missing"):
        plots.item_certainty(best.labels)


def test_an_estimate_plots_itself(best):
    assert best.plot().images
    assert len(best.plot(np.arange(24.0)).lines) == 1


def test_leaves_of_a_dendrogram_differ_by_colour_or_marker():
    separate = np.arange(10)
    ax = plots.dendrogram(pt.merge_tree(separate, [separate, separate // 2]))
    looks = {(tuple(dot.get_facecolor()[0]), dot.get_paths()[0].vertices.tobytes()) for dot in ax.collections}
    assert len(looks) == 10


def test_the_dendrogram_merges_all_clusters(best):
    ax = plots.dendrogram(best)
    tree = pt.merge_tree(best)
    assert len(ax.lines) == best.n_clusters - 1
    assert max(line.get_ydata().max() for line in ax.lines) == pytest.approx(tree.linkage()[-1, 2])
    assert sorted(int(leaf.get_text()) for leaf in ax.get_xticklabels()) == list(range(best.n_clusters))
    with pytest.raises(ValueError, match="no merges"):
        plots.dendrogram(pt.estimate([[0, 0], [0, 0]], rng=1))
    with pytest.raises(TypeError, match="not ndarray"):
        plots.dendrogram(best.labels)


def test_legends_are_whole_in_saved_figures(best):
    drawn = (
        plots.comparison_map(best.labels, np.arange(24) % 4),
        plots.points(np.arange(48.0).reshape(24, 2), np.arange(24) % 12),
        plots.run_trace(best),
    )
    for ax in drawn:
        ax.figure.canvas.draw()
        legend = ax.get_legend() or ax.figure.legends[0]
        box, page = legend.get_window_extent(), ax.figure.bbox
        assert page.x0 <= box.x0 < box.x1 <= page.x1
        assert page.y0 <= box.y0 < box.y1 <= page.y1
