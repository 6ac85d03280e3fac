"""The page in a real browser: on a phone and on a desk, light and dark, without script, for every reader."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from buildloop.report.html import html_report
from tests.support import runs

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --disable-background-networking",
    "--disable-component-update --disable-sync",
)
PHONE, DESK = 390, 1280

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=" ".join(FLAGS).split())
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    """Every run as a file, written once."""
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for name, make in runs.ALL.items():
        found[name] = folder / f"{name}.html"
        found[name].write_text(html_report(make()), encoding="utf-8")
    return found


@pytest.fixture
def view(browser, pages):
    """Opens a page; nothing but that file may be asked for."""
    contexts = []

    def open_page(name: str, width: int, *, script: bool = True, scheme: str = "light"):
        context = browser.new_context(
            viewport={"width": width, "height": 844}, java_script_enabled=script, color_scheme=scheme
        )
        contexts.append(context)
        page = context.new_page()
        page.asked = []
        page.complaints = []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("console", lambda message: page.complaints.append(message.text))
        page.goto(pages[name].as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", runs.ALL)
@pytest.mark.parametrize("width", [PHONE, DESK])
def test_nothing_sticks_out_and_nothing_is_fetched(view, name, width):
    page = view(name, width)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert [url for url in page.asked if not url.startswith("file:")] == []
    assert page.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["complete", "many_failures", "nothing_yet"])
def test_axe_finds_nothing(view, name, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = view(name, PHONE if scheme == "dark" else DESK, scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_everything_can_be_read_and_opened_without_script(view):
    page = view("complete", PHONE, script=False)
    assert page.get_by_role("heading", level=1).inner_text() == runs.GOAL
    assert page.locator("svg.narrow").is_visible()
    assert not page.locator("svg.wide").is_visible()
    evidence = page.get_by_text("assert Decimal('119.00') == Decimal('100.00')").first
    assert not evidence.is_visible()
    page.get_by_text("Iteration 1", exact=True).click()
    assert evidence.is_visible()


def test_the_picture_is_as_wide_as_the_screen_and_its_text_is_legible(view):
    for width, name in ((PHONE, "narrow"), (DESK, "wide")):
        page = view("long_run", width)
        drawn = page.locator(f"svg.{name}").bounding_box()
        assert drawn["width"] > 0.8 * min(width, 960)
        size = page.evaluate(f"document.querySelector('svg.{name} .panel').getBoundingClientRect().height")
        assert size >= 10
