"""The golden results of `golden.py` are still the same: one of each family, and all of them in the slow tests."""

import pytest

import partita as pt
from support.golden import CASES, QUICK, compare, golden_cases, made_elsewhere, record_of, run

GOLDEN = golden_cases()


def marked(name):
    return pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow)


@pytest.mark.skipif(bool(made_elsewhere()), reason=made_elsewhere())
@pytest.mark.parametrize("name", [marked(name) for name in CASES])
def test_result_is_the_golden_one(name):
    try:
        now = run(name)
    except ImportError as missing:
        pytest.skip(str(missing))
    assert compare(GOLDEN[name], now) == []


def test_every_golden_result_is_a_case():
    assert list(GOLDEN) == list(CASES)


def test_every_method_and_loss_has_a_case():
    tried = {name.split("/")[0] for name in CASES}
    assert tried >= set(pt.search.METHODS)
    assert GOLDEN["partition_loss/few"]["results"].keys() >= set(pt.losses.LOSSES)


def test_a_fault_in_a_loss_is_noticed(monkeypatch):
    right = run("partition_loss/few")
    monkeypatch.setitem(pt.losses.LOSSES, "vi", lambda: pt.VI(1, 1 + 1e-6))
    found = compare(right, run("partition_loss/few"))
    assert [line.split(":")[0] for line in found] == ["vi"]


def case_of(value, steps=10, warned=()):
    return {"results": {"value": record_of(value)}, "steps": steps, "warned": list(warned)}


@pytest.mark.parametrize("value", [1.0, [0.5, float("nan")], [1.0, 2.0, 3.0, 4.0], {"a": [1.0] * 9, "b": 2}])
def test_rounding_is_forgiven_unless_exactness_is_asked_for(value):
    def moved(factor):
        if isinstance(value, dict):
            return value | {"a": [factor * each for each in value["a"]]}
        return [factor * each for each in value] if isinstance(value, list) else factor * value

    then = case_of(value)
    assert compare(then, case_of(value), exact=True) == []
    assert compare(then, case_of(moved(1 + 1e-12))) == []
    assert compare(then, case_of(moved(1 + 1e-12)), exact=True) != []
    assert compare(then, case_of(moved(1 + 1e-6))) != []


def test_labels_steps_warnings_and_missing_results_must_be_the_same():
    then = case_of([0, 1, 1])
    assert compare(then, case_of([0, 1, 0])) != []
    assert compare(then, case_of([0, 1, 1], steps=11)) == ["steps: 10 -> 11"]
    assert compare(then, case_of([0, 1, 1], warned=["UserWarning"])) == ["warned: [] -> ['UserWarning']"]
    assert compare(then, then | {"results": {}}) != []
    assert compare(then | {"results": {}}, then) != []
