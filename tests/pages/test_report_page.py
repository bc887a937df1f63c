"""The report in a real browser: it sorts, searches, zooms, fits a phone, and shows hostile names as text."""

import csv
import io
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import partita as pt
from partita.results import uncertain as uncertain_page
from partita.uncertainty.ball import credible_ball
from support.browser import chromium, resize, whole_page_screenshot

pytestmark = pytest.mark.browser

HOSTILE = '</script><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1"><b>bold</b> %{x}'
# Where an item lies on the map, from its middle, in pixels.
PLACE_ON_MAP = """
const blocks = JSON.parse(document.getElementById("page").textContent).sections.flatMap((part) => part.blocks);
const names = blocks.find((block) => block.figure === "map").data.names;
const figure = document.getElementById("fig-map").getBoundingClientRect();
const cells = document.querySelector("#fig-map .cells").getBoundingClientRect();
const at = (names.indexOf(arguments[0]) + 0.5) / names.length * cells.width;
return [at - figure.width / 2, at - figure.height / 2];
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
    draws = np.where(rng.random((2, 200, 60)) < 0.12, rng.integers(0, 4, (2, 200, 60)), truth)
    data = pd.DataFrame(rng.normal(size=(60, 2)) + 4 * np.array([[0, 0], [1, 1], [2, 0]])[truth])
    data.columns = [HOSTILE, "width of the leaf"]
    names = [HOSTILE if i == 0 else f"item {i}" for i in range(60)]
    estimate = pt.estimate(pt.as_sample(draws, names=names), rng=1)
    path = tmp_path_factory.mktemp("report") / "report.html"
    return pt.report(
        estimate,
        credible_ball(estimate),
        pt.diagnostics(estimate, search=pt.Search(runs=1), rng=0),
        data=data,
        truth=truth,
        path=path,
        title=HOSTILE,
    )


@pytest.fixture
def page(browser, page_file):
    resize(browser, 1200)
    browser.get(page_file.as_uri())
    return browser


def column(page, table: str, index: int) -> list[str]:
    script = "return [...document.getElementById(arguments[0]).tBodies[0].rows].filter(r => !r.hidden)"
    return page.execute_script(script + ".map(r => r.cells[arguments[1]].textContent)", table, index)


def map_range(page) -> list[float]:
    return [float(end) for end in page.find_element("id", "fig-map").get_attribute("data-view").split(",")]


def test_page_has_no_console_errors_and_asks_for_nothing(page):
    assert page.get_log("browser") == []
    assert page.execute_script("return performance.getEntriesByType('resource').length") == 0
    marks = "return [...document.querySelectorAll('.figure')].map(f => [f.id, f.querySelectorAll('svg *').length])"
    drawn = dict(page.execute_script(marks))
    names = ("counts", "memberships", "map", "strips", "points", "chains", "chain-strips")
    assert set(drawn) - {"fig-trace"} == {f"fig-{name}" for name in names}  # the runs, only where they disagree
    assert min(drawn.values()) > 3
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
      .filter(e => e.tabIndex < 0).length"""
    assert page.execute_script(script) == 0
    header = page.find_element("css selector", "#items thead th:nth-child(3)")
    button, before = header.find_element("css selector", "button"), header.get_attribute("aria-sort")
    for _ in range(2):
        button.send_keys("\ue007")
        assert header.get_attribute("aria-sort") != before
        before = header.get_attribute("aria-sort")


def test_page_prints(page):
    import base64

    printed = page.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
    pdf = base64.b64decode(printed)
    assert pdf.startswith(b"%PDF")
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    shown = "return [...document.querySelectorAll('#items tbody tr')].filter(row => row.offsetHeight > 0).length"
    assert page.execute_script(shown) == 60
    assert page.find_element("css selector", "#items-section .legend").is_displayed()
    assert not page.find_element("css selector", "button[data-csv=items]").is_displayed()
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    ARTIFACTS.mkdir(exist_ok=True)
    (ARTIFACTS / "report.pdf").write_bytes(pdf)
    assert page.get_log("browser") == []


def test_words_of_a_figure_do_not_cover_each_other(page):
    """The title under the first row of panels used to lie on the names of the second."""
    for figure in ("fig-points", "fig-chains", "fig-trace", "fig-counts"):
        overlaps = page.execute_script(
            """
            const texts = [...document.querySelectorAll("#" + arguments[0] + " text")].filter((e) => e.textContent);
            const boxes = texts.map((e) => e.getBoundingClientRect());
            return texts.filter((e, i) => boxes.some((b, j) => j < i && boxes[i].left < b.right - 1 &&
                b.left < boxes[i].right - 1 && boxes[i].top < b.bottom - 3 && b.top < boxes[i].bottom - 3))
                .map((e) => e.textContent);""",
            figure,
        )
        assert overlaps == []


def test_axes_have_the_names_of_the_columns(page):
    titles = page.execute_script(
        "return [...document.querySelectorAll('#fig-points .title title')].map((e) => e.textContent)"
    )
    assert titles == [HOSTILE, "width of the leaf"] * 4
    labels = page.execute_script(
        "return [...document.querySelectorAll('.figure text')].map((e) => e.firstChild.textContent)"
    )
    assert not [text for text in labels if "µ" in text or "-0" in text.split()]


def test_labels_tables_and_figures_can_be_downloaded(page):
    labels = page.execute_script(
        "return downloads.csv(downloads.labelRows(JSON.parse(document.getElementById('page').textContent).labels))"
    )
    rows = list(csv.reader(io.StringIO(labels)))
    assert rows[0] == ["item", "cluster", "certainty"]
    assert rows[1][0] == HOSTILE
    assert [int(row[1]) for row in rows[1:]] == np.repeat([1, 2, 3], 20).tolist()
    table = page.execute_script("return downloads.tableRows(document.getElementById('items'))")
    assert len(table) == 61
    assert 0 < float(table[1][2]) < 1
    picture = page.execute_script("return downloads.standalone(document.querySelector('#fig-points svg'))")
    assert picture.startswith("<svg")
    assert "var(" not in picture
    assert ElementTree.fromstring(picture).tag.endswith("svg")
    for figure in ("fig-map", "fig-counts"):
        for kind in ("svg", "png"):
            assert page.find_element("css selector", f"button[data-figure={figure}][data-as={kind}]").is_displayed()


def test_columns_are_explained_below_the_table_and_linked_to_the_terms(page):
    links = page.execute_script("return [...document.querySelectorAll('.legend a')].map((a) => a.getAttribute('href'))")
    assert "#term-certainty" in links
    assert all(page.find_elements("css selector", link) for link in links)


def test_neighbouring_parts_of_a_strip_never_share_a_colour(browser, tmp_path):
    """Ten clusters looked like eight: the eighth had the colour of the first, beside it."""
    truth = np.repeat(np.arange(25), 4)
    rng = np.random.default_rng(3)
    order = rng.permutation(25)
    draws = np.where(rng.random((60, 100)) < 0.03, rng.integers(0, 25, (60, 100)), order[truth])
    estimate = pt.estimate(draws, search=pt.Search(runs=2), rng=1, check_draws=False)
    assert estimate.n_clusters > 20
    browser.get(pt.report(estimate, credible_ball(estimate), path=tmp_path / "page.html").as_uri())
    parts = browser.execute_script("""return [...document.querySelectorAll("#fig-strips rect")].map((e) =>
        [Number(e.dataset.row), Number(e.dataset.cluster), e.getAttribute("fill")])""")
    beside = list(pairwise(parts))
    assert len(beside) > 100
    assert not [(a, b) for a, b in beside if a[0] == b[0] and a[1] != b[1] and a[2] == b[2]]
    of_estimate = {fill for row, _, fill in parts if row == 0}
    assert len(of_estimate) > 15


def test_an_item_that_is_not_listed_is_found(browser, tmp_path, monkeypatch):
    monkeypatch.setattr(uncertain_page, "LISTED", 3)
    estimate = pt.estimate([[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 0]] * 60, rng=1, check_draws=False)
    browser.get(pt.report(estimate, path=tmp_path / "page.html").as_uri())
    listed = column(browser, "items", 0)
    hidden = next(str(i) for i in range(1, 7) if str(i) not in listed)
    browser.find_element("css selector", "input[data-table=items]").send_keys(hidden)
    found = browser.find_element("id", "items-count").text
    assert f"not listed: {hidden} (cluster {estimate.labels[int(hidden) - 1] + 1})" in found


def test_a_tall_tree_is_shown_whole(browser, tmp_path):
    draws = np.array([np.arange(18) // size for size in (1, 1, 2, 3, 6)] * 40)
    estimate = pt.estimate(draws, search=pt.Search(runs=2), rng=1, check_draws=False)
    tree = pt.hierarchy(estimate, finest=18, rng=1)
    browser.get(pt.report(estimate, tree, path=tmp_path / "page.html").as_uri())
    cut = browser.execute_script("""return [...document.querySelectorAll(".scroll.figure")].map((box) =>
        [box.scrollHeight, box.clientHeight])""")
    assert cut
    assert all(whole <= shown + 1 for whole, shown in cut)


def test_lists_of_names_are_not_squeezed_on_a_phone(browser, tmp_path):
    base = np.repeat([[0, 1], [1, 2]], 30, axis=0)
    table = pd.DataFrame(base, index=[f"patient {i}" for i in range(60)], columns=["first", "second"])
    resize(browser, 390)
    summary = pt.ensembles.summarize(pt.ensembles.consensus(table, rng=1), table)
    browser.get(pt.report(summary, path=tmp_path / "page.html").as_uri())
    rows = browser.execute_script(
        """return [...document.getElementById("clusters").tBodies[0].rows].map((row) => row.offsetHeight)"""
    )
    assert len(rows) == 2
    assert max(rows) < 250


def test_what_a_figure_shows_stays_and_hints_for_the_mouse_are_not_printed(page):
    from selenium.webdriver.common.action_chains import ActionChains

    hint = page.find_element("id", "counts-readout")
    assert hint.text == "Point at or tap a bar for its value."
    bar = page.find_element("css selector", "#fig-counts .bar")
    ActionChains(page).move_to_element(bar).perform()
    assert "probability" in hint.text
    assert "The orange bar is the number of clusters of the estimate." in hint.find_element("xpath", "..").text
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert not hint.is_displayed()
        assert hint.find_element("xpath", "..").is_displayed()
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
