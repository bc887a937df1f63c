"""An item without a label in any draw is in no cluster, and every summary says so."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import partita as pt
from partita.cli import app

NAMES = list("abcdefgh")
NEVER = NAMES.index("g")


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    draws = np.where(rng.random((400, 8)) < 0.1, 2, [0, 0, 0, 1, 1, 1, 0, 0])
    draws[:, NEVER] = -1
    draws[:3, 0] = -1
    return pt.as_sample(draws.reshape(4, 100, 8), missing=-1, names=NAMES)


@pytest.fixture(scope="module")
def best(sample):
    return pt.estimate(sample, rng=1)


@pytest.mark.parametrize("loss", sorted(set(pt.losses.LOSSES) - {"zero-one"}))
def test_no_loss_places_the_item(sample, loss):
    found = pt.estimate(sample, loss, rng=1)
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1, -1, 0]
    assert found.n_clusters == 2
    assert found.sizes.tolist() == [4, 3]
    assert "1 item has no label in any draw (g)" in " ".join(found.notes)


@pytest.mark.parametrize("method", ["salso", "greedy", "exact", "enumerate"])
def test_no_method_places_the_item(sample, method):
    assert pt.estimate(sample, method=method, rng=1).labels[NEVER] == -1


def test_a_draw_without_weight_says_nothing():
    draws = [[0, 0, 1, -1]] * 3 + [[0, 0, 1, 1]]
    assert pt.estimate(pt.as_sample(draws, [1, 1, 1, 0], missing=-1), rng=1).labels.tolist() == [0, 0, 1, -1]
    assert pt.estimate(pt.as_sample(draws, missing=-1), rng=1).labels[3] >= 0


def test_a_constraint_places_it_with_a_labelled_item(sample):
    tied = pt.estimate(sample, constraints=pt.Constraints(together=[("g", "d")]), rng=1)
    assert tied.labels[NEVER] == tied.labels[NAMES.index("d")]
    assert pt.estimate(sample, constraints=pt.Constraints(apart=[("g", "d")]), rng=1).labels[NEVER] == -1


def test_the_answer_is_that_without_the_item(sample, best):
    others = [i for i in range(8) if i != NEVER]
    alone = pt.as_sample(sample.to_numpy()[:, others].reshape(4, 100, 7), missing=-1)
    fewer = pt.estimate(alone, rng=1)
    assert fewer.labels.tolist() == best.labels[others].tolist()
    assert fewer.expected_loss == pytest.approx(best.expected_loss)
    assert pt.credible_ball(fewer).radius == pytest.approx(pt.credible_ball(best).radius)
    np.testing.assert_allclose(pt.item_certainty(fewer).probability, pt.item_certainty(best).probability[others])
    np.testing.assert_allclose(pt.cluster_stability(fewer).cohesion, pt.cluster_stability(best).cohesion)
    np.testing.assert_allclose(pt.merge_tree(fewer).expected_loss, pt.merge_tree(best).expected_loss)
    assert pt.diagnostics(best, rng=1).converged


def test_summaries_know_that_it_is_in_no_cluster(sample, best):
    ball = pt.credible_ball(best)
    assert ball.center[NEVER] == -1
    assert ball.contains(best)
    assert pt.credible_ball(best.labels, sample).radius == ball.radius
    assert np.isnan(pt.item_certainty(best).probability[NEVER])
    assert NEVER not in pt.exemplars(best)
    assert pt.expected_loss(best.labels, sample) == pytest.approx(best.expected_loss)
    assert pt.cluster_parameters(best, np.ones((400, 8))).sizes.tolist() == [4, 3]
    assert pt.monte_carlo_error(best, rng=1).labels[:, NEVER].tolist() == [-1] * 4
    assert pt.estimate(sample, start=best, rng=1).labels.tolist() == best.labels.tolist()
    assert best.partition.tolist() == [0, 0, 0, 1, 1, 1, 2, 0]


def test_labels_that_lack_an_item_that_draws_label_are_refused(sample, best):
    wrong = best.labels.copy()
    wrong[1] = -1
    with pytest.raises(ValueError, match=r"estimate\[1\] is -1: .* unless no draw labels the item"):
        pt.credible_ball(wrong, sample)


@pytest.mark.parametrize("function", [pt.partial_clustering, pt.modes, pt.hierarchy, pt.conformal_set])
def test_functions_that_need_every_label_name_the_item(sample, function):
    arguments = (sample, 2) if function is pt.modes else (sample,)
    with pytest.raises(ValueError, match=r"needs draws that label every item; no draw labels g$"):
        function(*arguments)


def test_figures_leave_it_out_or_show_it_without_a_cluster(best):
    assert best.plot().images[0].get_array().shape == (7, 7)
    assert len(pt.plots.item_certainty(best).patches) == 7
    pt.plots.cluster_counts(best)
    pt.plots.ball_panels(np.arange(8.0), best, pt.credible_ball(best))


def test_the_page_says_so_and_holds_its_label(best, tmp_path):
    page = pt.report(
        best,
        pt.credible_ball(best),
        data=np.arange(16.0).reshape(8, 2),
        truth=list("aaabbbab"),
        path=tmp_path / "page.html",
    )
    text = page.read_text()
    assert "Of the 8 items, 7 fall into 2 clusters" in text
    assert "1 item has no label in any draw (g)" in text


def succeeds(*arguments):
    answer = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert answer.exit_code == 0, answer.output
    return answer.stdout


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("a,a,a,b,b,b,?\n" * 10)
    return path


def test_the_command_writes_minus_one(file, tmp_path):
    out = tmp_path / "out"
    text = succeeds("estimate", file, "--missing", "?", "--no-header", "--out", out)
    assert "Of the 7 items, 6 fall into 2 clusters (of 3 and 3 items)" in text
    assert "1 item has no label in any draw" in text
    assert "nan" not in text
    assert (out / "labels.csv").read_text().splitlines()[-1] == "7,-1,,,,"
    found = json.loads(succeeds("estimate", file, "--missing", "?", "--no-header", "--json"))
    assert found["labels"] == [0, 0, 0, 1, 1, 1, -1]
    assert found["n_clusters"] == 2
    text = succeeds("ball", file, "--missing", "?", "--no-header")
    assert "1 item has no label in any draw" in text
    given = json.loads(
        succeeds("ball", file, "--missing", "?", "--no-header", "--labels", out / "labels.csv", "--json")
    )
    assert given["center"] == [0, 0, 0, 1, 1, 1, -1]
    text = succeeds("report", file, "--missing", "?", "--no-header", "--out", tmp_path / "page.html")
    assert "1 item has no label in any draw" in text


def test_comparison_leaves_out_items_in_no_cluster(tmp_path):
    (tmp_path / "truth.csv").write_text("item,cluster\na,0\nb,0\nc,1\n")
    (tmp_path / "labels.csv").write_text("item,cluster,certainty\na,0,1\nb,0,1\nc,-1,\n")
    text = succeeds("compare", tmp_path / "truth.csv", tmp_path / "labels.csv")
    assert "1 item in no cluster (-1), left out here" in text
    assert "f1 (Wang et al. 2010)" in text
    found = json.loads(succeeds("compare", tmp_path / "truth.csv", tmp_path / "labels.csv", "--json"))
    assert next(iter(found["against_truth"].values()))["ari"] == 1


def test_agreement_with_a_truth_is_over_the_items_in_a_cluster(file, tmp_path):
    truth = tmp_path / "truth.csv"
    truth.write_text("cluster\nx\nx\nx\ny\ny\ny\nz\n")
    text = succeeds("estimate", file, "--missing", "?", "--no-header", "--truth", truth)
    assert "adjusted Rand index 1.000" in text


@pytest.mark.filterwarnings("ignore")
def test_the_cluster_of_workers_gives_the_same_answer(sample, best):
    distributed = pytest.importorskip("partita.distributed")
    pytest.importorskip("dask")
    ball = distributed.credible_ball(best)
    assert ball.radius == pytest.approx(pt.credible_ball(best).radius)
    assert ball.center[NEVER] == -1
