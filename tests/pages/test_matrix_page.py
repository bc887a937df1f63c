"""The page about a latent block model."""

import numpy as np
import pytest

import partita as pt
from partita.pages.sentences import sizes_in_words

pytest.importorskip("jinja2")


@pytest.fixture(scope="module")
def fit():
    rng = np.random.default_rng(1)
    rows, columns = np.arange(30) % 3, np.arange(16) % 2
    chance = np.array([[0.9, 0.1], [0.1, 0.9], [0.1, 0.1]])[rows][:, columns]
    return pt.models.LatentBlockModel().maximize((rng.random((30, 16)) < chance).astype(int), restarts=2, rng=1)


def test_the_page_has_both_sides_and_every_block(fit, tmp_path):
    found = pt.read_report(pt.report(fit, path=tmp_path / "page.html")).content
    assert found["answer"].startswith(f"The 30 rows fall into 3 clusters ({sizes_in_words(fit.rows, 'rows')})")
    assert "the 16 columns into 2 clusters" in found["answer"]
    table = fit.blocks()
    for k, m, edges, cells, mean, *_ in found["blocks"].rows:
        assert (edges, cells) == (table.edges[k, m], table.dyads[k, m])
        assert mean == pytest.approx(table.mean[k, m])
    assert len(found["blocks"].rows) == len(found["picture"]["cells"]) == 6
    assert {row[0]: row[1] for row in found["row_members"].rows} == {str(i): k for i, k in enumerate(fit.rows.tolist())}
    assert len(found["column_members"].rows) == 16


def test_blocks_of_the_picture_fill_it_and_the_darkest_is_the_densest(fit, tmp_path):
    picture = pt.read_report(pt.report(fit, path=tmp_path / "page.html")).content["picture"]
    area = sum(width * height for _, _, width, height, _, _ in picture["cells"])
    assert area == pytest.approx(640 * 420, rel=0.01)
    darkest = max(picture["cells"], key=lambda cell: cell[4])
    k, m = np.unravel_index(fit.blocks().mean.argmax(), fit.n_clusters)
    assert darkest[5].startswith(f"rows {k}, columns {m}:")


def test_clusters_are_counted_from_one_on_request(fit, tmp_path):
    page = pt.report(fit, path=tmp_path / "page.html", one_based=True).read_text(encoding="utf-8")
    assert "rows 3, columns 2:" in page
    assert "rows 0," not in page


def test_a_truth_is_refused(fit, tmp_path):
    with pytest.raises(ValueError, match="truth is for estimates from draws"):
        pt.report(fit, truth=fit.rows, path=tmp_path / "page.html")
