"""Tables given as draws, and draws given as tables: the command ends with a question, unless it is told."""

import csv

import numpy as np
import pytest
from typer.testing import CliRunner

from partita.cli import app
from partita.cli.mistaken import draws_sign, table_sign
from support.commands import one_sentence

SHORT = ("--draws", 5, "--warmup", 5, "--chains", 1, "--seed", 1)


def run(*words):
    return CliRunner().invoke(app, [*map(str, words)])


def written(path, header, rows):
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([header, *rows] if header else rows)
    return path


def titanic():
    rng = np.random.default_rng(7)
    kinds = [("1st", "2nd", "3rd", "Crew"), ("Male", "Female"), ("Child", "Adult"), ("No", "Yes")]
    rows = [(a, b, c, d) for d in kinds[3] for c in kinds[2] for b in kinds[1] for a in kinds[0]]
    return ("Class", "Sex", "Age", "Survived", "Freq"), [(*row, rng.integers(670)) for row in rows]


def chicks():
    """As R's ChickWeight: weights of 50 chicks at 12 times, and their diet."""
    rng = np.random.default_rng(7)
    rows = [
        (int(42 + day * rng.normal(6, 1.5)), day, chick, 1 + chick // 20)
        for chick in range(1, 51)
        for day in (*range(0, 21, 2), 21)
    ]
    return ("weight", "Time", "Chick", "Diet"), rows


def cars():
    rng = np.random.default_rng(7)
    columns = (
        rng.choice([4, 6, 8], 32),
        rng.integers(52, 80, 32),
        *rng.integers(0, 2, (2, 32)),
        3 + rng.integers(0, 3, 32),
    )
    return ("cyl", "hp", "vs", "am", "gear"), [list(map(int, row)) for row in np.array(columns).T]


def answers():
    """As bfi of psychTools: answers from 1 to 6 with missing ones, gender and age."""
    rng = np.random.default_rng(7)
    likert = rng.integers(1, 7, (200, 10)).astype(object)
    likert[rng.random(likert.shape) < 0.02] = "NA"
    rest = np.stack([rng.integers(1, 3, 200), rng.integers(16, 80, 200)], axis=1).astype(object)
    return [f"{'AC'[j // 5]}{j % 5 + 1}" for j in range(10)] + ["gender", "age"], np.hstack([likert, rest]).tolist()


def lizards():
    """Words only, of other kinds in each column."""
    rng = np.random.default_rng(7)
    return ("site", "sunlight"), [(rng.choice(["desert", "valley"]), rng.choice(["sun", "shade"])) for _ in range(40)]


TABLES = {"lizards": lizards, "titanic": titanic, "chicks": chicks, "cars": cars, "answers": answers}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_no_draws(name, tmp_path):
    path = written(tmp_path / f"{name}.csv", *TABLES[name]())
    done = run("report", path, "--out", tmp_path / "page.html")
    assert done.exit_code == 2
    said = one_sentence(done.stderr)
    assert "looks like a table of data, not like draws" in said
    assert f"partita cluster {path}" in said
    assert "--as-draws" in said
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("command", ["estimate", "ball", "partial", "similarity", "hierarchy", "convert"])
def test_every_command_that_reads_draws_asks(command, tmp_path):
    path = written(tmp_path / "chicks.csv", *chicks())
    out = ("--out", tmp_path / "out.csv") if command in ("similarity", "convert") else ()
    done = run(command, path, *out)
    assert done.exit_code == 2
    assert "--as-draws reads it so" in one_sentence(done.stderr)


def test_draws_in_other_options_are_looked_at_too(tmp_path):
    path = written(tmp_path / "chicks.csv", *chicks())
    assert "--as-draws" in one_sentence(run("compare-posteriors", path, path).stderr)
    labels = written(tmp_path / "labels.csv", ["cluster"], [[0], [0], [1], [1]])
    assert "--as-draws" in one_sentence(run("compare", labels, labels, "--draws", path).stderr)


def test_an_option_goes_on_with_a_table_as_draws(tmp_path):
    path = written(tmp_path / "titanic.csv", *titanic())
    done = run("estimate", path, "--as-draws", "--seed", 1)
    assert done.exit_code == 0, done.output
    assert "The 5 items fall into 5 clusters" in done.output


@pytest.mark.parametrize("header", [True, False])
def test_draws_are_no_table(tmp_path, header):
    rng = np.random.default_rng(7)
    draws = np.array(
        [
            np.unique(rng.permutation(9)[row], return_inverse=True)[1]
            for row in rng.integers(0, 2, (40, 1)) * [0, 1, 0, 1, 1] + [0, 2, 0, 4, 4]
        ]
    )
    path = written(tmp_path / "draws.csv", [f"z[{i + 1}]" for i in range(5)] if header else None, draws.tolist())
    done = run("cluster", path, "--out", tmp_path / "out", *SHORT)
    assert done.exit_code == 2
    said = one_sentence(done.stderr)
    assert "looks like draws of labels, not like a table of data" in said
    assert f"partita report {path}" in said
    assert not (tmp_path / "out").exists()
    told = run("cluster", path, "--out", tmp_path / "out", "--as-table", *SHORT)
    assert told.exit_code == 0, told.output
    other = run("sample", "mixture", path, "--out", tmp_path / "run", *SHORT)
    assert "--as-table reads it so" in one_sentence(other.stderr)


def crp(n, alpha, rng):
    labels = [0]
    for _ in range(n - 1):
        weights = np.append(np.bincount(labels), alpha)
        labels.append(int(rng.choice(len(weights), p=weights / weights.sum())))
    return np.array(labels)


@pytest.mark.parametrize("names", ["in order", "permuted", "any number", "ever new", "by first item", "words"])
def test_draws_are_not_taken_for_a_table(names):
    """Whatever a sampler calls its clusters, and however few items and draws there are."""
    rng, ever = np.random.default_rng(1), 0
    for n, n_draws, alpha in [
        (2, 5, 1),
        (3, 6, 5),
        (3, 400, 50),
        (5, 30, 1),
        (8, 200, 0.3),
        (30, 300, 10),
        (30, 8, 100),
    ]:
        draws = []
        for _ in range(n_draws):
            row = crp(n, alpha, rng)
            called = {
                "in order": np.arange(n),
                "permuted": rng.permutation(60),
                "any number": rng.integers(0, 10**6, n),
                "ever new": np.arange(ever, ever + n),
                "by first item": np.array([np.argmax(row == k) for k in range(n)]),
                "words": np.array(["red", "blue", "green", *map(str, range(60))], dtype=object),
            }[names]
            ever += row.max() + 1
            draws.append(called[row])
        assert table_sign(np.array(draws), None) is None


class Named:
    """What `draws_sign` needs to know about a table."""

    def __init__(self, names, values):
        self.names, self.columns = list(names), [list(map(str, column)) for column in values.T]
        self.lines, self.has_header, self.row_names = range(len(values)), True, None


@pytest.mark.parametrize("n_values", [2, 5, 7])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.8])
def test_answers_on_a_scale_are_not_taken_for_draws(n_values, share):
    """Ten correlated questions V1, ..., V10, as latent class analysis has them; also rare yes in much no."""
    rng = np.random.default_rng(7)
    common = rng.integers(1, n_values + 1, (300, 1))
    own = rng.integers(1, n_values + 1, (300, 10))
    table = np.where(rng.random((300, 10)) < share, common, own)
    assert draws_sign(Named([f"V{j + 1}" for j in range(10)], table)) is None
    rare = (rng.random((300, 10)) < 0.02).astype(int)
    assert draws_sign(Named([f"V{j + 1}" for j in range(10)], rare)) is None
