"""The page about a consensus of base clusterings, and the summary behind it."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import partita as pt
from partita.cli import app
from partita.ensembles import NBCE, Ascent, as_base, consensus, summarize
from partita.ensembles.summary import pair_agreement
from support.browser import chromium, resize
from support.ensemble_reference import noisy_clusterings

pytest.importorskip("jinja2")
HOSTILE = "</script><b>run</b>"


@pytest.fixture(scope="module")
def base():
    """Six noisy clusterings, one of them twice, with gaps and names that are no markup."""
    codes = noisy_clusterings(errors=0.15, gaps=0.05)
    codes[59] = -1  # an item without labels
    frame = pd.DataFrame(codes, columns=[HOSTILE, *(f"run {m}" for m in range(1, 6))])
    frame["copy"] = frame["run 2"]
    frame.index = [f"<i>cell {n}</i>" for n in range(60)]
    return frame


@pytest.fixture(scope="module")
def summary(base):
    with pytest.warns(UserWarning, match="without a base label"):
        labels = consensus(base, rng=1)
    return summarize(labels, base, method="least expected loss")


def test_pairs_have_the_adjusted_rand_index_of_what_both_label(base):
    found = pair_agreement(as_base(base))
    codes = base.to_numpy()
    for m in range(7):
        for other in range(7):
            both = (codes[:, m] >= 0) & (codes[:, other] >= 0)
            assert found[m, other] == pytest.approx(pt.adjusted_rand(codes[both, m], codes[both, other]))


def test_certainty_is_the_share_of_clusterings_with_the_other_members(base, summary):
    codes, labels = base.to_numpy(), summary.labels
    weights = np.array([1.0, 2.0, 1.0, 1.0, 1.0, 0.5, 1.0])
    weighted = summarize(labels, base, weights=weights)
    for item in (0, 25, 58):
        mates = np.flatnonzero((labels == labels[item]) & (np.arange(60) != item))
        both = (codes[item] >= 0) & (codes[mates] >= 0)
        together = both & (codes[item] == codes[mates])
        assert summary.certainty[item] == pytest.approx(together.sum() / both.sum())
        assert weighted.certainty[item] == pytest.approx((together @ weights).sum() / (both @ weights).sum())
    assert np.isnan(summary.certainty[59])
    assert summary.labels[59] == -1


def test_a_copy_and_a_coarser_clustering_are_redundant(base, summary):
    assert [(pair.which, pair.beside, pair.said) for pair in summary.redundant] == [(6, 2, 1.0)]
    rng = np.random.default_rng(1)
    fine = rng.integers(6, size=(90, 1))
    coarse, other = fine // 2, rng.integers(3, size=(90, 3))
    found = summarize(np.repeat([0, 1], 45), np.column_stack([coarse, fine, other]))
    assert [(pair.which, pair.beside) for pair in found.redundant] == [(0, 1)]


def test_the_page_says_what_was_found_and_escapes_names(base, summary, tmp_path):
    truth = pd.Series(np.repeat(list("abc"), 20), index=base.index)
    path = pt.report(summary, truth=truth, path=tmp_path / "page.html")
    page = path.read_text(encoding="utf-8")
    assert "Of the 60 items, 59 fall into 3 clusters" in page
    assert "the consensus of 7 base clusterings, found by least expected loss" in page
    assert page.index('<p class="answer">') < page.index("1 of 60 items without a base label")
    assert "<b>run" not in page
    assert "<i>cell" not in page
    held = pt.read_report(path)
    assert held.labels.tolist() == summary.labels.tolist()
    assert held.names == tuple(base.index)
    rows = {row["Clustering"]: row for row in held.tables["base"]}
    assert rows["copy"]["Nearest"] == "run 2"
    assert rows["copy"]["Dependence"] == 1.0
    assert rows["copy"]["Counts as"] == pytest.approx(summary.dependence.weights[6])
    assert any("copy beside run 2 (100%)" in note for note in held.notes)
    assert held.notes == summary.notes
    held.write(tmp_path / "again.html")


def test_clusterings_without_names_are_counted_as_items_are(tmp_path):
    """A page counted them from 0 beside clusters and items that it counts from 1."""
    labels, other = np.repeat([0, 1], 30), np.random.default_rng(1).integers(3, size=60)
    found = summarize(labels, np.column_stack([labels, labels, other]))
    page = pt.read_report(pt.report(found, path=tmp_path / "page.html"))
    assert {row["Clustering"] for row in page.tables["base"]} == {"1", "2", "3"}
    assert set(found.to_pandas("base").index) == {"0", "1", "2"}
    assert page.notes == found.notes
    assert any("redundant" in note and "beside" not in note for note in page.notes)
    assert "beside 1 (100%)" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_fitted_estimator_has_a_page_with_its_own_certainty(base, tmp_path):
    with pytest.warns(UserWarning, match="without a base label"):
        model = NBCE("vb", truncation=10, ascent=Ascent(restarts=2), random_state=1).fit(base)
    path = pt.report(model, path=tmp_path / "page.html")
    items = pt.read_report(path).tables["items"]
    certainty = dict(zip(base.index, model.certainty_, strict=True))
    assert len(items) == 59
    assert all(row["Certainty"] == pytest.approx(certainty[row["Item"]]) for row in items)
    assert "NBCE (vb)" in path.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="data is for estimates from draws, and this is an ensemble"):
        pt.report(model, data=np.zeros(60), path=tmp_path / "other.html")


def test_equal_weights_of_clusterings_that_repeat_each_other_are_warned_of():
    labels = np.repeat([0, 1, 2], 10)
    rng = np.random.default_rng(0)
    near = np.stack([np.where(rng.random(30) < 0.3, 0, labels)] * 5, axis=1)
    other = rng.integers(3, size=(30, 1))
    found = summarize(labels, np.column_stack([near, other]))
    assert "count as" in found.notes[0]
    assert "equal weights" in found.notes[0]


def test_what_does_not_fit_is_named(base):
    with pytest.raises(TypeError, match="base is missing"):
        summarize([0, 1, 1])
    with pytest.raises(ValueError, match="result has 2 labels, but base has 60 items"):
        summarize([0, -1], base)


@pytest.mark.parametrize("method", ["consensus", "nbce", "mixture"])
def test_the_command_writes_a_page(method, tmp_path):
    rows = ["item,a,b,c", *(f"x{n},{n // 5},{n // 5},{(n + 1) // 5}" for n in range(10))]
    (tmp_path / "base.csv").write_text("\n".join(rows))
    more = {"nbce": ["--inference", "vb", "--truncation", "5"], "mixture": ["-k", "2"], "consensus": []}[method]
    arguments = ["--method", method, "--out", str(tmp_path / "run"), "--seed", "1", *more]
    answer = CliRunner().invoke(app, ["ensemble", str(tmp_path / "base.csv"), *arguments])
    assert answer.exit_code == 0, answer.output
    assert "open" in answer.output
    held = pt.read_report(tmp_path / "run" / "report.html")
    facts = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert held.names == tuple(f"x{n}" for n in range(10))
    assert held.labels.tolist() == facts["labels"]
    assert {row["Clustering"] for row in held.tables["base"]} == {"a", "b", "c"} == set(facts["clusterings"])
    assert facts["redundant"] == [{"clustering": "b", "beside": "a", "said": 1.0}]


@pytest.mark.browser
def test_a_browser_shows_the_page(summary, tmp_path):
    from selenium.webdriver.common.action_chains import ActionChains

    path = pt.report(summary, path=tmp_path / "page.html")
    marks = "return [...document.querySelectorAll('.figure')].map(f => [f.id, f.querySelectorAll('image').length])"
    with chromium(tmp_path / "profile") as browser:
        for width in (1200, 390):
            resize(browser, width)
            browser.get(path.as_uri())
            assert dict(browser.execute_script(marks)) == {"fig-map": 1, "fig-agreement": 1, "fig-dependence": 1}
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        resize(browser, 1200)
        browser.get(path.as_uri())
        picture = browser.find_element("css selector", "#fig-dependence image")
        browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", picture)
        ActionChains(browser).move_to_element(picture).perform()
        assert browser.find_element("id", "dependence-readout").text.endswith(": 1.00")  # the diagonal
        shown = browser.find_element("css selector", "#fig-agreement image").get_attribute("href")
        browser.execute_script("document.getElementById('theme').click()")
        assert browser.find_element("css selector", "#fig-agreement image").get_attribute("href") != shown
        assert browser.get_log("browser") == []
