"""What a newcomer meets first: what the commands print, hints, and compressed files. Each was a stumble of a trial."""

import gzip
import re
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import partita as pt
from partita.cli import app
from partita.results.interpretation import interpretation


def run(*words):
    answer = CliRunner().invoke(app, [*map(str, words)], terminal_width=200)
    assert answer.exit_code == 0, answer.output
    return answer.stdout


@pytest.fixture
def surprising(tmp_path):
    """Two clusters in every draw, and three items that are alone, others each time."""
    rng = np.random.default_rng(5)
    draws = np.repeat([0, 1], 20) * np.ones((300, 1), int)
    for row in draws:
        row[rng.choice(40, 3, replace=False)] = np.arange(2, 5)
    path = tmp_path / "draws.csv"
    np.savetxt(path, draws, fmt="%d", delimiter=",")
    return path


@pytest.mark.parametrize("command", ["estimate", "report"])
def test_the_terminal_interprets_as_the_page_does(command, surprising, tmp_path):
    page = () if command == "estimate" else ("--out", tmp_path / "page.html")
    printed = run(command, surprising, "--seed", 1, *page)
    note = next(line for line in printed.splitlines() if line.startswith("Note: Fewer clusters than most draws."))
    assert "of the draws have more clusters than the estimate, most often 5" in note
    assert "lower the weight a of the loss, now 1, or choose another loss" in note
    assert "--" not in note
    if page:
        assert note.removeprefix("Note: ") in pt.read_report(page[1]).notes


def test_a_loss_without_weights_has_no_weight_to_lower(surprising):
    best = replace(pt.estimate(pt.read_draws(surprising), rng=1), loss=pt.ID())
    found = interpretation(best, None, np.ones(40))
    assert found[0].endswith("To see more of them, choose another loss.")


def test_the_least_certain_items_are_named(tmp_path):
    path = tmp_path / "draws.csv"
    path.write_text("ann,bob,cy,dan\n" + "1,1,2,2\n" * 80 + "1,1,2,1\n" * 40)
    printed = run("estimate", path)
    listed = printed[printed.index("Items, least certain first") :]
    rows = re.findall(r"^\s+(ann|bob|cy|dan)\s+\d\s+([\d.]+)", listed, re.MULTILINE)
    assert dict(rows[:2]) == {"cy": "0.667", "dan": "0.667"}
    assert dict(rows[2:]) == {"ann": "1.000", "bob": "1.000"}


def test_the_answer_of_an_ensemble_is_a_sentence(tmp_path):
    path = tmp_path / "base.csv.gz"
    rows = ["first,second", *["a,x"] * 6, *["b,y"] * 4, "b,x", "a,y"]
    path.write_bytes(gzip.compress("\n".join(rows).encode()))
    printed = run("ensemble", path, "--seed", 1)
    assert printed.startswith("The 12 items fall into 2 clusters (of 7 and 5 items).")
    assert "It is the consensus of 2 base clusterings" in printed
    assert "effective_clusterings" not in printed


def test_the_title_of_a_network_is_one_line(tmp_path):
    path = tmp_path / "edges.csv.gz"
    edges = [(i, j) for g in (0, 6) for i in range(g, g + 6) for j in range(i) if j >= g]
    path.write_bytes(gzip.compress(("source,target\n" + "".join(f"{i},{j}\n" for i, j in edges)).encode()))
    first = run("blockmodel", path, "--undirected", "--seed", 1).splitlines()[0]
    assert first.startswith("The 12 nodes of the undirected network with 30 edges fall into 2 clusters")
    assert "the largest exact ICL that was found, −" in first


def test_a_truncated_file_is_one_sentence(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"x,y\n1,2\n" * 50)[:-12])
    answer = CliRunner().invoke(app, ["ensemble", str(path)])
    assert answer.exit_code == 2
    assert "table.csv.gz is damaged or truncated" in answer.stderr


def test_a_marker_of_missing_cells_is_pointed_out(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("first,second\n" + "y,n\nn,?\n?,y\n" * 8)
    short = ("--maximize", "--restarts", 2, "--seed", 1)
    printed = run("cluster", path, "--out", tmp_path / "plain", *short)
    assert "Note: '?' is a level of first and second. Does it mark missing cells? --missing '?' takes these" in printed
    assert "Note: '?'" not in run("cluster", path, "--out", tmp_path / "missing", "--missing", "?", *short)


def test_a_first_column_of_different_words_names_the_rows(tmp_path):
    path, out = tmp_path / "proteins.csv", tmp_path / "results"
    path.write_text("sequence,size,kind\n" + "".join(f"P{i},{i // 6 * 9 + i / 9},{'ab'[i // 6]}\n" for i in range(12)))
    printed = run("cluster", path, "--out", out, "--maximize", "--restarts", 2, "--seed", 1)
    assert "sequence:" not in printed
    assert (out / "labels.csv").read_text().splitlines()[1] == "P0,1,"
    kept = run(
        "cluster", path, "--out", tmp_path / "kept", "--family", "sequence=categorical", "--maximize", "--seed", 1
    )
    assert "sequence: categorical (12 levels" in kept


def test_another_column_of_different_words_is_refused(tmp_path):
    path = tmp_path / "proteins.csv"
    path.write_text("size,sequence\n" + "".join(f"{i},P{i}\n" for i in range(8)))
    answer = CliRunner().invoke(app, ["cluster", str(path), "--out", str(tmp_path / "results")])
    assert answer.exit_code == 2
    assert "'sequence' has a different word in each row (P0, P1, ...)" in answer.stderr
    assert "--family sequence=ignore leaves it out" in answer.stderr
