"""Makes docs/images/report.png, the picture of README.md: the report of `partita demo` in a browser.

`python tools/picture.py` needs Chromium with its driver. The first sentences of the report are stored in the picture,
and tests/repository/test_docs.py compares them with docs/cli.md and with the demo.
"""

from __future__ import annotations

import sys
import tempfile
from io import BytesIO
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from PIL import Image, PngImagePlugin
from typer.testing import CliRunner

from partita.cli import app
from support.browser import chromium, resize

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "report.png"
SIZE = (1100, 1450)
KEY = "answer"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "demo" / "report.html"
        CliRunner().invoke(app, ["demo", "--out", str(page.parent), "--quiet"], catch_exceptions=False)
        with chromium(Path(folder) / "profile") as browser:
            resize(browser, *SIZE)
            browser.get(page.as_uri())
            answer = browser.find_element("css selector", "p.answer").text
            picture = Image.open(BytesIO(browser.get_screenshot_as_png()))
    said = PngImagePlugin.PngInfo()
    said.add_text(KEY, answer)
    picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=128).save(PICTURE, pnginfo=said, optimize=True)
    print(answer)


if __name__ == "__main__":
    main()
