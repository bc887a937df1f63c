"""What the report says: exact means for its map, honest sentences, one file that is complete or absent."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import partita as pt
from partita.estimation.search_warnings import search_warnings
from partita.pages.page import render
from partita.pages.report import write_page
from partita.results import blocks
from partita.results.balls import ball_sentence
from partita.results.blocks import block_means, next_clusters
from partita.results.chains import _rank_shares
from partita.results.colors import label_colors
from partita.results.figures import ball_strips, trace_figure
from partita.results.heatmap import BINS, LARGEST_FULL, UNKNOWN, HeatMap, heat_map
from partita.results.interpretation import interpretation
from partita.results.present import present
from partita.results.sentences import amount, sizes_in_words
from partita.results.tables import Column, Table
from partita.search import METHODS
from partita.search.result import RunRow
from partita.uncertainty.ball import credible_ball
from support.pages import content_of, figure, has_table, table


def random_sample(rng, n_items=12, gaps=False):
    draws = rng.integers(0, 4, size=(25, n_items))
    if gaps:
        draws[rng.random(draws.shape) < 0.2] = -1
        draws[:, 0] = 0
    return pt.as_sample(draws, weights=rng.random(25), missing=-1 if gaps else None)


@pytest.mark.parametrize("gaps", [False, True])
def test_block_means_are_exact(gaps):
    rng = np.random.default_rng(5)
    sample, groups = random_sample(rng, gaps=gaps), np.array([0, 0, 1, 2, 2, 2, 1, 0, 3, 3, 1, 0])
    known = sample.labels >= 0
    together = (sample.labels[:, :, None] == sample.labels[:, None, :]) & known[:, :, None] & known[:, None, :]
    both = known[:, :, None] & known[:, None, :]
    joint, seen = (np.tensordot(sample.weights, x.astype(float), 1) for x in (together, both))
    expected = [
        [joint[np.ix_(groups == g, groups == h)].sum() / seen[np.ix_(groups == g, groups == h)].sum() for h in range(4)]
        for g in range(4)
    ]
    assert np.allclose(block_means(groups, sample), expected, atol=1e-6)


@pytest.mark.parametrize("gaps", [False, True])
def test_block_means_by_cells_that_are_not_empty_are_the_same(gaps, monkeypatch):
    sample, groups = random_sample(np.random.default_rng(8), gaps=gaps), np.arange(12) % 5
    by_table = block_means(groups, sample)
    monkeypatch.setattr(blocks, "SPARSE_CELLS", 0)
    assert np.allclose(block_means(groups, sample), by_table, atol=1e-6)


def test_block_means_of_single_items_are_the_similarity_matrix():
    sample = random_sample(np.random.default_rng(6))
    assert np.allclose(block_means(np.arange(12), sample), pt.similarity(sample), atol=1e-6)


@pytest.mark.parametrize("gaps", [False, True])
def test_next_clusters_have_the_largest_mean_similarity(gaps):
    rng = np.random.default_rng(7)
    sample, labels = random_sample(rng, gaps=gaps), np.arange(12) % 3
    known = sample.labels >= 0
    cluster, probability = next_clusters(labels, sample, np.arange(12))
    for i in range(12):
        means = {}
        for k in set(range(3)) - {labels[i]}:
            own = (labels == k) & known & known[:, [i]]
            same = own & (sample.labels == sample.labels[:, [i]])
            means[k] = (sample.weights @ same.sum(axis=1)) / (sample.weights @ own.sum(axis=1))
        assert probability[i] == pytest.approx(max(means.values()))
        assert means[cluster[i]] == pytest.approx(max(means.values()))


def test_map_of_many_items_is_aggregated_and_exact():
    n = LARGEST_FULL + 200
    sample = pt.as_sample(pt.datasets.make_draws(n, 20, n_clusters=5, rng=1))
    labels = sample.labels[0].astype(np.int64)
    heat = heat_map(labels, np.random.default_rng(0).random(n), sample)
    assert heat.aggregated
    assert heat.percent.shape == (BINS, BINS)
    assert np.count_nonzero(np.diff(labels[heat.order])) == labels.max()
    psm = pt.similarity(sample)[np.ix_(heat.order, heat.order)]
    for row, column in [(0, 0), (3, 470), (499, 250)]:
        rows, columns = (slice(heat.edges[b], heat.edges[b + 1]) for b in (row, column))
        assert heat.percent[row, column] == pytest.approx(100 * psm[rows, columns].mean(), abs=0.51)


def test_map_of_few_items_shows_each_pair():
    sample = random_sample(np.random.default_rng(8))
    heat = heat_map(np.arange(12) % 2, np.ones(12), sample)
    assert not heat.aggregated
    expected = 100 * pt.similarity(sample)[np.ix_(heat.order, heat.order)]
    assert np.array_equal(heat.percent, np.rint(expected))


def test_strips_show_the_most_frequent_label_of_a_bin():
    heat = HeatMap(np.zeros((2, 2), np.uint8), np.array([4, 3, 2, 1, 0]), np.array([0, 3, 5]))
    strips = ball_strips([("estimate", np.array([0, 1, 2, 2, 0]))], heat)
    assert strips["labels"] == [[2, 0]]
    assert strips["names"] == ["estimate: 3 clusters"]


@pytest.fixture(scope="module")
def found():
    estimate = pt.estimate(pt.datasets.make_draws(40, 400, n_clusters=3, rng=2), rng=1)
    return estimate, credible_ball(estimate)


def test_the_answer_has_the_numbers(found):
    estimate, ball = found
    shown = present(estimate, [ball])
    text = shown.answer
    assert text.startswith(f"The 40 items fall into {estimate.n_clusters} clusters")
    assert f"{estimate.expected_loss:.4f} bits" in shown.details
    assert f"95% of the posterior lies within {ball.radius:.4f} bits (variation of information)" in text
    counts = ball.sample.n_clusters[ball.inside]
    assert f"with {counts.min()} to {counts.max()} clusters" in text


def test_amounts_have_their_unit():
    assert amount(0.0, pt.VI()) == "0.0000 bits"


def test_sizes_and_balls_without_spread_in_words():
    """Many clusters of one size have no range and no median, and a ball of one partition has no radius to tell."""
    assert sizes_in_words(np.repeat(np.arange(20), 2)) == "of 2 items each"
    assert sizes_in_words(np.arange(20), "nodes") == "of 1 node each"
    ball = pt.credible_ball(pt.estimate(np.tile([0, 0, 1], (50, 1)), rng=1))
    assert ball_sentence(ball) == "At least 95% of the posterior is exactly this partition."
    assert amount(0.00123456, pt.Binder()) == "0.00123"


def changed(estimate, **changes):
    """Another estimate, with the warnings that go with it."""
    other = replace(estimate, **changes)
    return replace(other, cautions=tuple(search_warnings(other)))


def with_runs(estimate, losses):
    return changed(estimate, runs=tuple(RunRow("draw", 1, 1, loss, 3, 0.1) for loss in losses))


def said(estimate, *more):
    """The notes with their importance, and how the estimate was found."""
    shown = present(estimate, more)
    return [*((note.warning, note.text) for note in shown.notes), (False, shown.details)]


def test_advice_tells_a_hard_search_from_an_easy_one(found):
    estimate, ball = found
    easy = said(with_runs(estimate, [1.0] * 14 + [1.1] * 2), ball)
    hard = said(with_runs(estimate, [1.0] + [1.1] * 15), ball)
    assert any("14 of 16 runs reached this loss: different runs agree." in text for _, text in easy)
    assert hard[0][0]
    assert "Only 1 of 16 runs" in hard[0][1]
    assert any("stopped" in text for _, text in said(changed(estimate, interrupted=True), ball))
    assert any("proven" in text for _, text in said(changed(estimate, proven=True), ball))


def test_advice_names_a_bound_on_clusters_that_binds(found):
    estimate, ball = found
    bound = changed(estimate, search=pt.Search(max_clusters=2))
    assert any("as many clusters as were allowed" in text for _, text in said(bound, ball))
    free = changed(estimate, search=pt.Search(max_clusters=np.inf))
    assert not any("as were allowed" in text for _, text in said(free, ball))


def test_advice_speaks_of_few_draws():
    estimate = pt.estimate([[0, 0, 1], [0, 1, 1]], rng=1)
    assert any(warning and "only 2 draws" in text for warning, text in said(estimate))


def test_a_page_without_ball_data_or_truth(found, tmp_path):
    estimate, _ = found
    path = pt.report(estimate, path=tmp_path / "plain.html")
    text = path.read_text(encoding="utf-8")
    assert "fig-map" in text
    assert 'id="ball-section"' not in text
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", text.split("<script>")[0])


@pytest.mark.parametrize("draws", [[[0]], [[0, 1]], [[0, 0, 0]] * 3, [[0, 1, 2]] * 3])
def test_the_smallest_samples_have_a_page(draws, tmp_path):
    estimate = pt.estimate(draws, rng=1)
    path = pt.report(estimate, credible_ball(estimate), data=np.arange(len(draws[0])), path=tmp_path / "small.html")
    assert path.exists()


def test_a_thousand_items_fit_into_three_megabytes(tmp_path):
    estimate = pt.estimate(pt.datasets.make_draws(1000, 50, rng=1), search=pt.Search(runs=1), rng=1)
    path = pt.report(
        estimate, credible_ball(estimate), data=np.random.default_rng(0).random((1000, 3)), path=tmp_path / "r"
    )
    assert path.stat().st_size < 3_000_000


@pytest.fixture(scope="module")
def many_clusters():
    """Thousands of small clusters and one of thirty items; among the first six items nothing is certain."""
    rng = np.random.default_rng(2)
    truth = np.repeat(np.arange(2500), rng.choice([1, 2, 3], 2500, p=[0.7, 0.2, 0.1]))
    draws = np.tile(truth, (20, 1))
    draws[rng.random(draws.shape) < 0.02] += 5000
    draws[:, :6] = 20_000 + rng.integers(3, size=(20, 6))
    draws[:, 6:36] = 30_000
    return pt.estimate(draws, search=pt.Search(runs=2), rng=1, check_draws=False)


def test_a_page_of_many_clusters_aggregates_and_lists_doubtful_components_first(many_clusters, tmp_path):
    found = content_of(many_clusters)
    parts = many_clusters.components
    assert len(table(found, "clusters").rows) == 1000
    assert f"of {many_clusters.n_clusters:,} clusters" in table(found, "clusters").note
    assert len(table(found, "items").rows) == 1000
    assert sum(row[2] for row in table(found, "sizes").rows) == many_clusters.labels.size
    assert sum(row[1] for row in table(found, "sizes").rows) == many_clusters.n_clusters
    components = table(found, "components")
    first = components.rows[0]
    assert (first[0], first[1]) == ("0", parts.sizes[0])
    assert first[2] == len(set(many_clusters.labels[parts.labels == 0]))
    doubts = [row[3] for row in components.rows]
    assert doubts == sorted(doubts, reverse=True)
    certainty = pt.item_certainty(many_clusters).probability
    assert doubts[0] == pytest.approx((1 - certainty[parts.labels == 0]).sum())
    assert components.columns[3].help == "Sum over its items of 1 − certainty: a score for ranking"
    assert f"{parts.count:,} components" in components.note
    assert figure(found, "map") is not None  # thirty items are one cluster
    assert len(figure(found, "map")["clusters"]) < 100
    size = pt.report(many_clusters, path=tmp_path / "many.html").stat().st_size
    assert size < 1_500_000


def test_clusters_that_are_smaller_than_a_cell_have_no_map():
    draws = np.repeat(np.arange(2000), 2)[None, :].repeat(3, axis=0)
    best = pt.estimate(draws, search=pt.Search(runs=1), rng=1, check_draws=False)
    found = content_of(best, credible_ball(best))
    assert figure(found, "map") is None
    assert "it would be blank" in render(found)


def test_few_clusters_have_no_table_of_components(found):
    assert not has_table(content_of(found[0]), "components")


def test_the_page_escapes_what_users_write(found, tmp_path):
    estimate, ball = found
    hostile = "</title><script>alert(1)</script>"
    text = write_page(present(estimate, [ball]), tmp_path / "r.html", title=hostile, command=hostile).read_text()
    assert hostile not in text
    assert text.count("&lt;/title&gt;") == 3


def test_bad_input_is_named_and_leaves_no_file(found, tmp_path):
    estimate, ball = found
    with pytest.raises(ValueError, match="data must have 40 rows"):
        pt.report(estimate, ball, data=[1, 2, 3], path=tmp_path / "r.html")
    with pytest.raises(ValueError, match="truth has 2 items"):
        pt.report(estimate, ball, truth=[1, 2], path=tmp_path / "r.html")
    other = credible_ball([0, 1], [[0, 1], [0, 0]])
    with pytest.raises(ValueError, match="CredibleBall has 2"):
        pt.report(estimate, other, path=tmp_path / "r.html")
    with pytest.raises(FileNotFoundError):
        pt.report(estimate, ball, path=tmp_path / "nowhere" / "r.html")
    assert list(tmp_path.iterdir()) == []


def test_missing_extra_is_named(found, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"partita\[report\]"):
        render({})


def test_results_show_in_notebooks(found):
    estimate, ball = found
    for result in (estimate, ball, estimate.sample):
        assert result._repr_html_().startswith("<table>")


def test_labels_are_no_estimate(tmp_path):
    with pytest.raises(TypeError, match=r"report takes an estimate .*, not list"):
        pt.report([0, 1], path=tmp_path / "page.html")


def test_items_that_no_draw_labels_both_are_shown_as_unknown(tmp_path):
    draws = pt.as_sample([[0, -1, 1, 0], [0, -1, 0, 0], [1, 0, -1, 0], [1, 0, -1, 1]], missing=-1)
    best = pt.estimate(draws, rng=1)
    pt.report(best, path=tmp_path / "report.html")
    heat = heat_map(best.labels, np.ones(4), draws)
    places = np.argsort(heat.order)
    assert heat.percent[places[1], places[2]] == UNKNOWN
    assert (heat.percent == UNKNOWN).sum() == 2


def test_content_runs_no_search(monkeypatch):
    best = pt.estimate(random_sample(np.random.default_rng(2)), rng=1)

    def refused(*arguments, **options):
        raise AssertionError("a search was run")

    for method in ("search", "salso", "draws"):
        monkeypatch.setitem(METHODS, method, replace(METHODS[method], find=refused))
    assert not has_table(content_of(best), "mixing")


def test_labels_that_are_neighbours_have_different_colours():
    rng = np.random.default_rng(4)
    strips = [rng.integers(0, 15, 200) for _ in range(2)]
    colors = label_colors(strips)
    assert len(colors) == 15
    assert len(set(colors)) == 15
    many = [np.concatenate([np.arange(60), [0, 21, 42, 0]])]
    colors = np.array(label_colors(many))
    assert (colors[many[0][1:]] != colors[many[0][:-1]]).all()


def topics(estimate, ball=None):
    certainty = pt.item_certainty(estimate).probability
    return [text.split(". ")[0] for text in interpretation(estimate, ball, certainty)]


def test_the_page_explains_an_estimate_with_fewer_clusters_than_the_draws():
    rng = np.random.default_rng(5)
    draws = np.repeat([0, 1], 20) * np.ones((300, 1), int)
    alone = rng.integers(0, 40, (300, 3))  # three items of their own in each draw, others each time
    for t, items in enumerate(alone):
        draws[t, items] = np.arange(2, 5)
    best = pt.estimate(draws, rng=1)
    assert best.n_clusters == 2
    assert topics(best) == ["Fewer clusters than most draws"]
    assert "lower the weight a" in interpretation(best, None, np.ones(40))[0]
    steady = pt.estimate(np.repeat([0, 1], 20) * np.ones((300, 1), int), rng=1)
    assert topics(steady, credible_ball(steady)) == []


def test_the_page_explains_an_estimate_with_more_clusters_than_the_draws():
    groups = np.repeat([0, 1, 2], 6)
    joined = [np.where(groups == k, (k + 1) % 3, groups) for k in range(3)]
    free = pt.Search(max_clusters=np.inf)
    best = pt.estimate(joined * 100, loss=pt.Binder(a=0.9), search=free, rng=1, check_draws=False)
    assert best.n_clusters == 3
    assert topics(best)[0] == "More clusters than most draws"


def test_the_page_says_when_the_posterior_says_little():
    rng = np.random.default_rng(6)
    draws = rng.integers(0, 3, (200, 12))
    best = pt.estimate(draws, loss="binder", rng=1)
    assert 1 < best.n_clusters < 12
    assert {"A diffuse posterior", "A wide credible ball"} <= set(topics(best, credible_ball(best)))


def test_a_wide_ball_says_little_only_if_the_trivial_partition_is_probable():
    """One large cluster and a few items that leave it: a single cluster is near, but no draw has it."""
    rng = np.random.default_rng(6)
    draws = np.zeros((400, 40), int)
    draws[:, :3] = 1
    for row in draws:
        row[rng.choice(np.arange(3, 40), 8, replace=False)] = rng.integers(2, 6, 8)
    texts = []
    for none in (0, 8, 60):  # this many draws have one cluster
        draws[:none] = 0
        best = pt.estimate(draws, rng=1, check_draws=False)
        assert 1 < best.n_clusters < 40
        found = interpretation(best, credible_ball(best), pt.item_certainty(best).probability)
        texts += [text for text in found if text.startswith("A wide credible ball")]
    assert "although no draw is that partition. Which items belong together is uncertain" in texts[0]
    assert "although only 2% of the draws are that partition" in texts[1]
    assert "the draws say little about the clustering as a whole" in texts[2]


def test_an_item_between_clusters_is_not_called_a_cluster():
    between = np.zeros((300, 13), int)
    between[:, 6:12], between[::2, 12] = 1, 1  # the last item is with either cluster in half of the draws
    best = pt.estimate(between, pt.VI(a=0.3), search=pt.Search(max_clusters=3), rng=1)
    assert best.sizes.tolist() == [6, 6, 1]
    certainty = pt.item_certainty(best).probability
    text = next(text for text in interpretation(best, None, certainty) if text.startswith("Items between clusters"))
    assert "One item is a cluster of its own in the estimate, but alone in none of the draws" in text
    alone = pt.estimate(np.repeat([[0] * 6 + [1]], 200, axis=0), rng=1)
    assert topics(alone) == []


def test_more_draws_are_not_advised_against_while_the_chains_disagree():
    rng = np.random.default_rng(6)
    best = pt.estimate(rng.integers(0, 3, (200, 12)), loss="binder", rng=1)
    ball, certainty = credible_ball(best), pt.item_certainty(best).probability
    for converged, words in ((True, "more draws do not"), (False, "may change when the chains have mixed")):
        found = interpretation(best, ball, certainty, converged=converged)
        assert words in next(text for text in found if text.startswith("A wide credible ball"))


def test_numbers_of_a_column_have_the_same_decimals():
    own = Table("t", "t", (Column("x", "loss"), Column("y", "rate")), [(2.3864, 0.6), (2.467444, 0.0792), (0, 3e-6)])
    cells = [[text for _, text, _ in own.cells(row)] for row in own.rows]
    assert cells == [["2.38640", "0.600"], ["2.46744", "0.079"], ["0.00000", "3e-06"]]


def test_poor_diagnostics_are_marked_and_minus_signs_are_minus_signs():
    own = Table(
        "t", "t", (Column("x", "r-hat"), Column("y", "draws"), Column("z", "log")), [(1.2, 399, -1.5), (1.0, 400, 2)]
    )
    cells = [[text for _, text, _ in own.cells(row)] for row in own.rows]
    assert cells == [["1.200 ▲", "399 ▼", "−1.50"], ["1.000", "400", "2.00"]]


def test_other_losses_are_those_of_their_own_estimates(found):
    estimate, _ = found
    binder = pt.estimate(estimate.sample, "binder", rng=2)
    rows = {row[0]: row for row in present(estimate, [binder]).tables["losses"].rows}
    assert list(rows) == ["Binder loss"]
    assert rows["Binder loss"][1] == binder.n_clusters
    assert rows["Binder loss"][2] == pytest.approx(pt.adjusted_rand(estimate, binder))


def test_a_trace_of_rounding_errors_is_not_drawn():
    assert trace_figure([(0.5, 0.5 - 1e-12), (0.5,)]) is None
    assert trace_figure([(0.6, 0.5), (0.5,)])["best"] == 0


def test_truth_is_crossed_with_the_clusters(found):
    estimate, _ = found
    classes = np.where(estimate.labels == 0, "setosa", "other")
    page = content_of(estimate, truth=classes)
    crossed = table(page, "crossed")
    assert [column.name for column in crossed.columns] == ["Cluster", "other", "setosa", "Items"]
    assert crossed.rows[0][1:] == (0, np.bincount(estimate.labels)[0], np.bincount(estimate.labels)[0])
    measures = {row[0]: row for row in table(page, "truth").rows}
    assert measures["adjusted Rand index"][1] == pytest.approx(pt.adjusted_rand(classes, estimate.labels))
    assert measures["adjusted Rand index"][2].startswith("higher")
    assert measures["variation of information (vi)"][2].startswith("lower")


def test_ranks_of_chains_are_shares_of_their_draws():
    rng = np.random.default_rng(7)
    values = rng.permutation(400).reshape(2, 200).astype(float)
    shares = np.array(_rank_shares(values))
    counted = [np.histogram(chain, 20, (-0.5, 399.5))[0] / 200 for chain in values]
    assert shares == pytest.approx(np.array(counted), abs=1e-5)
    assert np.array(_rank_shares(np.ones((3, 50)))) == pytest.approx(np.full((3, 20), 0.05))


def test_a_page_opens_as_data_and_is_rendered_anew(found, tmp_path):
    estimate, ball = found
    truth = np.arange(40) % 2
    page = pt.report(
        estimate, ball, data=np.arange(40.0), truth=truth, path=tmp_path / "page.html", title="</script> & <b>"
    )
    held = pt.read_report(page)
    assert held.kind == "draws"
    assert held.title == "</script> & <b>"
    assert held.answer == present(estimate, [ball], first=1).answer
    assert (held.labels == estimate.labels).all()
    assert len(held.tables["items"]) == 40
    assert held.tables["clusters"][0]["Items"] == int(np.bincount(estimate.labels)[0])
    assert held.write(tmp_path / "again.html").read_text() == page.read_text()
    assert "tables: " in repr(held)


def test_a_page_that_lacks_a_part_is_not_rendered(found, tmp_path):
    held = pt.read_report(pt.report(found[0], path=tmp_path / "page.html"))
    del held.content["answer"]
    with pytest.raises(ValueError, match="not complete: 'answer' is undefined"):
        held.write(tmp_path / "again.html")
    assert not (tmp_path / "again.html").exists()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"format":2', '"format":99'),
        ('"kind":"draws"', '"kind":7'),
        ('"kind":"number"', '"kind":"shell"'),
        ('{"partita"', '{"partita'),
        ('id="page"', 'id="other"'),
    ],
)
def test_a_file_that_is_no_page_is_refused(found, tmp_path, old, new):
    page = pt.report(found[0], path=tmp_path / "page.html")
    page.write_text(page.read_text().replace(old, new))
    with pytest.raises(ValueError, match=r"page\.html"):
        pt.read_report(page)


def test_infinite_and_unknown_cells_survive():
    table = Table("t", "t", (Column("x", "share"),), [(np.inf,), (np.nan,), (0.5,)])
    again = Table.from_json(json.loads(json.dumps(table.to_json())))
    assert [text for row in again.rows for _, text, _ in again.cells(row)] == ["∞", "–", "0.500"]
    assert [list(table.cells(row)) for row in table.rows] == [list(again.cells(row)) for row in again.rows]


@pytest.mark.parametrize("name", ["data", "terms", "spelled", "style", "scripts", "self", "format", "range"])
def test_a_page_from_elsewhere_cannot_replace_what_the_template_adds(tmp_path, name):
    """A key of this name ended in a TypeError."""
    page = pt.report(pt.estimate([[0, 0, 1], [0, 1, 1]], rng=1), path=tmp_path / "page.html")
    mark, hostile = '"title":', f'"{name}":"</script><script>alert(1)</script>","title":'
    changed = page.read_text(encoding="utf-8").replace(mark, hostile.replace("<", "\\u003c"), 1)
    (tmp_path / "changed.html").write_text(changed, encoding="utf-8")
    if name == "format":
        with pytest.raises(ValueError, match="which this version cannot read"):
            pt.read_report(tmp_path / "changed.html")
        return
    again = pt.read_report(tmp_path / "changed.html").write(tmp_path / "again.html").read_text(encoding="utf-8")
    assert "<script>alert" not in again
    assert again.count("<script") == page.read_text(encoding="utf-8").count("<script")
