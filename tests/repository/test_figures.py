"""Measured figures name their commit, their command and the code they depend on; those that are old are listed."""

import re
import subprocess
from pathlib import Path

import figures as tool
import pytest

ROOT = Path(__file__).parents[2]


def test_every_section_with_figures_says_how_they_were_measured():
    assert tool.unmarked(ROOT) == []


@pytest.mark.parametrize("figure", tool.figures(ROOT), ids=lambda figure: figure.place)
def test_commands_are_there(figure):
    if figure.command.startswith(tool.NOT_RERUN):
        return
    assert figure.paths
    for module in re.findall(r"python -m benchmarks\.(\w+)", figure.command):
        assert any((ROOT / "benchmarks" / name).exists() for name in (f"{module}.py", f"{module}/__main__.py"))


def test_what_is_older_than_its_code_is_listed(tmp_path, capsys):
    def git(*arguments):
        own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", *own, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init", "-q")
    (tmp_path / "docs").mkdir()
    for name in ("fast.py", "slow.py"):
        (tmp_path / name).write_text("1", encoding="utf-8")
    git("add", ".")
    git("commit", "-qm", "first")
    first = git("rev-parse", "HEAD")
    (tmp_path / "slow.py").write_text("2", encoding="utf-8")
    git("commit", "-qam", "second")
    marks = ["run; fast.py", "run again; slow.py", "run; gone.py", "not rerun: no R here"]
    sections = [f"# {at}\n3 CPU seconds\n\n<!-- measured: {first}; {mark} -->\n" for at, mark in enumerate(marks)]
    (tmp_path / "README.md").write_text("\n".join([*sections, "# bare\n4 CPU seconds\n"]), encoding="utf-8")
    assert tool.main(tmp_path) == 1
    lines = [line.split(maxsplit=1)[1] for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        f"1 files changed since {first}: run again",
        f"gone.py did not exist at {first}",
        f"measured at {first}, not rerun: no R here",
        "has measured figures, and no comment says how they were measured",
        "of 4 figures are of the head.",
    ]
