"""The page about an estimate from pair probabilities."""

import sys

import numpy as np
import pytest

import partita as pt
from partita.pages.page import page_content, render
from partita.results.present import present


@pytest.fixture(scope="module")
def best():
    table = [("a", "b", 0.9), ("b", "c", 0.8), ("a", "c", 0.3), ("d", "e", 0.7), ("e", "f", 0.4)]
    names, rows = list("abcdef"), np.eye(6)
    for left, right, probability in table:
        i, j = names.index(left), names.index(right)
        rows[i, j] = rows[j, i] = probability
    return pt.estimate(pt.as_similarity(rows, names=names), "binder", rng=1)


def test_the_answer_is_a_sentence(best):
    assert best.proven
    shown = present(best)
    assert shown.answer == (
        "The 6 items fall into 3 clusters (of 3, 2 and 1 items). No item has a certainty below 0.5. 1 pair is decided"
        " against its own probability, because of other pairs or of constraints (a and c)."
    )
    assert shown.details == (
        "Given 5 pair probabilities, this partition has the lowest expected Binder loss of all partitions,"
        f" {best.expected_loss:.6g}, which is proven."
    )


def test_every_item_is_listed_with_its_cluster_and_component(best, tmp_path):
    tables = pt.read_report(pt.report(best, path=tmp_path / "page.html")).tables
    found = {row["Item"]: (row["Cluster"], row["Component"]) for row in tables["items"]}
    assert found == {
        name: (int(cluster), int(part))
        for name, cluster, part in zip("abcdef", best.labels, best.components.labels, strict=True)
    }


def test_a_long_list_says_where_the_rest_is(best, monkeypatch):
    monkeypatch.setattr(sys.modules["partita.results.presentation"], "LISTED", 4)
    page = render(page_content(present(best), labels_file="labels.csv"))
    assert "The first 4 of 6 items." in page
    assert "The labels of all items are in labels.csv." in page


@pytest.mark.parametrize("loss", ["binder", "vi-lower-bound", "pear"])
@pytest.mark.parametrize("value", [0.0, 5e-324, 1e-300, 0.5, 1 - 1e-16, 1.0])
def test_extreme_probabilities_and_hostile_names(tmp_path, value, loss):
    names = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{7*7}}", "</script>", "\x1b[31m", ""]
    matrix = np.where(np.eye(6, dtype=bool), 1.0, value)
    found = pt.estimate(pt.as_similarity(matrix, names=names), loss, rng=1)
    assert np.isfinite(found.expected_loss)
    page = pt.report(found, path=tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert pt.read_report(tmp_path / "page.html").names == tuple(names)
