"""The page about a latent block model."""

import numpy as np
import pytest

import partita as pt
from partita.results.present import present
from partita.results.sentences import sizes_in_words
from support.pages import figure
from support.pages import table as part

pytest.importorskip("jinja2")


@pytest.fixture(scope="module")
def fit():
    rng = np.random.default_rng(1)
    rows, columns = np.arange(30) % 3, np.arange(16) % 2
    chance = np.array([[0.9, 0.1], [0.1, 0.9], [0.1, 0.1]])[rows][:, columns]
    return pt.models.LatentBlockModel().maximize((rng.random((30, 16)) < chance).astype(int), restarts=2, rng=1)


def test_the_page_has_both_sides_and_every_block(fit, tmp_path):
    page = pt.read_report(pt.report(fit, path=tmp_path / "page.html"))
    assert page.answer.startswith(f"The 30 rows fall into 3 clusters ({sizes_in_words(fit.rows, 'rows')})")
    assert "The 16 columns fall into 2 clusters" in page.answer
    table = fit.blocks()
    for k, m, edges, cells, mean, *_ in part(page, "blocks").rows:
        assert (edges, cells) == (table.edges[k, m], table.dyads[k, m])
        assert mean == pytest.approx(table.mean[k, m])
    assert len(part(page, "blocks").rows) == len(figure(page, "blocks")["cells"]) == 6
    listed = {row[0]: row[1] for row in part(page, "items").rows}
    assert listed == {str(i + 1): k for i, k in enumerate(fit.rows.tolist())}
    assert len(part(page, "columns").rows) == 16


def test_blocks_of_the_picture_fill_it_and_the_darkest_is_the_densest(fit, tmp_path):
    picture = figure(pt.read_report(pt.report(fit, path=tmp_path / "page.html")), "blocks")
    area = sum(width * height for _, _, width, height, _, _, _ in picture["cells"])
    assert area == pytest.approx(640 * 420, rel=0.01)
    darkest = max(picture["cells"], key=lambda cell: cell[5])
    k, m = np.unravel_index(fit.blocks().mean.argmax(), fit.n_clusters)
    assert darkest[6].startswith(f"rows {k + 1}, columns {m + 1}:")


def test_clusters_are_counted_from_one(fit, tmp_path):
    page = pt.report(fit, path=tmp_path / "page.html").read_text(encoding="utf-8")
    assert "rows 3, columns 2:" in page
    assert "rows 0," not in page


def test_a_truth_is_one_of_the_rows(fit):
    shown = present(fit, truth=fit.rows)
    assert shown.facts["agreement"]["adjusted_rand"] == 1.0
    assert len(shown.facts["column_labels"]) == 16
    with pytest.raises(ValueError, match="truth has 16 items, but the fit of a latent block model has 30"):
        present(fit, truth=fit.columns)
