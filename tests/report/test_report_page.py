"""The report in a real browser: it sorts, searches, zooms, fits a phone, and shows hostile names as text."""

from pathlib import Path

import numpy as np
import pytest

import partita as pt
from browser import chromium, resize, whole_page_screenshot
from partita.uncertainty.ball import credible_ball

pytestmark = pytest.mark.browser

HOSTILE = '</script><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1"><b>bold</b> %{x}'
# Where an item lies on the map, from its middle, in pixels.
PLACE_ON_MAP = """
const figure = document.getElementById("fig-map"), {xaxis, yaxis} = figure._fullLayout;
const at = JSON.parse(document.getElementById("figures").textContent).map.names.indexOf(arguments[0]) + 0.5;
const box = figure.getBoundingClientRect();
return [xaxis._offset + xaxis.d2p(at) - box.width / 2, yaxis._offset + yaxis.d2p(at) - box.height / 2];
"""
ARTIFACTS = Path(__file__).parents[2] / "test-artifacts"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1, 2], 20)
    draws = np.where(rng.random((400, 60)) < 0.12, rng.integers(0, 4, (400, 60)), truth)
    data = rng.normal(size=(60, 2)) + 4 * np.array([[0, 0], [1, 1], [2, 0]])[truth]
    names = [HOSTILE if i == 0 else f"item {i}" for i in range(60)]
    estimate = pt.estimate(pt.as_sample(draws, names=names), rng=1)
    path = tmp_path_factory.mktemp("report") / "report.html"
    return pt.report(estimate, credible_ball(estimate), data, truth, path, title=HOSTILE)


@pytest.fixture
def page(browser, page_file):
    resize(browser, 1200)
    browser.get(page_file.as_uri())
    return browser


def column(page, table: str, index: int) -> list[str]:
    script = "return [...document.getElementById(arguments[0]).tBodies[0].rows].filter(r => !r.hidden)"
    return page.execute_script(script + ".map(r => r.cells[arguments[1]].textContent)", table, index)


def map_range(page) -> list[float]:
    return page.execute_script("return document.getElementById('fig-map').layout.xaxis.range")


def test_page_has_no_console_errors_and_asks_for_nothing(page):
    assert page.get_log("browser") == []
    assert page.execute_script("return performance.getEntriesByType('resource').length") == 0
    drawn = page.execute_script("return [...document.querySelectorAll('.figure')].map(f => Boolean(f.layout))")
    assert drawn == [True] * 5
    whole_page_screenshot(page, 1200, ARTIFACTS / "report.png")


def test_tables_sort_both_ways(page):
    before = column(page, "items", 2)
    button = page.find_element("css selector", "#items thead th:nth-child(3) button")
    page.execute_script("arguments[0].click()", button)
    up = [float(text) for text in column(page, "items", 2)]
    page.execute_script("arguments[0].click()", button)
    down = [float(text) for text in column(page, "items", 2)]
    assert up == sorted(up)
    assert down == sorted(down, reverse=True)
    assert up != down
    assert sorted(map(float, before)) == up


def test_text_columns_sort_numbers_as_numbers(page):
    page.execute_script("document.querySelector('#items thead th:nth-child(1) button').click()")
    names = [name for name in column(page, "items", 0) if name.startswith("item")]
    assert names == [f"item {i}" for i in range(1, 60)]


def test_items_can_be_searched(page):
    page.find_element("css selector", "input[data-table=items]").send_keys("item 5")
    assert set(column(page, "items", 0)) == {"item 5", *(f"item 5{i}" for i in range(10))}
    assert page.find_element("id", "items-count").text == "11 of 60"


def test_map_zooms_by_drag_by_choice_and_by_key(page):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.support.select import Select

    figure = page.find_element("id", "fig-map")
    page.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", figure)
    assert map_range(page) == [0, 60]
    drag = ActionChains(page).move_to_element_with_offset(figure, -60, -60).click_and_hold()
    drag.move_by_offset(40, 40).move_by_offset(40, 40).release().perform()
    low, high = map_range(page)
    assert 0 < low < high < 60
    page.find_element("id", "zoom-reset").click()
    assert map_range(page) == [0, 60]
    Select(page.find_element("id", "zoom")).select_by_index(2)
    assert np.diff(map_range(page))[0] == 20
    figure.send_keys("+")
    assert np.diff(map_range(page))[0] == 10
    figure.send_keys("0")
    assert map_range(page) == [0, 60]


def test_hostile_names_stay_text(page):
    from selenium.webdriver.common.action_chains import ActionChains

    assert page.execute_script("return window.hacked") is None
    assert page.find_elements("css selector", "main img[src=x], td b, h1 b") == []
    assert HOSTILE in column(page, "items", 0)
    assert page.find_element("css selector", "h1").text == HOSTILE
    assert page.title.strip() == HOSTILE
    figure = page.find_element("id", "fig-map")
    page.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", figure)
    x, y = page.execute_script(PLACE_ON_MAP, HOSTILE)
    ActionChains(page).move_to_element_with_offset(figure, round(x), round(y)).perform()
    readout = page.find_element("id", "map-readout")
    assert readout.text.startswith(" ".join(HOSTILE.split()))
    assert readout.find_elements("css selector", "*") == []


def test_narrow_window_does_not_scroll_sideways(page):
    resize(page, 400)
    page.get(page.current_url)
    assert page.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]") == [400, 400]
    whole_page_screenshot(page, 400, ARTIFACTS / "report-phone.png")


def test_dark_and_light(page):
    background = "return getComputedStyle(document.body).backgroundColor"
    light = page.execute_script(background)
    page.find_element("id", "theme").click()
    dark = page.execute_script(background)
    assert light != dark
    assert page.get_log("browser") == []
    whole_page_screenshot(page, 1200, ARTIFACTS / "report-dark.png")


def test_every_control_is_reached_by_keyboard(page):
    script = """return [...document.querySelectorAll('button, select, input, a, #fig-map')]
      .filter(e => e.tabIndex < 0 && !e.closest('.modebar')).length"""
    assert page.execute_script(script) == 0
    button = page.find_element("css selector", "#runs thead th:nth-child(6) button")
    button.send_keys("\ue007")
    losses = [float(text) for text in column(page, "runs", 5)]
    assert losses == sorted(losses)


def test_page_prints(page):
    import base64

    printed = page.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
    pdf = base64.b64decode(printed)
    assert pdf.startswith(b"%PDF")
    ARTIFACTS.mkdir(exist_ok=True)
    (ARTIFACTS / "report.pdf").write_bytes(pdf)
    assert page.get_log("browser") == []


def test_titles_of_axes_do_not_cover_those_of_panels(browser, tmp_path):
    """The title under the first row of panels used to lie on the names of the second."""
    estimate = pt.estimate(pt.datasets.make_draws(30, 100, rng=1), rng=1)
    data = np.random.default_rng(1).normal(size=(30, 3))
    resize(browser, 1200)
    browser.get(pt.report(estimate, credible_ball(estimate), data, path=tmp_path / "page.html").as_uri())
    overlaps = browser.execute_script("""
        const boxes = (selector) => [...document.querySelectorAll("#fig-points " + selector)]
            .filter((e) => e.textContent).map((e) => e.getBoundingClientRect());
        const axes = boxes("g[class^='g-x'] text"), panels = boxes(".annotation-text");
        return [axes.length, panels.length, axes.filter((a) => panels.some((p) =>
            a.left < p.right && p.left < a.right && a.top < p.bottom && p.top < a.bottom)).length];""")
    assert overlaps == [2, 4, 0]
