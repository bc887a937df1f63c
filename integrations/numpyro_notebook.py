"""Runs the notebook examples/notebooks/numpyro_draws.ipynb, which needs NumPyro, top to bottom."""

import json
from pathlib import Path

NOTEBOOK = Path(__file__).resolve().parents[1] / "examples" / "notebooks" / "numpyro_draws.ipynb"

names: dict = {}
for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
    if cell["cell_type"] == "code":
        exec(compile("".join(cell["source"]), NOTEBOOK.name, "exec"), names)
assert names["best"].n_clusters >= 1
assert Path("galaxies.html").exists()
