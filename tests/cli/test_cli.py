"""The partita command through real processes: pipes, JSON, exit codes, signals, and nothing half-written."""

import json
import os
import re
import resource
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import partita as pt
from partita.uncertainty.ball import credible_ball
from support import forks
from support.commands import COMMANDS, GROUPS, one_sentence

PARTITA = [sys.executable, "-m", "partita"]


def partita(*arguments, before="", stdin=None, timeout=120, **options):
    """The command in a process of its own, after the code `before`."""
    return forks.run(before + forks.COMMAND, *arguments, stdin=stdin, timeout=timeout, **options)


def succeeds(*arguments, **options):
    result = partita(*arguments, **options)
    assert result.returncode == 0, result.stderr
    return result.stdout


def fails(*arguments, **options):
    """The one sentence of a command that ends with code 2."""
    result = partita(*arguments, **options)
    assert result.returncode == 2, result
    return one_sentence(result.stderr)


def test_estimate_json_equals_the_library(draws_file, draws):
    found = json.loads(succeeds("estimate", draws_file, "--json", "--seed", 1, "--loss", "vi", "--a", 0.8))
    expected = pt.estimate(draws, pt.VI(a=0.8), rng=1)
    assert found["labels"] == expected.labels.tolist()
    assert found["expected_loss"] == expected.expected_loss
    assert found["n_clusters"] == expected.n_clusters
    assert found["loss"] == "vi"
    assert found["loss_weights"] == {"a": 0.8, "b": 1.0}


def test_estimate_prints_a_sentence_and_a_table(draws_file):
    text = succeeds("estimate", draws_file, "--seed", 1)
    assert text.startswith("The 30 items fall into")
    assert re.search(r"cluster\s+items\s+share\s+certainty\s+stability\s+exact\s+exemplar", text)


def test_standard_input_and_burn_and_thin(draws_file, draws):
    piped = succeeds("estimate", "-", "--json", "--seed", 1, "--burn", 100, "--thin", 2, stdin=draws_file.read_text())
    assert json.loads(piped)["labels"] == pt.estimate(draws[100::2], rng=1).labels.tolist()
    assert json.loads(piped)["n_draws"] == 100


def test_some_draws_and_what_the_others_say(draws_file, draws):
    facts = json.loads(succeeds("estimate", draws_file, "--json", "--seed", 1, "--max-draws", 50))
    error = pt.estimate(draws, search=pt.Search(max_draws=50), rng=1).held_out
    assert facts["held_out"]["loss"] == pytest.approx(error.loss)
    assert facts["held_out"]["standard_error"] == pytest.approx(error.standard_error)


def test_parts_of_a_file(tmp_path, draws):
    for number, rows in enumerate(np.array_split(draws, 3)):
        pt.write_draws(tmp_path / f"part-{number}.csv", rows)
    facts = json.loads(succeeds("estimate", tmp_path / "part-*.csv", "--json", "--seed", 1))
    assert facts["labels"] == pt.estimate(draws, rng=1).labels.tolist()


def test_workers_of_this_machine_give_the_same(draws_file, draws):
    pytest.importorskip("distributed")
    facts = json.loads(succeeds("estimate", draws_file, "--json", "--seed", 1, "--workers", 2))
    assert facts["labels"] == pt.estimate(draws, rng=1).labels.tolist()
    facts = json.loads(succeeds("estimate", draws_file, "--json", "--seed", 1, "--workers", 2, "--shards", 3))
    assert facts["expected_loss"] <= pt.expected_loss(draws[:100], draws).min()


@pytest.mark.slow
def test_no_scheduler_is_said_within_half_a_minute(draws_file):
    pytest.importorskip("distributed")
    begun = time.monotonic()
    assert "there is no Dask scheduler at tcp://127.0.0.1:9" in fails(
        "estimate", draws_file, "--dask", "tcp://127.0.0.1:9"
    )
    assert time.monotonic() - begun < 30 + 30  # and what it takes to start on a busy machine


def test_several_files_are_chains(tmp_path, draws):
    for chain, part in enumerate(np.split(draws, 2)):
        np.save(tmp_path / f"{chain}.npy", part)
    succeeds("convert", "0.npy", "1.npy", "--burn", 50, "--out", "all.npz", cwd=tmp_path)
    sample = pt.read_draws(tmp_path / "all.npz")
    assert sample.n_chains == 2
    assert sample.n_draws == 200
    assert "exists already" in fails("convert", "0.npy", "--out", "all.npz", cwd=tmp_path)


def test_gaps_are_read_with_missing(tmp_path):
    (tmp_path / "gaps.csv").write_text("1,1,2\n1,NA,2\n1,1,2\n")
    assert "gaps.csv" in fails("estimate", tmp_path / "gaps.csv")
    assert json.loads(succeeds("estimate", tmp_path / "gaps.csv", "--missing", "NA", "--json"))["labels"] == [0, 0, 1]


def test_max_clusters_may_be_infinite_or_a_number(draws_file):
    one = json.loads(succeeds("estimate", draws_file, "--json", "--max-clusters", 1))
    assert one["n_clusters"] == 1
    many = json.loads(succeeds("estimate", draws_file, "--json", "--max-clusters", "inf", "--loss", "binder"))
    assert many["n_clusters"] > 1
    assert "whole number" in fails("estimate", draws_file, "--max-clusters", 1.5)


def test_out_writes_every_file_and_they_agree(draws_file, draws, tmp_path):
    out = tmp_path / "results"
    succeeds("estimate", draws_file, "--seed", 1, "--level", 0.9, "--out", out)
    assert sorted(p.name for p in out.iterdir()) == [
        "ball.csv",
        "clusters.csv",
        "labels.csv",
        "report.html",
        "runs.csv",
        "summary.json",
    ]
    best = pt.estimate(draws, rng=1)
    ball = credible_ball(best, level=0.9)
    summary = json.loads((out / "summary.json").read_text())
    assert summary["labels"] == best.labels.tolist()
    assert summary["ball"]["radius"] == ball.radius
    assert summary["command"].startswith("partita estimate")
    labels = np.loadtxt(out / "labels.csv", delimiter=",", skiprows=1)
    assert labels[:, 1].tolist() == (best.labels + 1).tolist()  # files count from 1
    bounds = np.loadtxt(out / "ball.csv", delimiter=",", skiprows=1, dtype=int)
    assert bounds[:, 2].tolist() == (ball.upper[0] + 1).tolist()
    assert len((out / "runs.csv").read_text().splitlines()) == len(best.runs) + 1
    assert [p.name for p in tmp_path.iterdir()] == ["results"]


def test_existing_results_are_replaced_only_with_force(draws_file, tmp_path):
    out = tmp_path / "results"
    out.mkdir()
    (out / "labels.csv").write_text("old")
    assert "--force" in fails("estimate", draws_file, "--out", out)
    assert (out / "labels.csv").read_text() == "old"
    succeeds("estimate", draws_file, "--out", out, "--force")
    assert (out / "labels.csv").read_text() != "old"
    (out / "thesis.txt").write_text("mine")
    assert "thesis.txt" in fails("estimate", draws_file, "--out", out, "--force")
    assert (out / "thesis.txt").read_text() == "mine"


def test_a_failing_run_leaves_nothing(tmp_path):
    (tmp_path / "bad.csv").write_text("1,2\n1,-3\n")
    fails("estimate", tmp_path / "bad.csv", "--out", tmp_path / "results")
    assert [p.name for p in tmp_path.iterdir()] == ["bad.csv"]


#: Writing past the limit fails as on a full disk.
LIMIT_FILE_SIZE = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
"""


def test_a_full_disk_leaves_nothing(draws_file, tmp_path):
    sentence = fails("estimate", draws_file, "--out", tmp_path / "results", before=LIMIT_FILE_SIZE)
    assert "too large" in sentence.lower()
    assert list(tmp_path.iterdir()) == []
    fails("report", draws_file, "--out", tmp_path / "report.html", before=LIMIT_FILE_SIZE)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_or_not_writable(draws_file, tmp_path):
    sentence = fails("estimate", draws_file, "--out", tmp_path / "nowhere" / "results")
    assert "nowhere: there is no such folder to write to" in sentence
    assert "/proc" in fails("estimate", draws_file, "--out", "/proc/results")
    (tmp_path / "file").write_text("")
    assert "not a folder" in fails("estimate", draws_file, "--out", tmp_path / "file")


@pytest.mark.parametrize(
    ("content", "words"),
    [("", "empty|no draws"), ("1,1,2\n1,2\n", "line 2"), ("1,1\n1,-7\n", "line 2.*-7"), ("1,1\n1,\n", "line 2")],
)
def test_bad_draws_are_named_by_file_line_and_value(tmp_path, content, words):
    (tmp_path / "bad.csv").write_text(content)
    sentence = fails("estimate", tmp_path / "bad.csv")
    assert "bad.csv" in sentence
    assert re.search(words, sentence)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--loss", "vy"], "unknown loss 'vy'"),
        (["--loss", "nvi", "--a", "2"], "--a is for the losses binder and vi"),
        (["--a", "-1"], "a must be a positive number"),
        (["--runs", "0"], "runs must be at least 1"),
        (["--method", "magic"], "magic"),
        (["--burn", "1000"], "--burn 1000 leaves none"),
        (["--data", "nowhere.csv", "--out", "results"], "nowhere.csv"),
        (["--level", "2"], "level must be above 0 and at most 1, but it is 2.0"),
        (["--max-draws", "0"], "--max-draws must be at least 1"),
        (["--shards", "2"], "--shards needs workers"),
        (["--workers", "2", "--dask", "tcp://127.0.0.1:9"], "--dask already has workers"),
        (["--dask", "nowhere://else"], "there is no Dask scheduler at nowhere://else"),
    ],
)
def test_bad_options_are_named(draws_file, arguments, words):
    assert words in fails("estimate", draws_file, *arguments)


def test_missing_file():
    assert fails("estimate", "nowhere.csv") == "partita: nowhere.csv: No such file or directory"


def slow_draws(path):
    """Draws on which a thousand runs take far longer than the test waits."""
    rng = np.random.default_rng(0)
    np.save(path, rng.integers(0, 30, size=(400, 2000)))


def heed_ctrl_c():
    """A shell starts what it puts into the background deaf to Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def seconds_used(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupted(tmp_path, *arguments):
    slow_draws(tmp_path / "slow.npy")
    command = [*PARTITA, *map(str, arguments)]
    process = forks.start(*command, cwd=tmp_path, preexec_fn=heed_ctrl_c)
    while process.poll() is None and seconds_used(process.pid) < 4:  # past its start, however busy the machine is
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def test_ctrl_c_reports_the_best_so_far(tmp_path):
    code, out, err = interrupted(tmp_path, "estimate", "slow.npy", "--runs", 100_000, "--json", "--method", "salso")
    assert code == 130, err
    found = json.loads(out)
    assert found["interrupted"]
    draws = np.load(tmp_path / "slow.npy")
    assert pt.expected_loss(found["labels"], draws) == pytest.approx(found["expected_loss"])
    assert "Traceback" not in err


def test_termination_leaves_nothing(tmp_path):
    slow_draws(tmp_path / "slow.npy")
    command = [*PARTITA, "estimate", "slow.npy", "--runs", "100000", "--out", "results", "--method", "salso"]
    process = forks.start(*command, cwd=tmp_path)
    while process.poll() is None and len(list(tmp_path.iterdir())) < 2:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode in (130, 143, -signal.SIGTERM)
    assert [p.name for p in tmp_path.iterdir()] == ["slow.npy"]


def test_a_reader_that_goes_away_is_no_error(draws_file):
    piped = '"$0" -m partita similarity "$1" | head -n 1'
    result = forks.command("bash", "-c", piped, sys.executable, draws_file)
    assert result.stdout.startswith("item,")
    assert result.stderr == ""


def test_ball_of_given_labels(draws_file, draws, tmp_path):
    labels = pt.estimate(draws, rng=1).labels
    (tmp_path / "labels.csv").write_text("item,cluster\n" + "".join(f"x{i},c{k}\n" for i, k in enumerate(labels)))
    found = json.loads(succeeds("ball", draws_file, "--labels", tmp_path / "labels.csv", "--json", "--level", 0.8))
    ball = credible_ball(labels, draws, level=0.8)
    assert found["radius"] == ball.radius
    assert found["lower"] == [partition.tolist() for partition in ball.lower]
    text = succeeds("ball", draws_file, "--seed", 1)
    assert "95% of the posterior lies within" in text
    assert "bounds of its credible ball" in text


def test_a_loss_that_is_no_metric_gives_a_note(draws_file):
    result = partita("ball", draws_file, "--loss", "omari", "--seed", 1)
    assert result.returncode == 0
    assert result.stderr.startswith("partita: note: ")
    assert len(result.stderr.strip().splitlines()) == 1


def test_similarity_as_text_array_and_figure(draws_file, draws, tmp_path):
    expected = pt.similarity(draws)
    lines = succeeds("similarity", draws_file).splitlines()
    printed = np.array([[float(cell) for cell in line.split(",")[1:]] for line in lines[1:]])
    assert np.allclose(printed, expected, atol=1e-6)
    assert succeeds("similarity", draws_file, "--out", tmp_path / "psm.npy", "--figure", tmp_path / "psm.png") == ""
    assert np.array_equal(np.load(tmp_path / "psm.npy"), expected)
    assert (tmp_path / "psm.png").read_bytes().startswith(b"\x89PNG")


def test_compare_under_every_loss(draws_file, draws, tmp_path):
    (tmp_path / "people.csv").write_text("name,group,species\n" + "".join(f"{i},{i % 2},{i % 3}\n" for i in range(30)))
    truth, other = tmp_path / "people.csv:group", tmp_path / "people.csv:species"
    found = json.loads(succeeds("compare", truth, other, "--draws", draws_file, "--json"))
    measures = found["against_truth"][str(other)]
    assert measures == pt.compare_partitions(np.arange(30) % 2, np.arange(30) % 3)
    assert found["expected_losses"][str(other)]["vi"] == pytest.approx(pt.expected_loss(np.arange(30) % 3, draws, "vi"))
    table = succeeds("compare", truth, other)
    assert re.search(r"vi\s+2\.", table)
    assert "no column 'age'" in fails("compare", tmp_path / "people.csv:age", other)
    assert "none is named cluster or label" in fails("compare", tmp_path / "people.csv", other)


def test_report_in_one_command(draws_file, tmp_path):
    (tmp_path / "data.csv").write_text("x,y\n" + "".join(f"{i},{i * i}\n" for i in range(30)))
    text = succeeds("report", draws_file, "--data", tmp_path / "data.csv", "--out", tmp_path / "report.html")
    assert text.strip().endswith(str(tmp_path / "report.html"))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '"axes":["x","y"]' in page
    succeeds("report", tmp_path / "report.html", "--out", tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == page
    assert "--loss is for draws" in fails("report", tmp_path / "report.html", "--loss", "vi")
    assert "exists already" in fails("report", draws_file, "--out", tmp_path / "report.html")
    assert succeeds("report", draws_file, "--out", tmp_path / "report.html", "--force", "--quiet") == ""
    (tmp_path / "data.csv").write_text("x,y\n1,2\n3,oops\n")
    sentence = fails("report", draws_file, "--data", tmp_path / "data.csv", "--out", tmp_path / "other.html")
    assert "line 3, y: 'oops' is not a number" in sentence


def test_demo_goes_from_data_to_a_report(tmp_path):
    text = succeeds("demo", "--draws", 200, cwd=tmp_path)
    report = tmp_path / "demo" / "report.html"
    assert text.strip().endswith(str(report))
    assert 50_000 < report.stat().st_size < 1_500_000
    assert {p.suffix for p in report.parent.iterdir()} == {".html", ".csv", ".json", ".png", ".npy"}
    assert succeeds("demo", "--draws", 50, "--quiet", cwd=tmp_path) == ""


@pytest.mark.parametrize("command", [*COMMANDS, *GROUPS])
def test_help_has_an_example(command):
    text = " ".join(succeeds(*command.split(), "--help").split())
    assert f"Example: partita {command} " in text


def test_version_and_names():
    assert succeeds("--version") == f"partita {pt.__version__}\n"
    text = succeeds("--help")
    assert all(command.split()[0] in text for command in COMMANDS)
    assert partita("magic").returncode == 2


def test_completion_script():
    environment = os.environ | {"_PARTITA_COMPLETE": "source_bash"}
    result = forks.command(*PARTITA, env=environment)
    assert "complete" in result.stdout


def test_help_starts_without_heavy_imports():
    code = "import sys; from partita.cli import app; print({'numpy', 'scipy', 'matplotlib', 'jinja2'} & {*sys.modules})"
    assert forks.command(sys.executable, "-c", code).stdout.strip() == "set()"


@pytest.mark.slow
def test_a_hundred_thousand_items(tmp_path):
    """Nothing n by n is made: a matrix over all pairs would take 40 GB."""
    draws = pt.datasets.make_draws(100_000, 200, n_clusters=30, rng=1).astype(np.uint8)
    np.save(tmp_path / "draws.npy", draws)
    succeeds("estimate", "draws.npy", "--runs", 2, "--seed", 1, "--out", "results", cwd=tmp_path, timeout=600)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert peak < 2_000_000  # kilobytes
    assert "too many items to show every pair" in (tmp_path / "results" / "report.html").read_text()
