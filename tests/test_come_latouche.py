"""The quick variant of reproduce/come_latouche.py."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "reproduce" / "come_latouche.py"


@pytest.fixture
def script(monkeypatch):
    spec = importlib.util.spec_from_file_location("come_latouche", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "QUICK_BETAS", (0.45, 0.09))
    for name, value in {"K_UP": 6, "RESTARTS": 1, "SWEEPS": 50}.items():
        monkeypatch.setattr(module, name, value)
    return module


def test_quick_table(script, tmp_path):
    table = script.main(["--quick", "--out", str(tmp_path)])
    assert [(row["setting"], row["beta"]) for row in table] == [
        ("1", "0.45"),
        ("1", "0.09"),
        ("2", "0.45"),
        ("2", "0.09"),
    ]
    for row in table:
        assert row["graphs"] == 2
        if row["beta"] == "0.45":  # the planted clusters are found
            assert row["exact ICL"] > 0.99
        else:
            assert row["exact ICL"] < 0.9
    assert (tmp_path / "come_latouche-quick.md").read_text(encoding="utf-8").count("\n") == 6
    before = (tmp_path / "come_latouche-quick.csv").read_bytes()
    assert script.main(["--quick", "--out", str(tmp_path)]) == table  # nothing is run twice
    assert (tmp_path / "come_latouche-quick.csv").read_bytes() == before
