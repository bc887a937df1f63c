"""The weights of a loss in the R front end, with R itself and none of its packages."""

import shutil
import subprocess
from pathlib import Path

import pytest

LOSSES = Path(__file__).parents[2] / "r" / "R" / "losses.R"


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="needs R")
@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("VI()", "VI(a = 1, b = 1)"),
        ("VI(a = 1)", "VI(a = 1, b = 1)"),
        ("binder(a = 0.5, b = 1.5)", "binder(a = 0.5, b = 1.5)"),
        ("VI(a = 0.5)", "VI(a = 0.5) needs both weights: salso sets b to 2 - a"),
        ("binder(a = 0.7)", "binder(a = 0.7) needs both weights"),
    ],
)
def test_one_weight_alone_is_refused(call, said):
    done = subprocess.run(
        ["Rscript", "-e", f'source("{LOSSES}"); print({call})'], capture_output=True, text=True, check=False
    )
    assert said in " ".join((done.stdout + done.stderr).split())
