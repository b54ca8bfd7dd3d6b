"""The pages in a real browser: Chromium without a window, driven as a person would drive it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sidecar.contradictions import scan
from sidecar.provider import Provider
from sidecar.query import Query

from ..conftest import TOY, Commit, record  # noqa: TID252 - test folders have no absolute names
from .conftest import TOKEN, Site, serving
from .test_pages import result

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("chromium") or not shutil.which("chromedriver"), reason="there is no Chromium"),
]
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
WIDTHS = (1280, 390, 360)
NAMES = ("Home", "Records", "Timeline", "Graph", "Candidates", "Contradictions", "Receipts", "Gate", "Health")
AXE = os.environ.get("AXE_CORE", "")
"""The file axe.min.js of the npm package axe-core, where it is installed."""


class Browser:
    """A browser on a site, with what it asked for and what its console said."""

    def __init__(self, driver: Any, site: Site) -> None:
        self.driver, self.site = driver, site

    def go(self, path: str) -> None:
        """Open a page by its address."""
        self.driver.get(self.site.base + path)

    def all(self, selector: str) -> list[Any]:
        """Return what a selector finds."""
        return list(self.driver.find_elements("css selector", selector))

    def click(self, selector: str) -> None:
        """Click the first thing that a selector finds."""
        self.all(selector)[0].click()

    def text(self) -> str:
        """Return what stands on the page."""
        return str(self.driver.find_element("css selector", "main").text)

    def width(self, pixels: int) -> None:
        """Take a screen of this width, a telephone's where it is small."""
        size = {"width": pixels, "height": 844, "deviceScaleFactor": 1, "mobile": pixels < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def asked(self) -> set[str]:
        """Return every address of a network that was asked for since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        found = {e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"}
        return {url for url in found if url.startswith(("http", "ws", "ftp"))}

    def console(self) -> list[str]:
        """Return what the console said since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture
def full(shop: Path, commit: Commit, tmp_path: Path) -> Iterator[Site]:
    """Return the pages of a shop that has something on every page."""
    files: dict[str, str] = {"knowledge/policy.yaml": TOY}
    for n in range(3, 70):
        related = {"relates_to": ["decision-1"]} if n < 9 else {}
        files |= record(f"decision-{n}", f"Rule {n} of the shop", f"## Decision\n\nRule {n}.", tags=["rules"],
                        date=f"20{n % 20 + 5:02d}-01-02", **related)  # fmt: skip
    commit(files)
    provider = Provider(shop)
    provider.propose({"kind": "decision", "title": "Carts live in SQLite too", "body": "Carts, like orders."})
    provider.recall(Query("where do orders live"))
    scan(provider, budget=30)
    provider.close()
    folder = tmp_path / "results"
    folder.mkdir()
    for name, value in (("a", 0.5), ("b", 0.75)):
        (folder / f"{name}.json").write_text(json.dumps(result(value, passed=value > 0.6)))
    with serving(shop, folder) as site:
        yield site


@pytest.fixture
def browser(full: Site, tmp_path: Path) -> Iterator[Browser]:
    """Return a browser that came in with the token."""
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in (*FLAGS, f"--user-data-dir={tmp_path / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        driver.get(f"{full.base}/?token={TOKEN}")
        found = Browser(driver, full)
        found.width(WIDTHS[0])
        yield found
    finally:
        driver.quit()


def test_a_person_walks_through_every_page(browser: Browser) -> None:
    """Each page is reached by clicking; nothing asks another machine for anything, and the console stays silent."""
    assert TOKEN not in browser.driver.current_url
    for name in NAMES:
        browser.driver.find_element("link text", name).click()
        assert browser.all("h1")[0].text
        assert browser.all('nav a[aria-current="page"]')[0].text == name
    browser.driver.find_element("link text", "Records").click()
    browser.click(".records h2 a")
    assert "History in Git" in browser.text()
    browser.driver.find_element("link text", "Candidates").click()
    browser.click(".records h2 a")
    assert "sidecar promote" in browser.text()
    browser.driver.find_element("link text", "Receipts").click()
    browser.click("table td a")
    browser.click("form.filters button")
    assert "Asked again: same" in browser.text()
    browser.driver.find_element("link text", "Gate").click()
    browser.driver.find_element("link text", "a").click()
    assert "The gate failed in a" in browser.text()
    assert {url for url in browser.asked() if not url.startswith(browser.site.base + "/")} == set()
    assert browser.console() == []


def test_a_person_filters_and_asks(browser: Browser) -> None:
    """A filter holds at the moment it is chosen, "/" leads to the question, and the answer comes with its verdict."""
    from selenium.webdriver.support.ui import Select, WebDriverWait

    browser.go("/records")
    Select(browser.all("#f-tag")[0]).select_by_value("storage")
    WebDriverWait(browser.driver, 10).until(lambda driver: "tag=storage" in driver.current_url)
    assert [one.text for one in browser.all(".records h2")] == ["Orders live in SQLite quartzcanary"]
    browser.go("/records")
    browser.driver.find_element("link text", "Next").click()
    assert "page=2" in browser.driver.current_url
    browser.driver.switch_to.active_element.send_keys("/")
    assert browser.driver.switch_to.active_element.get_attribute("id") == "q"
    browser.driver.switch_to.active_element.send_keys("volcanology\n")
    WebDriverWait(browser.driver, 10).until(lambda driver: "volcanology" in driver.current_url)
    assert "No match." in browser.text()
    browser.go("/timeline")
    browser.click(".columns a")
    assert "the whole time" in browser.text()
    assert browser.console() == []


def test_a_person_walks_the_graph(browser: Browser) -> None:
    """The drawing pans, zooms, filters with its table, and every node can be reached and followed by key alone."""
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    browser.go("/graph?about=decision-1")
    shown = [node for node in browser.all("#drawing a.node") if node.is_displayed()]
    rows = [row for row in browser.all("#edges tbody tr") if row.is_displayed()]
    assert len(shown) >= 8
    moved = "return document.querySelector('#drawing > g').getAttribute('transform')"
    before = browser.driver.execute_script(moved)
    browser.click('[data-zoom="1.3"]')
    zoomed = browser.driver.execute_script(moved)
    browser.driver.execute_script("document.getElementById('drawing').focus()")
    browser.driver.switch_to.active_element.send_keys(Keys.ARROW_LEFT)
    assert len({before, zoomed, browser.driver.execute_script(moved)}) == 3
    browser.click('[data-type="relates_to"]')
    assert len([row for row in browser.all("#edges tbody tr") if row.is_displayed()]) < len(rows)
    assert len([node for node in browser.all("#drawing a.node") if node.is_displayed()]) < len(shown)
    browser.click('[data-type="relates_to"]')
    browser.driver.execute_script("document.getElementById('drawing').focus()")
    browser.driver.switch_to.active_element.send_keys(Keys.TAB)
    browser.driver.switch_to.active_element.send_keys(Keys.TAB)
    node = browser.driver.switch_to.active_element
    assert "decision" in node.get_attribute("aria-label")
    ident = node.get_attribute("aria-label").split()[0].rstrip(",")
    assert browser.all("#node-told")[0].text.startswith(ident)
    url = browser.driver.current_url
    node.send_keys(Keys.ENTER)
    WebDriverWait(browser.driver, 10).until(lambda driver: driver.current_url != url)
    assert browser.console() == []


def test_the_colours_that_were_chosen_stay(browser: Browser) -> None:
    """Dark and light hold on every page and are there before anything is drawn; "System" follows the system again."""
    colour = "return getComputedStyle(document.body).backgroundColor"
    light = browser.driver.execute_script(colour)
    browser.click('[data-set-theme="dark"]')
    dark = browser.driver.execute_script(colour)
    assert dark != light
    browser.go("/records")
    assert browser.driver.execute_script(colour) == dark
    browser.click('[data-set-theme="system"]')
    assert browser.driver.execute_script(colour) == light
    browser.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    )
    assert browser.driver.execute_script(colour) == dark


def test_a_small_screen_shows_everything(browser: Browser) -> None:
    """No page is wider than the screen; the menu opens and closes by its button and says so."""
    for width in WIDTHS:
        browser.width(width)
        for path in addresses(browser):
            browser.go(path)
            wide = browser.driver.execute_script("return document.documentElement.scrollWidth")
            assert wide <= width, (path, width, wide)
    menu = browser.all(".menu")[0]
    assert (menu.get_attribute("aria-expanded"), browser.all("#pages")[0].is_displayed()) == ("false", False)
    menu.click()
    assert (menu.get_attribute("aria-expanded"), browser.all("#pages")[0].is_displayed()) == ("true", True)


def test_the_first_key_skips_to_the_content(browser: Browser) -> None:
    """The first Tab reaches a link to the content, which takes the focus there; what has it is seen to have it."""
    from selenium.webdriver.common.keys import Keys

    browser.go("/records")
    browser.driver.find_element("css selector", "body").send_keys(Keys.TAB)
    link = browser.driver.switch_to.active_element
    assert link.text == "Skip to the content"
    assert link.value_of_css_property("outline-style") == "solid"
    link.send_keys(Keys.ENTER)
    assert browser.driver.switch_to.active_element.get_attribute("id") == "content"


@pytest.mark.skipif(not Path(AXE).is_file(), reason="AXE_CORE names no axe.min.js")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_no_page_has_a_fault_of_accessibility(browser: Browser, theme: str, width: int) -> None:
    """axe-core finds nothing on any page, in both colours and at two widths: names, landmarks, order, contrast."""
    browser.width(width)
    browser.click(f'[data-set-theme="{theme}"]') if width > 500 else browser.driver.execute_script(
        "localStorage.setItem('sidecar-theme', arguments[0])", theme
    )
    faults = {}
    for path in addresses(browser):
        browser.go(path)
        browser.driver.execute_script(Path(AXE).read_text())
        found = browser.driver.execute_async_script("axe.run().then(arguments[0])")
        told = [
            (v["id"], v["nodes"][0]["html"][:200], v["nodes"][0].get("failureSummary", "")) for v in found["violations"]
        ]
        if told:
            faults[path] = told
    assert faults == {}


def addresses(browser: Browser) -> list[str]:
    """Return an address of every page, with something on it."""
    found = """/ /records /records?status=all /records?q=where+do+orders+live /records?q=volcanology /record/decision-1
        /record/decision-0 /timeline /graph /graph?about=decision-1 /candidates /contradictions /receipts /gate /health
        /nothing""".split()
    for page, selector in (("/candidates", ".records h2 a"), ("/receipts", "table td a")):
        browser.go(page)
        found.append(str(browser.all(selector)[0].get_attribute("href")).removeprefix(browser.site.base))
    return [*found, f"{found[-1]}?replay=1"]
