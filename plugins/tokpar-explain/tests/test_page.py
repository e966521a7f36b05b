"""The page of `tokpar explain --html` in a real browser: Debian's chromium, driven by selenium."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tokpar_explain.page import page
from tokpar_explain.seam import explain_seam
from tokpar_explain.trace import Trace, trace

from tests.support.delimiter_sizes import plain
from tests.support.seams import part

selenium = pytest.importorskip("selenium", reason="selenium is not installed: pip install selenium")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None,
    reason="there is no chromium with chromedriver: apt-get install chromium chromium-driver",
)

PROSE = "The cat sat. A dog ran, and they met at the gate; nobody saw more of it than I did. "
WIDTHS = (1280, 400)
SCHEMES = ("light", "dark")
HOSTILE = (
    "</script><script>document.title = 'taken'</script> "
    "<img src=x onerror=\"document.title='taken'\">"
    " <!-- </style><svg onload=alert(1)> ]]> \u2028 \x00 &lt;b&gt; "
)


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = str(CHROMIUM)
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    yield browser
    browser.quit()


class Page:
    """An open page, and what one does with it."""

    def __init__(self, driver: Any, path: Path) -> None:
        self.driver, self.path = driver, path

    def open(self, fragment: str = "", width: int = 1280, scheme: str = "light") -> Page:
        command = self.driver.execute_cdp_cmd
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        command("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        command("Emulation.setEmulatedMedia", {"features": features})
        self.driver.get("about:blank")
        self.driver.get(f"{self.path.as_uri()}{fragment}")
        return self

    def js(self, code: str, *arguments: object) -> Any:
        return self.driver.execute_script(code, *arguments)

    def all(self, selector: str) -> list[Any]:
        found: list[Any] = self.driver.find_elements("css selector", selector)
        return found

    def one(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def keys(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def seam(self) -> int:
        """The seam whose detail is shown, after the fragment has been heard of."""
        time.sleep(0.05)
        match = re.fullmatch(r"Seam (\d+)", self.one("#detail h2").text)
        assert match is not None
        return int(match[1])

    def row(self, title: str) -> list[str]:
        """The tokens of a row, as shown."""
        code = """return [...document.querySelectorAll("#detail > h3")]
            .find((each) => each.textContent.startsWith(arguments[0])).nextElementSibling"""
        row = self.js(code, title)
        return [each.text for each in row.find_elements("css selector", ".name")]

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]


Opened = Callable[[Trace], Page]


@pytest.fixture
def opened(driver: Any, tmp_path: Path) -> Iterator[Opened]:
    """Writes the page of a trace; at the end there must be nothing in the browser's console."""
    pages: list[Page] = []

    def write(traced: Trace, name: str = "a.txt") -> Page:
        path = tmp_path / "page.html"
        path.write_text(page(traced, name, 40), encoding="utf-8")
        pages.append(Page(driver, path))
        return pages[-1]

    yield write
    assert [complaint for each in pages for complaint in each.complaints()] == []


def good() -> Trace:
    return trace(PROSE * 5, strategy="lopt", chunk_chars=40, overlap_chars=20)


def bad() -> Trace:
    """The text with a run of digits, which the published midpoint filter cuts out of phase."""
    return trace(
        "1" * 400,
        plain(part("cl100k_part")),
        strategy="blocks",
        acceptance="paper",
        chunk_chars=100,
        overlap_chars=64,
        allow_approximate=True,
    )


def test_the_detail_shows_the_tokens_of_the_seam(opened: Opened) -> None:
    traced = good()
    shown = opened(traced).open("#seam-3")
    seam = explain_seam(traced, 3, 40)
    assert shown.seam() == 3
    for title, row in (
        ("Left chunk", seam.left_row),
        ("Right chunk", seam.right_row),
        ("Joined", seam.joined_row),
        ("Serial", seam.serial_row),
    ):
        assert shown.row(title) == [token.text for token in row.tokens], title
    detail = shown.one("#detail").text
    assert seam.meaning in detail
    assert f"{seam.rule}, theorem {seam.theorem}" in detail
    assert "ids equal" in detail
    assert all(f"{name}\n{value}" in detail for name, value in seam.witness)
    assert shown.one("#detail a").get_attribute("href").endswith(f"/proofs/{seam.page}")
    kept = sum(token.kept for token in seam.left_row.tokens + seam.right_row.tokens)
    rows = shown.js("return [...document.querySelectorAll('#detail > .row')].slice(0, 2)")
    boxes = [box for row in rows for box in row.find_elements("css selector", ".token")]
    assert sum("dropped" not in box.get_attribute("class") for box in boxes) == kept
    matched = sum(token.matched for token in seam.left_row.tokens + seam.right_row.tokens)
    assert sum("matched" in box.get_attribute("class").split() for box in boxes) == matched > 0


def test_a_difference_is_shown_in_colour_sign_and_words(opened: Opened) -> None:
    traced = bad()
    shown = opened(traced).open()
    number = traced.ordered()[0]
    assert shown.seam() == number, "the first seam that differs is shown first"
    assert "≠" in shown.one("#verdict").text
    seam = explain_seam(traced, number)
    assert seam.differences[0].words in shown.one(".difference").text
    box = shown.one("#detail > .row .token.differs")
    assert box.value_of_css_property("border-top-style") == "solid"
    classes = "return [...arguments[0].children].map((each) => each.className)"
    row = shown.js("return document.querySelectorAll('#detail > .row')[2]")
    marked = ["differs" in each.split() for each in shown.js(classes, row) if "token" in each]
    assert marked == [token.differs for token in explain_seam(traced, number).joined_row.tokens]
    assert {True, False} == set(marked)
    sign = shown.js("return getComputedStyle(arguments[0].firstChild, '::after').content", box)
    assert "≠" in sign
    assert any("is lost" in each.text for each in shown.all("#detail li"))


def test_seams_are_chosen_by_mouse_in_list_and_bar(opened: Opened) -> None:
    from selenium.webdriver import ActionChains

    traced = good()
    shown = opened(traced).open()
    shown.one('#list button[data-seam="5"]').click()
    assert shown.seam() == 5
    assert shown.js("return location.hash") == "#seam-5"
    bar = shown.one("#bar")
    position = traced.seams[2].position / len(traced.text)
    across = 6 + position * (bar.size["width"] - 12) - bar.size["width"] / 2
    ActionChains(shown.driver).move_to_element_with_offset(bar, across, 0).click().perform()
    assert shown.seam() == 2
    shown.one(".step button:last-child").click()
    assert shown.seam() == 3
    shown.driver.back()
    assert shown.seam() == 2
    assert len(shown.all("#list button")) == len(traced.seams)
    assert [each.get_attribute("data-seam") for each in shown.all("#list [aria-current]")] == ["2"]


def test_the_keyboard_alone_is_enough(opened: Opened) -> None:
    from selenium.webdriver.common.keys import Keys

    traced = good()
    last = len(traced.seams) - 1
    shown = opened(traced).open("#seam-0")
    shown.keys("j", "j", "k")
    assert shown.seam() == 1
    shown.keys(Keys.TAB)
    assert shown.js("return document.activeElement.id") == "bar"
    shown.keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert shown.seam() == 3
    shown.keys(Keys.END)
    assert shown.seam() == last
    shown.keys(Keys.ARROW_RIGHT)
    assert shown.seam() == last
    assert shown.one("#bar").get_attribute("aria-valuenow") == str(last)
    assert "PAIR" in shown.one("#bar").get_attribute("aria-valuetext")
    shown.keys(Keys.HOME, Keys.TAB, Keys.TAB, Keys.TAB)
    assert shown.js("return document.activeElement.dataset.seam") == "1"
    shown.keys(Keys.ENTER)
    assert shown.seam() == 1
    shown.js("document.querySelector('#list [aria-current]').focus()")
    shown.keys(Keys.ARROW_DOWN)
    assert shown.seam() == 2
    assert shown.js("return document.activeElement.dataset.seam") == "2"


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("what", [good, bad])
def test_nothing_is_wider_than_the_window(
    opened: Opened, what: Callable[[], Trace], width: int, scheme: str
) -> None:
    shown = opened(what()).open(width=width, scheme=scheme)
    assert shown.js("return document.documentElement.scrollWidth") <= width
    paper = shown.js("return getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")


def test_hostile_text_and_names_are_only_shown(opened: Opened) -> None:
    traced = trace(HOSTILE * 6, strategy="cut", chunk_chars=12)
    shown = opened(traced, f"{HOSTILE}.txt").open()  # type: ignore[call-arg]
    for number in range(len(traced.seams)):
        shown.js("location.hash = `seam-${arguments[0]}`", number)
        assert shown.seam() == number
        assert shown.js("return document.title").startswith("Seams of </script>")
        assert shown.all("img, iframe, object, #detail script") == []
    assert len(shown.all("script")) == 2
    everything = shown.one("#detail").text
    assert explain_seam(traced, number).left_row.tokens[0].text in everything
