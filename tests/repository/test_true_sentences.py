"""Sentences that pages once had and that are false, with what shows it; and the numbers behind those in their place."""

import re

import numpy as np
import pytest
from test_prose import PAGES, ROOT, SOURCES, TEXTS

import partita as pt
from partita.datasets import load_galaxies, load_karate
from partita.draws.io import FORMATS

#: What is wrong with each.
FALSE = {
    r"(?:that|which) all (?:panels|bounds) share is certain": "pairs together in all bounds can be uncertain",
    r"probabilities to two digits": "400 effective draws have a standard error of 0.025 at one half",
    r"no sign that the posteriors": "a test that finds nothing shows no equality",
    r"\b1/32\b|\b1/17\b": "the time of as many runs as happen to suffice, which nobody knows before",
    r"items that are not where the estimate has them": "doubt is a sum of 1 - certainty, a score",
    r"faster than (?:anything|everything) else": "slower in one of fifty cases",
    r"reproduces? the tables and figures": "recomputes: most numbers differ",
    r"R-hat[^.]{0,40}1\.05[^.]{0,20}recommend": "the literature recommends 1.01",
}


def false_in(text):
    return [(match.group(0), why) for said, why in FALSE.items() for match in re.finditer(said, text)]


@pytest.mark.parametrize("path", [*PAGES, *TEXTS, ROOT / "VISION.md"], ids=lambda path: str(path.relative_to(ROOT)))
def test_no_page_says_what_is_false(path):
    assert false_in(re.sub(r"\s+", " ", path.read_text("utf-8"))) == []


def test_no_message_says_what_is_false():
    texts = (re.sub(r'["\s]+', " ", path.read_text("utf-8")) for path in SOURCES)
    assert [found for text in texts for found in false_in(text)] == []


def test_a_false_sentence_is_seen():
    assert false_in("a feature that all panels share is certain at this level")


def test_pairs_in_all_bounds_of_a_ball_can_be_uncertain():
    """The page on uncertainty warns of it, in the example of which it shows the panels."""
    chain = pt.models.GaussianDPM(covariance="diag").sample(
        load_galaxies().data / 1000, draws=1000, warmup=500, chains=4, rng=1
    )
    ball = pt.credible_ball(pt.estimate(chain, rng=1, check_draws=False))
    shown = [ball.center, ball.upper[0], ball.lower[0], ball.horizontal[0]]
    together = np.all([np.equal.outer(labels, labels) for labels in shown], axis=0)
    shared = pt.similarity(chain)[np.triu(together, 1)]
    assert len(shared) > 50
    assert (shared < 0.95).mean() > 0.5
    page = (ROOT / "docs/guide/how_sure.md").read_text("utf-8")
    assert "two items that are together in all panels can still be uncertain" in re.sub(r"\s+", " ", page)


def test_what_the_page_on_networks_says_of_the_karate_club():
    """Leaders with their followers are the clubs but for one member; two clusters by ICL are leaders and followers."""
    karate = load_karate()
    fit = pt.models.StochasticBlockModel(directed=False).maximize(karate.data, rng=1)
    clubs = pt.canonical(karate.target)
    joined = np.array([np.argmax(np.bincount(clubs[fit.labels == k])) for k in range(fit.n_clusters)])[fit.labels]
    assert np.sum(joined != clubs) == 1
    two = fit.path.cut(2)
    assert sorted(np.bincount(two).tolist()) == [5, 29]
    assert {0, 33} <= set(np.flatnonzero(two == np.argmin(np.bincount(two))))


@pytest.mark.parametrize("page", ["docs/cli.md", "docs/guide/from_draws.md"])
def test_pages_name_every_format_of_draws(page):
    text, names = (ROOT / page).read_text("utf-8"), {"rda": "RData", "nc": "netCDF"}
    kinds = {kind.suffix.removesuffix(".gz").removeprefix(".") for kind in FORMATS}
    assert len(kinds) > 10
    assert [kind for kind in kinds if names.get(kind, kind).lower() not in text.lower()] == []
