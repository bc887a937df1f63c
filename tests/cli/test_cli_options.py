"""No option of any command is ignored: each changes what comes out, or is refused where it would not."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import partita as pt
from partita.cli import app
from partita.pages.reopen import DATA
from support.commands import one_sentence


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def succeeds(*arguments):
    answer = invoke(*arguments)
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def fails(*arguments):
    """The one sentence of a command that ends with code 2."""
    answer = invoke(*arguments)
    assert answer.exit_code == 2, answer.output
    return one_sentence(answer.stderr)


@pytest.fixture(scope="module")
def truth(tmp_path_factory):
    path = tmp_path_factory.mktemp("truth") / "truth.csv"
    path.write_text("species\n" + "".join(f"s{i % 3}\n" for i in range(30)))
    return path


def test_estimate_says_how_it_agrees_with_the_truth(draws_file, draws, truth, tmp_path):
    source = f"{truth}:species"
    best, known = pt.estimate(draws, rng=1), np.arange(30) % 3
    expected = {
        "adjusted_rand": pt.adjusted_rand(known, best.labels),
        "nmi": pt.nmi(known, best.labels),
        "f1": pt.f1(best.labels, known),
    }
    text = succeeds("estimate", draws_file, "--seed", 1, "--truth", source)
    assert f"Against {source}: adjusted Rand index {expected['adjusted_rand']:.3f}, NMI (divided by" in " ".join(
        text.split("\n")
    )
    found = json.loads(succeeds("estimate", draws_file, "--seed", 1, "--truth", source, "--json"))
    assert found["agreement"] == expected
    out = tmp_path / "results"
    succeeds("estimate", draws_file, "--seed", 1, "--truth", source, "--out", out)
    assert json.loads((out / "summary.json").read_text())["agreement"] == expected
    page = json.loads(
        succeeds("report", draws_file, "--seed", 1, "--truth", source, "--json", "--out", tmp_path / "r.html")
    )
    assert page["agreement"] == expected


def test_the_length_of_the_truth_is_checked(draws_file, tmp_path):
    (tmp_path / "short.csv").write_text("cluster\n" + "1\n" * 29)
    sentence = fails("estimate", draws_file, "--truth", tmp_path / "short.csv")
    assert re.search(r"short\.csv has 29 items, but .* has 30", sentence)


def test_a_report_is_a_page_of_html(draws_file, tmp_path):
    for name in ("rep.pdf", "rep.png", "rep.md"):
        assert f"{name}: a report is an HTML page" in fails("report", draws_file, "--out", tmp_path / name)
    with pytest.raises(ValueError, match=r"rep\.pdf: a report is an HTML page, so its name must end in \.html"):
        pt.report(pt.estimate([[0, 1]], rng=1), path=tmp_path / "rep.pdf")
    assert list(tmp_path.iterdir()) == []


def test_report_writes_the_labels_that_the_page_promises(tmp_path):
    draws = pt.datasets.make_draws(1200, 20, n_clusters=3, rng=1)
    np.save(tmp_path / "draws.npy", draws)
    succeeds("report", tmp_path / "draws.npy", "--runs", 1, "--seed", 1, "--out", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "The labels of all items are in report-labels.csv." in page
    rows = (tmp_path / "report-labels.csv").read_text().splitlines()
    assert rows[0] == "item,cluster,certainty,p_1,p_2,p_3,p_other"
    assert len(rows) == 1201
    assert "report-labels.csv exists already" in fails(
        "report", tmp_path / "draws.npy", "--out", tmp_path / "report.htm"
    )
    facts = json.loads(succeeds("report", tmp_path / "draws.npy", "--runs", 1, "--json", "--out", tmp_path / "b.html"))
    assert facts["labels_file"] == str(tmp_path / "b-labels.csv")
    assert "The labels of all items are in b-labels.csv." in (tmp_path / "b.html").read_text(encoding="utf-8")


def test_a_page_that_has_no_labels_beside_it_promises_none(tmp_path):
    best = pt.estimate(pt.datasets.make_draws(1200, 20, n_clusters=3, rng=1), search=pt.Search(runs=1), rng=1)
    page = pt.report(best, path=tmp_path / "page.html").read_text(encoding="utf-8")
    assert "least certain of 1,200 items." in page
    assert "labels.csv" not in page


@pytest.mark.parametrize("loss", ["vi", "binder"])
@pytest.mark.parametrize("runs", [1, 3, 16])
@pytest.mark.parametrize("n_draws", [40, 600])
def test_so_many_runs_as_were_asked_for_are_reported(tmp_path, loss, runs, n_draws):
    """Sixteen were reported as 4, where only some went on to all draws, or as 64, with Binder's starts."""
    np.save(tmp_path / "draws.npy", pt.datasets.make_draws(40, n_draws, n_clusters=8, doubt=0.4, rng=3))
    asked = ("estimate", tmp_path / "draws.npy", "--runs", runs, "--seed", 1, "--loss", loss)
    found = json.loads(succeeds(*asked, "--json"))
    assert found["runs"] == runs
    assert found["times_reached"] <= found["partitions_compared"]
    best = pt.estimate(np.load(tmp_path / "draws.npy"), loss, search=pt.Search(runs=runs), rng=1)
    assert best.n_runs == runs
    assert f"{runs} run" in repr(best)
    if runs > 1:
        assert f"{runs} runs of the search found" in succeeds(*asked)
        page = pt.report(best, path=tmp_path / "page.html").read_text(encoding="utf-8")
        assert f"{runs} runs of the search found" in page


def test_runs_that_time_did_not_allow_are_not_reported():
    draws = pt.datasets.make_draws(400, 3000, n_clusters=30, doubt=0.4, rng=3)
    best = pt.estimate(draws, "nvi", search=pt.Search(runs=10_000, seconds=0.5, n_jobs=1), rng=1)
    assert 1 <= best.n_runs < 10_000
    assert f"{best.n_runs:,} run" in repr(best)


def test_a_proof_by_the_bound_is_told_once(tmp_path):
    np.save(tmp_path / "draws.npy", pt.datasets.make_draws(8, 50, n_clusters=3, doubt=0.05, rng=2))
    asked = (tmp_path / "draws.npy", "--loss", "binder", "--bound", 20, "--seed", 1)
    found = json.loads(succeeds("estimate", *asked, "--json"))
    assert found["proven"] is True
    assert found["bound"]["proven"] is True
    assert found["gap"] == found["bound"]["gap"] == 0
    assert "of all partitions, which is proven" in succeeds("estimate", *asked)
    succeeds("report", *asked, "--out", tmp_path / "page.html")
    shown = DATA.sub("", (tmp_path / "page.html").read_text(encoding="utf-8"))
    assert shown.count("No partition has a") == 1


def test_a_bound_under_a_limit_names_it(tmp_path):
    np.save(tmp_path / "draws.npy", pt.datasets.make_draws(20, 50, n_clusters=4, doubt=0.05, rng=2))
    asked = (tmp_path / "draws.npy", "--loss", "binder", "--bound", 20, "--max-clusters", 3, "--seed", 1)
    found = json.loads(succeeds("estimate", *asked, "--json"))
    assert found["proven"] is True
    assert found["bound"]["max_clusters"] == 3
    assert any("as many clusters as were allowed" in sentence for sentence in found["notes"])
    shown = succeeds("estimate", *asked)
    assert "of all partitions into at most 3 clusters, which is proven" in shown
    assert "into at most 3 clusters has a smaller expected loss: the estimate is provably optimal." in shown


IGNORED = [
    ("estimate DRAWS --level 0.9", "--level is for the results that --out writes"),
    ("estimate DRAWS --data DATA", "--data is for the results that --out writes"),
    ("estimate DRAWS --columns x", "--columns is for the columns of the data; give --data too"),
    ("report DRAWS --columns x", "--columns is for the columns of the data; give --data too"),
    ("monitor DRAWS --once --every 3", "--every is for waiting, and --once does not wait"),
    ("compare LABELS LABELS --as-draws", "--as-draws is for the files of --draws"),
    ("ensemble BASE --method evidence --seed 3", "--seed is for methods that use random numbers"),
    ("estimate DRAWS --force", "--force is for the results that --out writes"),
    ("estimate DRAWS --method map --runs 4", "--runs is for the methods search, salso"),
    ("estimate DRAWS --method draws --runs 4", "--runs is for the methods search, salso"),
    ("estimate DRAWS --loss zero-one --runs 4", "--runs is for losses that need a search"),
    ("estimate DRAWS --loss nvi --a 2", "--a is for the losses binder and vi"),
    ("estimate DRAWS --shards 2", "--shards needs workers"),
    ("ball DRAWS --force", "--force is for the results that --out writes"),
    ("ball DRAWS --labels LABELS --method salso", "--method is for a search, but --labels gives the estimate"),
    ("ball DRAWS --labels LABELS --runs 4", "--runs is for a search"),
    ("ball DRAWS --labels LABELS --seconds 4", "--seconds is for a search"),
    ("ball DRAWS --labels LABELS --max-clusters 4", "--max-clusters is for a search"),
    ("ball DRAWS --labels LABELS --seed 4", "--seed is for a search"),
    ("ball DRAWS --labels LABELS --max-draws 4", "--max-draws is for a search"),
    ("similarity DRAWS --labels LABELS", "--labels orders the figure; give --figure too"),
    ("similarity DRAWS --force", "--force is for the files of --out and --figure"),
    ("blockmodel EDGES --force", "--force is for the results that --out writes"),
    ("ensemble BASE --force", "--force is for the results that --out writes"),
    ("ensemble BASE --method nbce -k 3", "-k is not for --method nbce"),
    ("ensemble BASE --method mcla -k 2 --weights equal", "--weights is for --method consensus and nbce, not for mcla"),
    ("ensemble BASE --method consensus --alpha 1", "--alpha is for --method nbce, not for consensus"),
    ("ensemble BASE --weights some", "--weights must be one of dependence, equal, but it is some"),
    ("ensemble BASE --method cspa -k 3 --loss binder", "--loss is for --method consensus"),
    ("ensemble BASE --inference vb --loss binder", "--loss is for --method consensus"),
    ("ensemble BASE --inference vb --draws 5", "--draws is for --inference gibbs, not for vb"),
    ("ensemble BASE --inference cvb --chains 5", "--chains is for --inference gibbs, not for cvb"),
    ("ensemble BASE --inference cvb --warmup 5", "--warmup is for --inference gibbs, not for cvb"),
    ("ensemble BASE --method mcla -k 2 --inference vb", "--inference is for --method nbce, not for mcla"),
    ("ensemble BASE --method mcla -k 2 --prior tsb", "--prior is for --method nbce, not for mcla"),
    ("ensemble BASE --method mcla -k 2 --truncation 9", "--truncation is for --method nbce, not for mcla"),
    ("ensemble BASE --method consensus --draws 9", "--draws is for --method nbce, not for consensus"),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory, draws_file):
    folder = tmp_path_factory.mktemp("files")
    (folder / "labels.csv").write_text("cluster\n" + "1\n2\n" * 15)
    (folder / "data.csv").write_text("x,y\n" + "".join(f"{i},{i * i}\n" for i in range(30)))
    (folder / "edges.csv").write_text("source,target\na,b\nb,c\nc,a\n")
    (folder / "base.csv").write_text("m1,m2\n" + "1,1\n2,1\n2,2\n" * 3)
    names = {name.upper(): folder / f"{name}.csv" for name in ("labels", "data", "edges", "base")}
    return {"DRAWS": draws_file, **names}


@pytest.mark.parametrize(("line", "sentence"), IGNORED)
def test_an_option_that_would_be_ignored_is_refused(files, line, sentence):
    assert sentence in fails(*(files.get(word, word) for word in line.split()))
