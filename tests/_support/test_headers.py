"""The one header rule, as a table: the kind of a file, its text, and whether its first line is a header."""

import pytest

from partita._support.text.header import MIXED, HeadRow, has_header, is_quoted
from partita._support.text.separator import find_separator, split_line
from partita.cli.base_files import BASE
from partita.cli.inputs import DATA, LABELS
from partita.draws.sources.layout import DRAWS, find_layout
from partita.models.networks.edge_list import EDGES

EITHER = "either"
KINDS = {"draws": DRAWS, "labels": LABELS, "data": DATA, "base": BASE, "table": MIXED, "edges": EDGES}

RULE = [
    # names that only a header has
    ("draws", "chain,a,b\n1,0,1\n", True),
    ("draws", ".draw,1,2\n1,0,1\n", True),
    ("draws", "lp__,0,1\n-1,0,1\n", True),
    ("labels", "item,cluster\nann,x\nbob,cluster\n", True),
    ("labels", "Label\nx\ny\n", True),
    ("edges", "Source,Target\nann,bob\n", True),
    ("edges", "from,to\nfrom,to\n", True),
    # one cell fewer than below, an empty corner, quotes above none
    ("draws", "a,b\n1,0,1\n2,0,1\n", True),
    ("draws", ",a,b\n1,0,1\n2,0,1\n", True),
    ("data", ",0,1\n0,3,4\n1,4,5\n", True),
    ("draws", '"3","1"\n0,1\n0,0\n', True),
    ("draws", '"3","1"\n"0","1"\n', False),
    ("data", '"0","1"\n1,2\n', True),
    # numbers are data, but 0, 1, 2, ... may be column numbers
    ("draws", "1,2,3\n1,1,1\n", EITHER),
    ("draws", "1,2,3\n1,1,1\n1,2,3\n", False),
    ("draws", "1,2\n1,1\n", False),
    ("draws", "2,3,4\n1,1,1\n", False),
    ("base", "1,2,3\n1,1,1\n", False),
    ("draws", "0,1,2\n0,0,1\n", EITHER),
    ("draws", "0,1,2\n0,1,2\n", False),
    ("draws", "0\n0\n1\n", False),
    ("labels", "0\n0\n1\n", False),
    ("base", "0\n3\n5\n", EITHER),
    ("base", "0,1\n1,1\n2,1\n", EITHER),
    ("base", "0,1\n1.0,1.0\n2.0,\n", True),
    ("data", "0\n1.5\n2.5\n", EITHER),
    ("data", "0,1\n0.5,2\n4.0,3\n", True),
    ("data", "0,1,2\n0.1,1.7,0.3\n0.2,1.9,0.4\n", True),
    ("data", "3,1\n1.5,2\n", False),
    # gaps are no names
    ("data", "NA,2\n1,3\n", False),
    ("data", ",2\n1,3\n", False),
    ("base", "NA,NA\n1,2\n", False),
    # words above numbers
    ("draws", "ann,bob\n0,1\n0,0\n", True),
    ("draws", "id,ann,bob\nd1,0,1\nd2,0,0\n", True),
    ("draws", "id,1,2\nd1,0,1\nd2,0,0\n", True),
    ("draws", "a,a\n0,1\n0,0\n", True),
    ("labels", "species\n1\n2\n", True),
    ("data", "x,y\n1,2\n", True),
    ("data", "x,2\n1,3\n", True),
    ("data", "species,x\nsetosa,1\nsetosa,2\n", True),
    ("data", "x\n1\ntwo\n", True),
    ("base", "x,2\n1,3\n", EITHER),
    ("draws", "x,2\n1,3\n", EITHER),
    ("table", "x,y,c\n1,2,a\n3,4,b\n5,6,c\n", True),
    ("table", "x,c\n1,a\n3,b\n5,c\n", EITHER),
    ("table", "x,c\n1,a\n3,b\n5,a\n", True),
    ("table", "?,?,c\n1,2,a\n3,4,b\n5,6,c\n", False),
    ("edges", "person,friend,times\nann,bob,2\n", True),
    # words above words
    ("labels", "species\nsetosa\nsetosa\nvirginica\nvirginica\n", True),
    ("labels", "setosa\nsetosa\nvirginica\n", False),
    ("labels", "ann\nbob\neve\n", EITHER),
    ("labels", "species\nsetosa\nsetosa\nvirginica\n", EITHER),
    ("base", "km,hc\na,x\na,y\nb,y\nb,x\n", True),
    ("base", "a,x\na,y\nb,x\n", False),
    ("base", "a,1\n2,b\na,1\n", False),
    ("draws", "ann,bob,eve\nc1,c1,c2\nc1,c2,c2\n", True),
    ("draws", "c1,c1,c2\nc1,c2,c2\n", False),
    ("draws", "a,b,c\na,a,b\nb,b,b\n", EITHER),
    ("edges", "ann,bob\nbob,eve\n", EITHER),
    ("edges", "person,friend\nann,bob\nbob,eve\n", True),
    ("edges", "person,friend\nann,bob\ncat,dan\n", EITHER),
    ("edges", "0,1\n1,2\n", EITHER),
    ("edges", "1,2\n2,3\n", False),
    # nothing below
    ("draws", "ann,bob\n", True),
    ("draws", "0,1\n", False),
    ("labels", "cluster\n", True),
    ("labels", "setosa\n", False),
]


def decide(kind, text):
    lines = text.splitlines()
    separator = find_separator(lines, "file.csv")
    cells = [split_line(line, separator) for line in lines]
    head = [HeadRow(n, c, is_quoted(line, len(c))) for n, (c, line) in enumerate(zip(cells, lines, strict=True), 1)]
    return has_header(head, KINDS[kind], "file.csv")


@pytest.mark.parametrize(("kind", "text", "answer"), RULE)
def test_header_rule(kind, text, answer):
    if answer == EITHER:
        with pytest.raises(
            ValueError, match=r"^file\.csv, line 1 is .*: a header.*, or the first (draw|item|edge); \w+"
        ):
            decide(kind, text)
    else:
        assert decide(kind, text) is answer


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_headers_data_and_doubts(kind):
    answers = {answer for other, _, answer in RULE if other == kind}
    assert answers == {True, False, EITHER}


SEPARATED = [
    ("1,2\n3,4", ","),
    ("1;2\n3;4", ";"),
    ("1\t2\n3\t4", "\t"),
    ("x;y\n1,5;2,5\n3,5;4,5", ";"),
    ("1,5;2,5\n3,5;4,5", ";"),
    ("1,5\t2,5\n3,5\t4,5", "\t"),
    ("1 2\n3 4", " "),
    ("  1   2\n 13  4", " "),
    ('"V1" "V2"\n"1" 1 2\n"2" 2 2', " "),
    ('"ann" "bob"\n"a" "b"', " "),
    ("New York\nParis", ","),
    ("species\nsetosa", ","),
]


@pytest.mark.parametrize(("text", "separator"), SEPARATED)
def test_separator(text, separator):
    assert find_separator(text.split("\n"), "file.csv") == separator


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;b,c\nd;e,f", "could be separated by commas or semicolons; put cells that contain a separator in quotes"),
        ("ann bob\nbob bob", "lines are 2 words each, which could be 2 cells or one"),
    ],
)
def test_separators_are_not_guessed(text, message):
    with pytest.raises(ValueError, match=message):
        find_separator(text.split("\n"), "file.csv")


def test_head_may_be_overruled():
    lines = ["0,1,2", "0,0,1"]
    assert find_layout(lines, [1, 2], True, None, "draws.csv").header == ["0", "1", "2"]
    assert find_layout(lines, [1, 2], False, None, "draws.csv").header is None
