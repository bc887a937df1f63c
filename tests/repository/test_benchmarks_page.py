"""The benchmarks page: what it says of a CSV is in the CSV."""

import json

import pytest
from benchmarks import page, record


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    monkeypatch.setattr(record, "RESULTS", tmp_path)
    return tmp_path


def test_a_written_result_is_read_back(results):
    rows = [{"data": "a|b", "n": 100, "ratio": 2.0}, {"data": "c", "n": 200, "ratio": 8.0}]
    result = page.read_result(record.write_result("speed", rows, note="CPU: seconds"))
    assert result.about["note"] == "CPU: seconds"
    assert result.about["machine"] == record.machine()
    assert (result.keys, result.ratios, len(result.rows)) == (["data"], ["ratio"], 2)


def test_the_page_has_mean_figure_and_table(results, tmp_path):
    rows = [
        {"data": "a|b", "n": 100, "ratio": 2.0},
        {"data": "c", "n": 200, "ratio": 8.0},
        {"data": "d", "n": 1, "ratio": "nan"},
    ]
    record.write_result("speed", rows)
    text = page.write_page(tmp_path / "out", tmp_path / "out", "figures").read_text(encoding="utf-8")
    assert "geometric mean 4 over 2 rows, least 2, greatest 8." in text
    assert "| data | ratio | n |" in text
    assert "| a\\|b | 2 | 100 |" in text
    assert "| d |  | 1 |" in text
    assert (tmp_path / "out" / "speed-ratio.svg").stat().st_size > 0


def test_a_sidecar_tells_what_the_table_does_not(results):
    (results / "old.csv").write_text("name,seconds\nx,1.5\n", encoding="utf-8")
    (results / "old.json").write_text(json.dumps({"date": "2026-01-01", "machine": "m"}), encoding="utf-8")
    result = page.read_result(results / "old.csv")
    assert result.about == {"date": "2026-01-01", "machine": "m"}
    assert result.ratios == []


def test_no_results_give_a_sentence(results, tmp_path):
    (results / "begun.csv").write_text("", encoding="utf-8")
    text = page.write_page(tmp_path / "out", tmp_path / "out", "figures").read_text(encoding="utf-8")
    assert text == "No results are stored.\n"
