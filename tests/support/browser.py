"""A headless Chromium for the tests of the report."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

# The second line keeps the browser from looking for its maker's servers.
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --hide-scrollbars "
    "--disable-background-networking --disable-component-update --disable-sync --disable-quic"
)


@contextmanager
def chromium(profile: Path) -> Iterator:
    """A driven browser; without one the test is skipped, except in CI, where it fails."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        missing = "chromium and chromedriver are not installed"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in (*FLAGS.split(), f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    running = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield running
    finally:
        running.quit()


def resize(browser, width: int, height: int = 1000) -> None:
    """A window of this size, narrower than a desktop window may be."""
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)


def whole_page_screenshot(browser, width: int, path: Path) -> None:
    """The page from top to bottom as a picture."""
    path.parent.mkdir(exist_ok=True)
    height = browser.execute_script("return document.documentElement.scrollHeight")
    resize(browser, width, height)
    browser.save_screenshot(str(path))
    resize(browser, width)
