"""`partita link`: the first link, updates in place and elsewhere, what is written, and what is refused."""

import csv
import json

import pytest
from typer.testing import CliRunner

import partita as pt
from partita.cli import app
from support.commands import one_sentence

PAIRS = "left,right,p\nann,anna,0.9\nbob,rob,0.8\nrob,bobby,0.7\nbob,bobby,0.9\n"
MORE = "left,right,p\nanna,ana,0.95\nann,ana,0.8\nbob,zoe,0.2\n"


def invoke(*arguments):
    return CliRunner().invoke(app, ["link", *map(str, arguments)])


def rows(path):
    with path.open() as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def files(tmp_path):
    (tmp_path / "pairs.csv").write_text(PAIRS)
    (tmp_path / "more.csv").write_text(MORE)
    (tmp_path / "records.csv").write_text("name,person\nann,1\nanna,1\nbob,2\nrob,2\nbobby,2\ncy,3\n")
    (tmp_path / "several.csv").write_text("name,id,city\nann,1,Pisa\n")
    return tmp_path


@pytest.fixture
def linked(files):
    answer = invoke(
        files / "pairs.csv", "--records", f"{files / 'records.csv'}:name", "--seed", 1, "--out", files / "linked"
    )
    assert answer.exit_code == 0, answer.output
    return files / "linked"


RESULTS = {"labels.csv", "clusters.csv", "pairs.csv", "reasons.csv", "summary.json", "report.html"}


def test_the_first_link_counts_every_record_and_keeps_its_state(linked):
    names = {path.name for path in linked.iterdir()}
    assert names == RESULTS | {"linkage.json", "state-000001"}
    labels = rows(linked / "labels.csv")
    assert [row["item"] for row in labels] == ["ann", "anna", "bob", "rob", "bobby", "cy"]
    assert [row["id"] for row in labels] == ["0", "0", "1", "1", "1", "2"]
    asked = rows(linked / "reasons.csv")
    assert set(asked[0]) == {"left", "right", "kind", "probability", "change", "cost", "ids"}
    changes = [float(row["change"]) for row in asked]
    assert changes == sorted(changes, reverse=True)
    facts = json.loads((linked / "summary.json").read_text())
    assert facts["n_items"] == 6
    assert facts["ids"] == [0, 0, 1, 1, 1, 2]
    assert facts["changes"] is None
    assert "Review" in (linked / "report.html").read_text()


def test_an_update_in_place_changes_the_state_and_the_tables(files, linked):
    answer = invoke(files / "more.csv", "--previous", linked)
    assert answer.exit_code == 0, answer.output
    assert "Since the last state: 2 kept, 1 grown, 1 new" in " ".join(answer.stdout.split())
    names = {path.name for path in linked.iterdir()}
    assert names == RESULTS | {"linkage.json", "lock", "state-000001", "state-000002", "changes.csv"}
    assert [(row["id"], row["kind"], row["records"]) for row in rows(linked / "changes.csv")] == [
        ("0", "grown", "ana"),
        ("3", "new", "zoe"),
    ]
    assert rows(linked / "labels.csv")[-2]["item"] == "ana"
    assert pt.read_linkage(linked).ids.tolist() == [0, 0, 1, 1, 1, 2, 0, 3]
    back = invoke("--previous", linked, "--step-back", "--out", files / "earlier", "--json")
    assert json.loads(back.stdout)["n_items"] == 6
    assert pt.read_linkage(files / "earlier").similarity.n_items == 6


def test_removed_records_and_answers_of_a_reviewer(files, linked):
    (files / "gone.csv").write_text("record\ncy\n")
    (files / "apart.csv").write_text("bob,bobby\n")
    (files / "same.csv").write_text("rob,zoe\n")
    answer = invoke(
        files / "more.csv", "--previous", linked, "--removed", files / "gone.csv", "--apart", files / "apart.csv",
        "--together", files / "same.csv", "--max-size", 3, "--json",
    )  # fmt: skip
    assert answer.exit_code == 0, answer.output
    facts = json.loads(answer.stdout)
    label = dict(zip(facts["names"], facts["labels"], strict=True))
    assert "cy" not in label
    assert label["bob"] != label["bobby"]
    assert label["rob"] == label["zoe"]
    assert facts["changes"]["gone"] == 1
    again = pt.read_linkage(linked)
    assert again.constraints.max_size == 3
    assert again.constraints.summary() == "1 group together, 1 pair apart, at most 3 items in a cluster"


def test_pairs_of_one_update_are_not_those_of_other_data(files, linked):
    (files / "other.csv").write_text("left,right,p\nx1,x2,0.9\n")
    answer = invoke(files / "other.csv", "--previous", linked)
    assert answer.exit_code == 2
    assert "none of the records of" in one_sentence(answer.stderr)
    (files / "new.csv").write_text("x1\nx2\n")
    assert invoke(files / "other.csv", "--previous", linked, "--records", files / "new.csv").exit_code == 0


REFUSED = {
    "nothing to link": ([], "give a file of pairs, or --previous"),
    "a loss of an update": (["{more}", "--previous", "{linked}", "--loss", "pear"], "--loss is that of the first link"),
    "no folder": (["{more}", "--previous", "{linked}-not"], "does not exist"),
    "a folder of something else": (["{more}", "--previous", "{folder}"], "has no linkage.json"),
    "removed without a folder": (["{more}", "--removed", "{more}"], "--removed is for updates"),
    "an unknown record": (["{more}", "--records", "{records}:name"], "names 'ana', which is not among --records"),
    "one of several columns": (["{more}", "--records", "{several}"], "several columns (name, id, city): name that of"),
    "a record twice": (["{more}", "--records", "{records}:person"], "--records has '1' twice"),
    "an unknown column": (["{more}", "--records", "{records}:id"], "has no column 'id'"),
    "an existing folder": (["{more}", "--out", "{linked}"], "exists already"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_and_nothing_is_changed(files, linked, name):
    words, message = REFUSED[name]
    before = sorted(path.name for path in linked.iterdir())
    places = {"more": files / "more.csv", "linked": linked, "records": files / "records.csv", "folder": files}
    places["several"] = files / "several.csv"
    answer = invoke(*(word.format(**places) for word in words))
    assert answer.exit_code == 2
    assert message in one_sentence(answer.stderr)
    assert sorted(path.name for path in linked.iterdir()) == before


def test_estimate_points_to_link(files):
    answer = CliRunner().invoke(app, ["estimate", "--pairs", str(files / "pairs.csv")])
    assert answer.exit_code == 0
    assert "partita link" in answer.output
