"""The notebooks of examples/notebooks run top to bottom, and are stored without output."""

import importlib.util
import json
from pathlib import Path

import pytest
from sessions import Session, find_blocks

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))
#: Software that a notebook needs and the environment of the tests may not have.
NEEDS = {"numpyro_draws": "numpyro"}


def cells(path: Path) -> list[dict]:
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["karate", "numpyro_draws", "penguins"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stripped(path):
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells(path))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_code_compiles(path):
    for cell in cells(path):
        compile("".join(cell["source"]), path.name, "exec")


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path, tmp_path):
    """As the documentation's pages do: in an empty folder; short chains of other software may warn."""
    needed = NEEDS.get(path.stem)
    if needed and importlib.util.find_spec(needed) is None:
        pytest.skip(f"needs {needed}")
    session = Session(path.name, tmp_path)
    for cell in cells(path):
        code = "".join(cell["source"])
        mark = " warns" if needed and "pt.estimate(" in code else ""
        session.run(find_blocks(f"```python{mark}\n{code}\n```\n")[0])
    assert list(tmp_path.glob("*.html"))
