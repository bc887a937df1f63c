"""What the report says: exact means for its map, honest sentences, one file that is complete or absent."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

import partita as pt
from partita.report.blocks import block_means, rivals
from partita.report.figures import ball_strips
from partita.report.heatmap import BINS, LARGEST_FULL, UNKNOWN, HeatMap, heat_map
from partita.report.page import render
from partita.report.words import advice, amount, answer
from partita.search.found import RunRow
from partita.uncertainty import credible_ball


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


def test_block_means_of_single_items_are_the_similarity_matrix():
    sample = random_sample(np.random.default_rng(6))
    assert np.allclose(block_means(np.arange(12), sample), pt.similarity(sample), atol=1e-6)


@pytest.mark.parametrize("gaps", [False, True])
def test_rivals_have_the_largest_mean_similarity(gaps):
    rng = np.random.default_rng(7)
    sample, labels = random_sample(rng, gaps=gaps), np.arange(12) % 3
    known = sample.labels >= 0
    cluster, probability = rivals(labels, sample)
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
    text = answer(estimate, ball)
    assert text.startswith(f"The 40 items fall into {estimate.n_clusters} clusters")
    assert f"{estimate.expected_loss:.4f} bits" in text
    assert f"radius {ball.radius:.4f} bits" in text
    counts = ball.sample.n_clusters[ball.inside]
    assert f"with {counts.min()} to {counts.max()} clusters" in text


def test_amounts_have_their_unit():
    assert amount(0.0, pt.VI()) == "0.0000 bits"
    assert amount(0.00123456, pt.Binder()) == "0.00123"


def fake(estimate, **changes):
    values = {name: getattr(estimate, name) for name in ("labels", "loss", "sample", "runs", "search", "n_clusters")}
    values |= {"interrupted": False, "proven": False, "times_reached": estimate.times_reached}
    return SimpleNamespace(**values | changes)


def kinds(estimate, *more):
    return [(line.kind, line.text) for line in advice(estimate, *more)]


def test_advice_tells_a_hard_search_from_an_easy_one(found):
    estimate, ball = found
    runs = tuple(RunRow("draw", 1, 1, 1.0, 3, 0.1) for _ in range(16))
    easy = kinds(fake(estimate, runs=runs, times_reached=14), ball)
    hard = kinds(fake(estimate, runs=runs, times_reached=1), ball)
    assert ("good", "14 of 16 runs reached the lowest expected loss: the search agrees with itself.") in easy
    assert any(kind == "warning" and "more runs" in text for kind, text in hard)
    assert any("stopped" in text for _, text in kinds(fake(estimate, interrupted=True), ball))
    assert any("proven" in text for _, text in kinds(fake(estimate, proven=True), ball))


def test_advice_names_a_bound_on_clusters_that_binds(found):
    estimate, ball = found
    assert any("--max-clusters" in text for _, text in kinds(fake(estimate, search=pt.Search(max_clusters=2)), ball))
    free = fake(estimate, search=pt.Search(max_clusters=np.inf))
    assert not any("--max-clusters" in text for _, text in kinds(free, ball))


def test_advice_speaks_of_few_draws():
    estimate = pt.estimate([[0, 0, 1], [0, 1, 1]], rng=1)
    assert any(kind == "warning" and "only 2 draws" in text for kind, text in kinds(estimate, None))


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


def test_a_thousand_items_fit_into_eight_megabytes(tmp_path):
    estimate = pt.estimate(pt.datasets.make_draws(1000, 50, rng=1), search=pt.Search(runs=1), rng=1)
    path = pt.report(
        estimate, credible_ball(estimate), data=np.random.default_rng(0).random((1000, 3)), path=tmp_path / "r"
    )
    assert path.stat().st_size < 8_000_000


def test_the_page_escapes_what_users_write(found, tmp_path):
    estimate, ball = found
    hostile = "</title><script>alert(1)</script>"
    text = pt.report(estimate, ball, path=tmp_path / "r.html", title=hostile, command=hostile).read_text()
    assert hostile not in text
    assert text.count("&lt;/title&gt;") == 3


def test_bad_input_is_named_and_leaves_no_file(found, tmp_path):
    estimate, ball = found
    with pytest.raises(ValueError, match="data must have 40 rows"):
        pt.report(estimate, ball, data=[1, 2, 3], path=tmp_path / "r.html")
    with pytest.raises(ValueError, match="truth has 2 items"):
        pt.report(estimate, ball, truth=[1, 2], path=tmp_path / "r.html")
    other = credible_ball([0, 1], [[0, 1], [0, 0]])
    with pytest.raises(ValueError, match="ball has 2"):
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
    with pytest.raises(TypeError, match=r"estimate must be what partita\.estimate gives, not list"):
        pt.report([0, 1], path=tmp_path / "page.html")


def test_items_that_no_draw_labels_both_are_shown_as_unknown(tmp_path):
    draws = pt.as_sample([[0, -1, 1, 0], [0, -1, 0, 0], [1, 0, -1, 0], [1, 0, -1, 1]], missing=-1)
    best = pt.estimate(draws, rng=1)
    pt.report(best, path=tmp_path / "report.html")
    heat = heat_map(best.labels, np.ones(4), draws)
    places = np.argsort(heat.order)
    assert heat.percent[places[1], places[2]] == UNKNOWN
    assert (heat.percent == UNKNOWN).sum() == 2
