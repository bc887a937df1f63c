"""Builds an sdist (or takes one), a wheel from it, installs that in an empty environment and runs the smoke test.

`python tools/check_wheel.py` or `python tools/check_wheel.py dist/partita-0.1.0.tar.gz`; `make wheel-test` calls it.
"""

import re
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NEEDED = ("pyproject.toml", "CMakeLists.txt", "LICENSE", "README.md", "src/partita/__init__.py", "src/partita/py.typed",
          "cpp/draws/losses.hpp", "bindings/core.cpp", "tests/support/reference.py",
          "src/partita/datasets/galaxies.csv")  # fmt: skip
UNWANTED = re.compile(r"(^|/)(\.venv|\.ci|\.git|build|dist|__pycache__|demo|_core\.pyi|.*\.so)(/|$)")


def run(*command: str | Path, **options: object) -> None:
    subprocess.run([str(word) for word in command], check=True, **options)


def new_python(folder: Path, *, with_pip: bool = True) -> Path:
    """An empty environment's interpreter."""
    venv.create(folder, with_pip=with_pip)
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def check_contents(sdist: Path) -> None:
    """The sdist has what a build needs, and nothing of the machine that made it."""
    with tarfile.open(sdist) as archive:
        files = [member for member in archive.getmembers() if member.isfile()]
        names = {member.name.split("/", 1)[1] for member in files}
        text = b"".join(archive.extractfile(member).read() for member in files)  # type: ignore[union-attr]
    missing = [name for name in NEEDED if name not in names]
    unwanted = sorted(name for name in names if UNWANTED.search(name))
    here = [place for place in (str(ROOT), str(Path.home())) if len(place) > 5 and place.encode() in text]
    if missing or unwanted or here:
        raise SystemExit(f"{sdist.name}: missing {missing}, unwanted {unwanted}, places of this machine {here}")
    size = sdist.stat().st_size / 1e6
    print(f"{sdist.name}: {len(names)} files, {size:.1f} MB")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        builder = new_python(work / "builder")
        run(builder, "-m", "pip", "install", "--quiet", "build")
        if len(sys.argv) > 1:
            sdist = Path(sys.argv[1]).resolve()
        else:
            run(builder, "-m", "build", "--sdist", "--outdir", work / "dist", ROOT)
            sdist = next((work / "dist").glob("*.tar.gz"))
        check_contents(sdist)
        run(builder, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", work / "wheels", sdist)
        wheel = next((work / "wheels").glob("*.whl"))
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
        empty = new_python(work / "empty")
        run(empty, "-m", "pip", "install", "--quiet", wheel)
        run(empty, ROOT / "tools" / "smoke_test.py", cwd=work)  # not in the repository: the wheel must stand alone


if __name__ == "__main__":
    main()
