"""Runs each integration in a virtual environment of its own: `python integrations/run.py WHEEL [NAME ...]`."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).parent
BUILD = HERE.parent / "build" / "integrations"
#: The script of each integration, and what it needs besides partita.
INTEGRATIONS = {
    "pymc": ("pymc_mixture.py", ["pymc"], "arviz,report"),
    "numpyro": ("numpyro_mixture.py", ["numpyro"], "report"),
    "numpyro-notebook": ("numpyro_notebook.py", ["numpyro", "arviz<1"], "arviz,report,plot"),
    "cmdstan": ("cmdstan_files.py", [], "report"),
    "arviz-0": ("arviz_data.py", ["arviz<1"], "arviz,report"),
    "arviz-1": ("arviz_data.py", ["arviz>=1"], "arviz,report"),
    "jags": ("jags_draws.py", ["pandas"], "report,r"),
}
#: The oldest Python of an integration that does not run on all of ours.
OLDEST_PYTHON = {"arviz-1": (3, 12)}


def run(name: str, wheel: Path) -> bool:
    """Whether the software can be installed and its script succeeds."""
    script, needed, extras = INTEGRATIONS[name]
    folder = BUILD / name
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(folder / "venv", with_pip=True)
    requirements = [f"{wheel.resolve()}[{extras}]", *needed]
    print(f"== {name}", flush=True)
    if subprocess.run([python, "-m", "pip", "install", "--quiet", *requirements], check=False).returncode:
        return False
    return subprocess.run([python, (HERE / script).resolve()], cwd=folder, check=False).returncode == 0


def main(arguments: list[str]) -> None:
    """Runs those that are named, or all that this Python can have, and ends with an error if one fails."""
    wheel, *names = arguments
    too_new = [name for name, oldest in OLDEST_PYTHON.items() if sys.version_info < oldest and not names]
    if too_new:
        print(f"left out, since they need a newer Python: {', '.join(too_new)}")
    failed = [name for name in names or INTEGRATIONS if name not in too_new and not run(name, Path(wheel))]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
