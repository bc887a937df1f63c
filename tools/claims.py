"""Draws sentences and table rows of README.md and docs/ at random, for somebody who did not write them to check.

`python tools/claims.py 20261119` prints 40 of them; benchmarks/claims.md has what became of one such draw.
"""

import random
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = {"reproduce", "api", "gallery", "_tables"}  # pages that programs write
CODE = re.compile(r"^(```|:::).*?^\1`*:*|<!--.*?-->", re.MULTILINE | re.DOTALL)
SENTENCE = re.compile(r"(?<=[.:;])\s+(?=[A-Z`*\[])")
WORDS = 7  # of a claim, at least


def claims() -> list[tuple[str, str]]:
    """The page and the text of every sentence and every row of a table."""
    docs = sorted(page for page in (ROOT / "docs").rglob("*.md") if not LEFT_OUT & set(page.relative_to(ROOT).parts))
    found = []
    for page in [ROOT / "README.md", *docs]:
        for block in re.split(r"\n\s*\n", CODE.sub("", page.read_text(encoding="utf-8"))):
            lines = block.strip().splitlines()
            if not lines or lines[0].startswith("#"):
                continue
            units = lines[2:] if lines[0].startswith("|") else SENTENCE.split(" ".join(line.strip() for line in lines))
            found += [(str(page.relative_to(ROOT)), unit.strip()) for unit in units if len(unit.split()) >= WORDS]
    return found


if __name__ == "__main__":
    for number, (name, claim) in enumerate(random.Random(sys.argv[1]).sample(claims(), 40), 1):
        print(f"{number}. {name}: {claim}\n")
