"""Errors about arguments are data: what they are about can be asked, and the command words it as its options."""

import pickle

import pytest

import partita as pt
from partita._support.errors import Advice, Argument, ArgumentError, Sentence, Setting, sentence_of
from partita.cli.errors import as_option


def test_an_error_says_what_it_is_about():
    with pytest.raises(ArgumentError, match=r"^weights\[1\] is -1\.0: ") as caught:
        pt.as_sample([[0, 1], [0, 0]], weights=[1, -1])
    assert (caught.value.argument, caught.value.place, caught.value.value) == ("weights", 1, -1.0)
    with pytest.raises(ArgumentError) as caught:
        pt.as_sample([[0, -1]])
    assert caught.value.argument is None
    assert Setting("missing", -1) in caught.value.remedies


def test_parts_survive_composition_and_pickling():
    inner = ArgumentError("it has several arrays; name one with ", Setting("variable"), ": a, b")
    outer = pickle.loads(pickle.dumps(ArgumentError("x.npz: ", sentence_of(inner))))  # as workers send it
    assert str(outer) == "x.npz: it has several arrays; name one with variable=: a, b"
    assert outer.args[0].parts[-2] == Setting("variable")
    assert sentence_of(KeyError("k")) == "'k'"
    assert sentence_of(ValueError()) == "ValueError"


def test_the_command_words_settings_as_options():
    said = Sentence(Argument("graph"), " is undirected; ", Advice("directed", False), ", or ", Setting("edges", "real"))
    assert said == "graph is undirected; pass directed=False, or edges='real'"
    assert said.worded(as_option) == "the network is undirected; give --undirected, or --weights real"
    assert as_option(Setting("missing", "?")) == "--missing '?'"
