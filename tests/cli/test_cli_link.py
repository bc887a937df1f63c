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
    assert names == RESULTS | {"linkage.json", "lock", "state-000001", "state-000002", "changes.csv", "moved.csv"}
    assert [tuple(row.values()) for row in rows(linked / "changes.csv")] == [
        ("0", "grown", "ana", "ann, anna, ana"),
        ("3", "new", "zoe", "zoe"),
    ]
    assert [row["id"] for row in rows(linked / "clusters.csv")] == ["0", "1", "2", "3"]
    assert rows(linked / "labels.csv")[-2]["item"] == "ana"
    assert pt.read_linkage(linked).ids.tolist() == [0, 0, 1, 1, 1, 2, 0, 3]
    back = invoke("--previous", linked, "--step-back", "--out", files / "earlier", "--json")
    assert json.loads(back.stdout)["n_items"] == 6
    assert pt.read_linkage(files / "earlier").similarity.n_items == 6


def test_tables_of_what_changed_alone(files, linked):
    """The state is that of an update with all tables; those of all records are gone until they are made anew."""
    (files / "gone.csv").write_text("record\ncy\n")
    words = (files / "more.csv", "--previous", linked, "--removed", files / "gone.csv")
    assert invoke(*words, "--out", files / "whole").exit_code == 0
    answer = invoke(*words, "--tables", "changed", "--json")
    assert answer.exit_code == 0, answer.output
    tables = {"reasons.csv", "changes.csv", "moved.csv", "summary.json"}
    names = {path.name for path in linked.iterdir()}
    assert names == tables | {"linkage.json", "lock", "state-000001", "state-000002"}
    for name in ("changes.csv", "moved.csv"):
        assert (linked / name).read_text() == (files / "whole" / name).read_text()
    assert [tuple(row.values()) for row in rows(linked / "moved.csv")] == [
        ("ana", "", "0"),
        ("zoe", "", "3"),
        ("cy", "2", ""),
    ]
    concerned = {"ann", "anna", "ana", "bob", "rob", "bobby", "zoe"}
    assert {row[end] for row in rows(linked / "reasons.csv") for end in ("left", "right")} <= concerned
    facts, whole = json.loads(answer.stdout), json.loads((files / "whole" / "summary.json").read_text())
    assert facts["labels"] is facts["names"] is facts["ids"] is None
    for same in ("n_items", "n_clusters", "expected_loss", "components", "changes"):
        assert facts[same] == whole[same]
    assert pt.read_linkage(linked).ids.tolist() == pt.read_linkage(files / "whole").ids.tolist()
    assert invoke("--previous", linked).exit_code == 0
    assert (linked / "labels.csv").read_text() == (files / "whole" / "labels.csv").read_text()


def test_tables_of_an_update_in_place_have_the_format_that_is_asked_for(files, linked):
    assert invoke(files / "more.csv", "--previous", linked, "--format", "tsv").exit_code == 0
    assert (linked / "moved.tsv").read_text() == "item\tbefore\tid\nana\t\t0\nzoe\t\t3\n"
    assert not (linked / "labels.csv").exists()


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
    "tables of the first link": (["{more}", "--tables", "changed"], "--tables is for updates"),
    "unknown tables": (["{more}", "--previous", "{linked}", "--tables", "some"], "must be one of all, changed"),
    "a truth of what changed": (
        ["{more}", "--previous", "{linked}", "--tables", "changed", "--truth", "{records}:person"],
        "--truth is for all records",
    ),
    "a loss of an update": (["{more}", "--previous", "{linked}", "--loss", "pear"], "--loss is that of the first link"),
    "no folder": (["{more}", "--previous", "{linked}-not"], "does not exist"),
    "a folder of something else": (["{more}", "--previous", "{folder}"], "has no linkage.json"),
    "removed without a folder": (["{more}", "--removed", "{more}"], "--removed is for updates"),
    "an unknown record": (["{more}", "--records", "{records}:name"], "names 'ana', which is not among --records"),
    "one of several columns": (["{more}", "--records", "{several}"], "several columns (name, id, city): name that of"),
    "a record twice": (["{more}", "--records", "{records}:person"], "--records has '1' twice"),
    "an unknown column": (["{more}", "--records", "{records}:id"], "has no column 'id'"),
    "an existing folder": (["{more}", "--out", "{folder}"], "exists already"),
    "a linkage in its place": (["{more}", "--out", "{linked}", "--force"], "is a linkage, whose identifiers last"),
}


BAD_PAIRS = {
    "above 1": ("left,right,p\nann,bob,1.2\n", "line 2: the probability is 1.2"),
    "below 0": ("left,right,p\nann,bob,-0.1\n", "line 2: the probability is -0.1"),
    "no number": ("left,right,p\nann,bob,0.5\nann,cy,often\n", "line 3: the probability is 'often'"),
    "not known": ("left,right,p\nann,bob,nan\n", "line 2: the probability is nan"),
    "itself": ("left,right,p\nann,ann,0.5\n", "is a pair of 'ann' with itself"),
    "two values": ("left,right,p\nann,bob,0.5\nbob,ann,0.6\n", "gives 'ann' and 'bob' the probability 0.6"),
    "no name": ("left,right,p\nann,,0.5\n", "line 2: an item has no name"),
    "short": ("left,right,p\nann,bob,0.5\nann,cy\n", "line 3: 2 cells, but there are 3 columns"),
    "empty": ("", "is empty"),
}
REFUSED |= {
    f"pairs: {name}": (["{bad}" + name, "--previous", "{linked}"], said) for name, (_, said) in BAD_PAIRS.items()
}
REFUSED["a new folder"] = (["{bad}above 1", "--out", "{linked}-new"], "the probability is 1.2")
REFUSED["an update elsewhere"] = (["{bad}above 1", "--previous", "{linked}", "--out", "{linked}-new"], "is 1.2")
BAD_LISTS = {
    "--removed": [("zoe\n", "names 'zoe', which is not a record"), ("ann,cy\n", "which is not listed")],
    "--together": [("ann,bob\nann,zoe\n", "line 2: 'zoe' is not an item")],
    "--apart": [("ann,zoe\n", "is not an item"), ("ann,bob,cy\n", "must have two items")],
}


def tree(folder):
    return {path.relative_to(folder): path.is_file() and path.read_bytes() for path in folder.rglob("*")}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_and_nothing_is_changed(files, linked, name):
    words, message = REFUSED[name]
    for bad, (text, _) in BAD_PAIRS.items():
        (files / f"bad {bad}").write_text(text)
    places = {"more": files / "more.csv", "linked": linked, "records": files / "records.csv", "folder": files}
    places |= {"several": files / "several.csv", "bad": files / "bad "}
    (linked / "lock").touch()
    before = {path: content for path, content in tree(files).items() if path.name != "lock"}
    answer = invoke(*(word.format(**places) for word in words))
    assert answer.exit_code == 2
    assert message in one_sentence(answer.stderr)
    assert {path: content for path, content in tree(files).items() if path.name != "lock"} == before


@pytest.mark.parametrize("option", BAD_LISTS)
def test_bad_lists_are_refused_and_nothing_is_changed(files, linked, option):
    for text, message in BAD_LISTS[option]:
        (files / "list.csv").write_text(text)
        before = tree(linked / "state-000001")
        answer = invoke(files / "more.csv", "--records", f"{files / 'records.csv'}:name", "--previous", linked)
        assert "neither known nor among --records" in one_sentence(answer.stderr)
        answer = invoke("--previous", linked, option, files / "list.csv")
        assert answer.exit_code == 2
        assert message in one_sentence(answer.stderr)
        assert tree(linked / "state-000001") == before
        assert not (linked / "state-000002").exists()


def test_a_folder_to_which_another_process_writes_is_left_alone(files, linked):
    from partita.estimation.linkage_store import locked_linkage

    with locked_linkage(linked):
        before = tree(linked)
        answer = invoke(files / "more.csv", "--previous", linked)
        assert answer.exit_code == 2
        assert "is writing to this linkage; only one process at a time can" in one_sentence(answer.stderr)
        assert tree(linked) == before
        assert invoke(files / "more.csv", "--previous", linked, "--out", files / "other").exit_code == 0
    assert invoke(files / "more.csv", "--previous", linked).exit_code == 0


def test_a_damaged_folder_is_one_sentence(files, linked):
    place = linked / "state-000001" / "ids.npy"
    place.write_bytes(place.read_bytes()[:-1] + b"\7")
    answer = invoke(files / "more.csv", "--previous", linked)
    assert answer.exit_code == 2
    assert "ids.npy is damaged: its checksum does not match its content" in one_sentence(answer.stderr)


def test_estimate_points_to_link(files):
    answer = CliRunner().invoke(app, ["estimate", "--pairs", str(files / "pairs.csv")])
    assert answer.exit_code == 0
    assert "partita link" in answer.output
