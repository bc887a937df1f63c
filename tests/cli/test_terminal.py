"""What a terminal would obey is shown as escapes, in tables, sentences and errors."""

import warnings

import pytest
from typer.testing import CliRunner

from partita.cli import app
from partita.cli.errors import reported
from partita.cli.terminal import printable
from support import forks
from support.commands import one_sentence

HOSTILE = "red\x1b[31m"


@pytest.mark.parametrize("character", ["\x1b", "\x07", "\r", "\n", "\x9b", "\u202e", "\udc80", "\x00", "\x7f"])
def test_controls_are_escaped(character):
    shown = printable(f"a{character}b")
    assert shown.isascii()
    assert shown.startswith("a\\")
    assert shown.endswith("b")


@pytest.mark.parametrize("text", ["é", "日本語", "x y", "100 %", "a\u200db", "\\x1b"])
def test_other_text_is_as_it_was(text):
    assert printable(text) == text


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_output_in_any_encoding(tmp_path, encoding):
    """As in a pipe on Windows: a minus sign that the encoding lacks is a hyphen, and a name is shown as escapes."""
    path = tmp_path / "edges.csv"
    path.write_text("source,target\nα,b\nb,c\nc,α\nd,e\ne,f\nf,d\n", encoding="utf-8")
    code = f"import sys\nsys.stdout.reconfigure(encoding={encoding!r}, errors='strict')\n" + forks.COMMAND
    done = forks.run(code, "blockmodel", path, "--undirected", "--seed", 1)
    assert done.returncode == 0, done.stderr
    if encoding != "utf-8":
        assert "\\u03b1" in done.stdout
        assert "found, -10.02" in done.stdout


@pytest.fixture
def draws(tmp_path):
    path = tmp_path / "draws.csv"
    path.write_text(f"{HOSTILE}0,{HOSTILE}1,{HOSTILE}2\n0,0,1\n0,1,1\n0,0,1\n")
    return path


@pytest.mark.parametrize("words", [["estimate"], ["ball"], ["estimate", "--json"], ["compare", "DRAWS"]])
def test_names_in_results(draws, words):
    command, *rest = words
    result = CliRunner().invoke(app, [command, str(draws), *(str(draws) if word == "DRAWS" else word for word in rest)])
    assert "\x1b" not in result.output
    if words == ["estimate"]:
        assert "red\\x1b[31m" in result.stdout


def test_names_in_errors(tmp_path):
    path = tmp_path / "draws.csv"
    path.write_text(f"a,b\n0,{HOSTILE}\n1,0.5\n")
    result = CliRunner().invoke(app, ["estimate", str(path)])
    assert result.exit_code == 2
    assert "\x1b" not in one_sentence(result.stderr)


def test_names_of_nodes(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text(f"source,target\n{HOSTILE},b\nb,c\nc,{HOSTILE}\n")
    result = CliRunner().invoke(app, ["blockmodel", str(path), "--restarts", "1"])
    assert result.exit_code == 0, result.stderr
    assert "\x1b" not in result.output


def test_warnings_for_developers_are_not_notes(capsys):
    """Such as those of an old Matplotlib with a new pyparsing, and of netCDF4 with an old NumPy."""

    class Renamed(UserWarning, DeprecationWarning):
        pass

    with reported():
        warnings.warn("'parseString' deprecated", Renamed, stacklevel=1)
        warnings.warn("numpy.ndarray size changed, may indicate ...", RuntimeWarning, stacklevel=1)
        warnings.warn("overflow encountered", RuntimeWarning, stacklevel=1)
    assert capsys.readouterr().err == "partita: note: overflow encountered\n"
