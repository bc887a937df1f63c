"""Docstrings of public names agree with the code, by numpydoc: arguments are documented, and only those that exist."""

import inspect
import re
from importlib import import_module
from operator import attrgetter

import pytest
from numpydoc.docscrape import NumpyDocString, get_doc_object
from numpydoc.validate import Validator

import partita
from partita.models.estimator import Estimator

MODULES = ("models", "ensembles", "plots", "datasets", "distributed")
NAMES = sorted(
    {f"partita.{name}" for name in partita._MODULE_OF}
    | {f"partita.{m}.{name}" for m in MODULES for name in getattr(import_module(f"partita.{m}"), "__all__", ())}
)
#: Words of a docstring that takes its arguments from another one.
BY_REFERENCE = "those of `"


@pytest.mark.parametrize("name", NAMES)
def test_the_docstring_agrees_with_the_code(name):
    found = _validator(name)
    assert found.summary, f"{name} has no summary"
    documented = {parameter.lstrip("*") for parameter in found.doc_all_parameters}
    signature = {parameter.lstrip("*") for parameter in found.signature_parameters}
    subject = found.code_obj
    if inspect.isclass(subject) and issubclass(subject, Estimator):
        signature |= {setting for group in subject.groups.values() for setting in group.settings()}
    unknown = documented - signature
    assert not unknown, f"{name} documents {sorted(unknown)}, which it does not take"
    if inspect.isfunction(subject) and BY_REFERENCE not in found.raw_doc:
        missing = signature - documented
        assert not missing, f"{name} takes {sorted(missing)}, which it does not document"


@pytest.mark.parametrize("name", NAMES)
def test_every_argument_is_explained(name):
    subject = attrgetter(name.removeprefix("partita."))(partita)
    methods = inspect.getmembers(subject, inspect.isfunction) if inspect.isclass(subject) else ()
    own = [method for method_name, method in methods if not method_name.startswith("_")]
    for documented in (subject, *own):
        if documented.__doc__ and documented.__module__.startswith("partita"):
            found = NumpyDocString(inspect.getdoc(documented))["Parameters"]
            bare = [entry.name for entry in found if not "".join(entry.desc).strip()]
            assert not bare, f"{documented.__qualname__} does not explain {bare}: a line below `name : type` does"


@pytest.mark.parametrize("name", NAMES)
def test_the_summary_is_not_cut_in_the_table_of_the_reference(name):
    """Sphinx ends a summary at the first full stop before a space, that of an abbreviation too."""
    first = (attrgetter(name.removeprefix("partita."))(partita).__doc__ or "").split("\n\n")[0]
    assert not re.search(r"\b(eq|e\.g|i\.e|resp|cf|Sec|Fig)\. ", first), name


def _validator(name):
    subject = attrgetter(name.removeprefix("partita."))(partita)  # numpydoc would import modules of the same name
    return Validator(get_doc_object(inspect.unwrap(subject) if inspect.isfunction(subject) else subject))


def test_an_argument_that_does_not_exist_is_noticed(monkeypatch):
    monkeypatch.setattr(partita.partitions.lattice.bell, "__doc__", "Bell.\n\nParameters\n----------\nm : int\n")
    with pytest.raises(AssertionError, match=r"documents \['m'\]"):
        test_the_docstring_agrees_with_the_code("partita.bell")


def test_an_argument_without_an_explanation_is_noticed(monkeypatch):
    monkeypatch.setattr(partita.partitions.lattice.bell, "__doc__", "Bell.\n\nParameters\n----------\nn : int\n")
    with pytest.raises(AssertionError, match=r"bell does not explain \['n'\]"):
        test_every_argument_is_explained("partita.bell")
