"""Every view of a result says the same: the notes, the facts and their layout, and what is costly is computed once."""

import json
import re
import sys
from collections import Counter
from dataclasses import is_dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import partita as pt
from partita.cli import app
from partita.pages.page import tables_of
from partita.results.draws import DrawsPresentation
from partita.results.ensembles import EnsemblePresentation
from partita.results.fused import FusedPresentation
from partita.results.matrices import MatrixPresentation
from partita.results.mixtures import MixturePresentation
from partita.results.networks import LayersPresentation, NetworkPresentation
from partita.results.pairs import PairPresentation
from partita.results.partials import PartialPresentation
from partita.results.present import present
from partita.results.presentation import COMMON
from partita.results.stability import StabilityPresentation

DOCS = Path(__file__).parents[2] / "docs" / "summary.md"
KINDS = (
    DrawsPresentation,
    PairPresentation,
    NetworkPresentation,
    LayersPresentation,
    MatrixPresentation,
    MixturePresentation,
    EnsemblePresentation,
    StabilityPresentation,
    PartialPresentation,
    FusedPresentation,
)
NEVER_WRITTEN = {"command", "files"}
#: Keys that a command adds to those of the kind.
ADDED = {
    "cluster": {"families", "column_notes", "inclusion"},
    "maximize": {"families", "column_notes", "inclusion"},
    "stability": {"column_notes"},
    "ball": {"level", "mass", "radius", "n_inside", "center", "upper", "lower", "horizontal", "summary"},
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """One small file for each command."""
    folder = tmp_path_factory.mktemp("inputs")
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1], 8)
    draws = np.where(rng.random((2, 60, 16)) < 0.2, rng.integers(0, 3, (2, 60, 16)), truth)
    for chain, rows in enumerate(draws):
        np.savetxt(folder / f"chain{chain}.csv", rows, fmt="%d", delimiter=",")
    np.savetxt(folder / "base.csv", draws[0, :6].T, fmt="%d", delimiter=",")
    (folder / "pairs.csv").write_text("left,right,probability\na,b,0.9\nb,c,0.8\na,d,0.95\nc,d,0.6\n")
    edges = [(i, j) for i in range(16) for j in range(i) if (rng.random() < (0.7 if truth[i] == truth[j] else 0.1))]
    (folder / "edges.csv").write_text("source,target\n" + "".join(f"n{i},n{j}\n" for i, j in edges))
    rows = "".join(f"{9 * truth[i] + rng.normal():.3f},{rng.normal():.3f}\n" for i in range(16))
    (folder / "table.csv").write_text("x,y\n" + rows)
    return folder


COMMANDS = {
    "estimate": ("draws", ["estimate", "chain0.csv", "chain1.csv", "--seed", "1"]),
    "ball": ("draws", ["ball", "chain0.csv", "chain1.csv", "--seed", "1"]),
    "pairs": ("pairs", ["estimate", "--pairs", "pairs.csv", "--seed", "1"]),
    "blockmodel": ("network", ["blockmodel", "edges.csv", "--undirected", "--seed", "1", "--restarts", "2"]),
    "ensemble": ("ensemble", ["ensemble", "base.csv", "--seed", "1"]),
    "cluster": (
        "draws",
        ["cluster", "table.csv", "--seed", "1", "--draws", "20", "--warmup", "20", "--chains", "2"],
    ),
    "stability": (
        "stability",
        ["stability", "table.csv", "--clusterer", "kmeans", "-k", "2", "--runs", "4"],
    ),
    "partial": ("partial", ["partial", "chain0.csv", "--seed", "1"]),
    "link": ("pairs", ["link", "pairs.csv", "--seed", "1"]),
    "maximize": ("mixture", ["cluster", "table.csv", "--maximize", "--seed", "1", "--restarts", "2"]),
}


def call(inputs, words, *more):
    given = [str(inputs / word) if (inputs / word).is_file() else word for word in words]
    answer = CliRunner().invoke(app, [*given, *map(str, more)], terminal_width=300)
    assert answer.exit_code == 0, answer.output
    return answer.stdout


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("command", COMMANDS)
def test_page_json_and_terminal_have_the_same_notes_and_layout(command, inputs, tmp_path):
    kind, words = COMMANDS[command]
    printed = call(inputs, words, "--out", tmp_path / "run")
    summary = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    page = pt.read_report(tmp_path / "run" / "report.html")
    assert list(page.notes) == summary["notes"]
    assert page.answer == summary["answer"]
    assert page.kind == summary["kind"] == kind
    lines = printed.splitlines()
    for note in page.content["notes"]:
        assert f"{'Warning' if note['warning'] else 'Note'}: {note['text']}" in lines
    assert any(summary["answer"] in line for line in lines)
    own = next(shown for shown in KINDS if shown.kind == kind)
    known = COMMON.keys() | own.own.keys()
    assert known <= summary.keys()
    assert summary.keys() - known - NEVER_WRITTEN == ADDED.get(command, set())
    asked = json.loads(call(inputs, words, "--json", *(["--out", tmp_path / "json"] if words[0] == "cluster" else [])))
    assert asked.keys() == summary.keys() - NEVER_WRITTEN
    assert asked["schema"] == 1
    header = (tmp_path / "run" / "labels.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert header[1] == "cluster"
    assert "certainty" in header


@pytest.mark.parametrize(("command", "added"), [
    ("hierarchy", {"levels", "expected_losses", "newick", "nodes"}),
    ("report", {"report", "labels_file"}),
])  # fmt: skip
def test_the_layout_of_commands_that_write_no_folder(command, added, inputs, tmp_path):
    more = ["--out", tmp_path / "page.html"] if command == "report" else []
    facts = json.loads(call(inputs, [command, "chain0.csv", "chain1.csv", "--seed", "1", "--json"], *more))
    assert facts.keys() == COMMON.keys() | DrawsPresentation.own.keys() | added


#: Types of the keys that all commands share.
TYPES = {
    "answer": str,
    "notes": list,
    "n_items": int,
    "n_clusters": int,
    "interrupted": bool,
    "names": list,
    "loss": str,
}
OTHER_COMMANDS = (
    ["similarity", "chain0.csv"],
    ["compare", "labels.csv", "labels.csv", "--draws", "chain0.csv"],
    ["compare-posteriors", "chain0.csv", "chain1.csv", "--permutations", "19", "--seed", "1"],
    ["monitor", "chain0.csv", "--once", "--seed", "1"],
    ["convert", "chain0.csv", "--out", "draws.npz"],
    ["sample", "dpm", "table.csv", "--draws", "4", "--warmup", "4", "--chains", "2", "--seed", "1", "--out", "run"],
)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("words", OTHER_COMMANDS, ids=lambda words: words[0])
def test_json_of_other_commands_has_the_same_keys_for_the_same_things(words, inputs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (inputs / "labels.csv").write_text("cluster\n" + "0\n1\n" * 8)
    given = [str(inputs / word) if (inputs / word).is_file() else word for word in words]
    facts = json.loads(CliRunner().invoke(app, [*given, "--json"]).stdout)
    assert facts["schema"] == 1
    assert facts["version"] == present(pt.estimate([[0, 0, 1]], check_draws=False)).facts["version"]
    for key, kind in TYPES.items():
        assert isinstance(facts.get(key, kind()), kind), key
    assert np.ndim(facts.get("labels", [0])) == 1
    told = DOCS.read_text(encoding="utf-8")
    assert [key for key in facts if f"`{key}`" not in told] == []


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_notes_in_python_are_those_of_the_page(tmp_path):
    rng = np.random.default_rng(2)
    draws = rng.integers(0, 3, (2, 50, 10))
    best = pt.estimate(draws, rng=1)
    ball = pt.credible_ball(best)
    model = pt.models.StochasticBlockModel(directed=False)
    graph = np.triu(rng.random((12, 12)) < 0.4, 1).astype(int)
    fit = model.maximize(graph + graph.T, restarts=2, rng=1)
    layered = pt.models.LayeredBlockModel({"a": model, "b": model}).maximize(
        {"a": graph + graph.T, "b": graph + graph.T}, restarts=2, rng=1
    )
    base = draws[0, :5].T
    results = [
        best,
        pt.estimate(pt.as_similarity(pt.similarity(best.sample)), "binder", rng=1),
        fit,
        layered,
        pt.models.LatentBlockModel().maximize(graph, restarts=2, rng=1),
        pt.models.MixtureDPM().maximize({"x": rng.normal(size=20)}, restarts=2, rng=1),
        pt.ensembles.summarize(pt.ensembles.consensus(base, rng=1), base),
        pt.ensembles.stability(lambda data, seed: (data[:, 0] > 0).astype(int), rng.normal(size=(20, 2)), 4, rng=1),
        pt.partial_clustering(draws, rng=1),
        pt.fuse(draws, means=rng.normal(size=(2, 50, 3, 1)), covariances=np.ones((2, 50, 3, 1)), rng=1),
        ball,
    ]
    assert {present(result).kind for result in results} == {shown.kind for shown in KINDS}
    for result in results:
        page = pt.read_report(pt.report(result, path=tmp_path / "page.html"))
        assert page.notes == result.notes == tuple(present(result).facts["notes"])
        for attribute in ("id", "caption"):  # of elements that buttons and readers of the screen refer to
            assert max(Counter(getattr(table, attribute) for table in tables_of(page.content)).values()) == 1
        assert present(result).facts.keys() == COMMON.keys() | present(result).own.keys()
        json.dumps(present(result).facts, allow_nan=False)
    assert set(best.notes) <= set(ball.notes)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_fits_of_every_kind_take_draws_which_give_certainties(tmp_path):
    rng = np.random.default_rng(4)
    blocks = (
        rng.random((12, 10)) < np.where(np.add.outer(np.arange(12) % 2, np.arange(10) % 2) == 1, 0.9, 0.1)
    ).astype(int)
    short = {"draws": 20, "warmup": 20, "chains": 2, "rng": 1}
    for model, data in ((pt.models.LatentBlockModel(), blocks), (pt.models.MixtureDPM(), {"x": rng.normal(size=12)})):
        fit, chain = model.maximize(data, restarts=2, rng=1), model.sample(data, **short)
        known = pt.item_certainty(fit.rows if hasattr(fit, "rows") else fit.labels, chain).probability
        shown = present(fit, [chain])
        assert shown.facts["certainty"] == pytest.approx(known.tolist())
        assert set(chain.notes) <= set(shown.facts["notes"])
        assert "is not known" in " ".join(fit.notes)
        assert "is not known" not in " ".join(shown.facts["notes"])
        page = pt.read_report(pt.report(fit, chain, truth=np.arange(12) % 2, path=tmp_path / "page.html"))
        assert "truth" in page.tables
        if "columns" in shown.tables:
            assert [row["Certainty"] for row in page.tables["columns"]] == pytest.approx(
                pt.item_certainty(fit.columns, pt.as_sample(chain.columns)).probability.tolist()
            )
        with pytest.raises(ValueError, match="PartitionSample has 2 items, but the fit of"):
            present(fit, [pt.as_sample([[0, 0], [0, 1]])])


def test_the_certainty_of_a_partial_clustering_is_among_its_items():
    """Item 3 is alone among the clustered items in all draws, but always with item 2, which is not clustered."""
    draws = [[0, 0, 1, 1, 0], [0, 0, 1, 1, 1]] * 30
    found = replace(pt.partial_clustering(draws, 0.9, rng=1), labels=np.array([0, 0, -1, 1, -1]))
    certainty = present(found).facts["certainty"]
    assert certainty == [1.0, 1.0, None, 1.0, None]


def test_a_page_lists_items_in_clusters_before_the_others(tmp_path):
    found = pt.partial_clustering([[0, 1, 2, 2], [0, 0, 1, 1]] * 30, 0.9, rng=1)
    page = pt.read_report(pt.report(found, path=tmp_path / "page.html"))
    clusters = [row["Cluster"] for row in page.tables["items"]]
    assert clusters[0] == 0
    assert clusters[-1] == -1


def test_ctrl_c_after_there_is_a_result_leaves_the_result(inputs, tmp_path, monkeypatch):
    def stop(*given, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr("partita.credible_ball", stop)
    words = [str(inputs / word) if (inputs / word).is_file() else word for word in COMMANDS["estimate"][1]]
    answer = CliRunner().invoke(app, [*words, "--bound", "1", "--out", str(tmp_path / "run")])
    assert answer.exit_code == 130
    assert "partita: stopped: the result comes without this step (ball)" in answer.stderr
    facts = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    assert facts["interrupted"] is True
    assert facts["ball"] is facts["bound"] is None
    assert facts["answer"] in answer.stdout


def test_questions_about_columns_are_on_every_view(inputs, tmp_path):
    rng = np.random.default_rng(3)
    table = {"answer": rng.integers(1, 6, 60), "x": rng.normal(size=60)}
    model = pt.models.MixtureDPM()
    page = pt.read_report(
        pt.report(model.maximize(table, restarts=1, rng=1), model.describe(table), path=tmp_path / "p")
    )
    asked = "answer has only whole numbers, 5 different ones, and is modelled as a measurement (gaussian)."
    assert f"{asked} Are they codes or answers on a scale?" in page.notes
    rows = "".join(f"{a},{x}\n" for a, x in zip(table["answer"], table["x"], strict=True))
    (inputs / "answers.csv").write_text("answer,x\n" + rows)
    words = ["cluster", "answers.csv", "--maximize", "--restarts", "1", "--seed", "1", "--out", tmp_path / "run"]
    assert page.notes[-1] in call(inputs, words)
    assert page.notes[-1] in pt.read_report(tmp_path / "run" / "report.html").notes
    assert page.notes[-1] in json.loads((tmp_path / "run" / "summary.json").read_text())["notes"]


def test_the_documentation_has_every_key():
    text = DOCS.read_text(encoding="utf-8")
    for shown in KINDS:
        for key, meaning in (COMMON | {key: told for key, (_, told) in shown.own.items()}).items():
            assert f"| `{key}` | {meaning} |" in text, (shown.kind, key)


COSTLY = {
    "losses.expected": "unique_distances",
    "uncertainty.certainty": "item_certainty",
    "uncertainty.uncertain_pairs": "pair_certainty",
    "pairs.similarity": "similarity",
}


def given(part):
    """What tells arguments apart: partitions by their labels, all else by what it is."""
    labels = getattr(part, "labels", part)
    return labels.tobytes() if isinstance(labels, np.ndarray) and labels.ndim == 1 else id(part)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("command", COMMANDS)
def test_distances_and_certainties_are_computed_once(command, inputs, tmp_path, monkeypatch):
    """They were computed four times and three times."""
    words = COMMANDS[command][1]
    call(inputs, words, "--out", tmp_path / "first")  # imports what is imported late
    calls, kept = [], []

    def counted(name, function):
        def run(*parts, **more):
            kept.append(parts)  # so that no id is used again
            calls.append((name, *map(given, parts[:2]), str(parts[2:3])))
            return function(*parts, **more)

        return run

    for place, name in COSTLY.items():
        function = getattr(sys.modules[f"partita.{place}"], name)
        for at, module in list(sys.modules.items()):  # a search measures what it finds before there is an estimate
            if at.startswith("partita.") and not at.startswith("partita.search") and vars(module).get(name) is function:
                monkeypatch.setattr(module, name, counted(name, function))
    call(inputs, words, "--out", tmp_path / "run")
    entropies = np.zeros(16, np.int64).tobytes()  # distances to the partition of one cluster, for the chains
    assert [known for known, times in Counter(calls).items() if times > 1 and known[1] != entropies] == []
    costly = {known[0] for known in calls}
    assert costly >= ({"unique_distances", "item_certainty"} if command == "estimate" else set())


def test_distances_are_those_of_the_labels_and_the_loss_also_after_a_change():
    draws = np.random.default_rng(3).integers(0, 3, (40, 8))
    best = pt.estimate(draws, rng=1)
    other = replace(best, labels=np.arange(8) % 2, loss=pt.Binder())
    for changed in (best, other):
        expected = pt.distances(changed.labels, changed.sample, changed.loss)
        assert changed.distances[changed.sample.index] == pytest.approx(expected)


def test_the_views_know_no_kinds():
    """Neither the page nor the command imports or names a kind of result: a new one needs no change there."""
    folder = Path(pt.__file__).parent
    kinds = "|".join(
        [*(shown.__module__ for shown in KINDS), *(shown.__name__ for shown in KINDS), r"\w*Fit\b", "Estimate"]
    )
    for view in [*(folder / "pages").glob("*.py"), *(folder / "cli" / name for name in ("deliver.py", "outputs.py"))]:
        code = re.sub(r'""".*?"""', "", view.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert re.findall(kinds, code) == [], view


@pytest.mark.parametrize("module", [pt, pt.models, pt.ensembles], ids=lambda module: module.__name__)
def test_every_result_has_notes(module):
    """A result is a frozen dataclass that a notebook shows; draws are what results are made from."""
    public = {name: getattr(module, name) for name in dir(module)}
    results = [each for each in public.values() if is_dataclass(each) and hasattr(each, "_repr_html_")]
    silent = [each.__name__ for each in results if not issubclass(each, pt.PartitionSample) and not has_notes(each)]
    assert results
    assert silent == []


def has_notes(result):
    return hasattr(result, "notes") or "notes" in result.__dataclass_fields__


def test_notes_and_table_of_results_that_have_no_page():
    draws = np.random.default_rng(1).integers(2, size=(40, 5))
    found = pt.modes(pt.as_sample(draws, names=list("abcde")), 2, rng=1)
    assert found.notes == ()
    assert found.to_pandas().loc["b"].tolist() == found.labels[:, 1].tolist()
    assert "time limit" in replace(found, timed_out=True).notes[0]
    with pytest.warns(pt.MixingWarning):
        apart = pt.diagnostics(np.repeat([[[0, 0, 1]], [[0, 1, 1]]], 50, axis=1), rng=1)
    assert apart.notes == apart.advice != ()
