"""The path of a team through the real Prefect UI, in a real browser: form, run page, artifacts, question and answer."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from buildloop.request import BuildRequest
from tasks.options import short_id
from tests.support.stack import Stack
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = Path("/usr/bin/chromium")
QUIET = (
    "--no-sandbox --disable-gpu --disable-quic --disable-background-networking --disable-component-update "
    "--disable-sync"
)
PATIENCE = 120_000


@pytest.fixture(scope="module")
def page(stack: Stack) -> Iterator[Page]:
    if not CHROMIUM.exists():
        pytest.skip("no chromium is installed here")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=QUIET.split())
        # Drawing its moving parts without a graphics card takes a whole processor.
        page = browser.new_page(viewport={"width": 1300, "height": 1400}, reduced_motion="reduce")
        page.set_default_timeout(PATIENCE)
        yield page
        browser.close()


def shot(page: Page, stack: Stack, name: str) -> None:
    page.screenshot(path=str(stack.folder / f"{name}.png"), full_page=True)


def test_the_form_of_a_deployment_explains_every_parameter_in_order(stack, page):
    known = stack.ask("/deployments/name/build-loop/on-demand")
    page.goto(f"{stack.ui}/deployments/deployment/{known['id']}/run")
    page.get_by_text("Path of the git repository").wait_for()
    told = [str(field.description) for field in BuildRequest.model_fields.values()]

    def places() -> list[int] | None:
        """The form is drawn bit by bit."""
        text = page.inner_text("body")
        found = [text.find(each) for each in told]
        return None if -1 in found else found

    found = eventually(places)
    shot(page, stack, "form")
    assert found == sorted(found)
    assert "What to achieve, in which repository, what decides, and where to stop." in page.inner_text("body")


def test_a_run_that_asks_is_answered_in_the_browser_and_finishes(stack, asking, page):
    eventually(lambda: stack.run(asking)["state_name"] == "Suspended", 300)
    page.goto(f"{stack.ui}/runs/flow-run/{asking}")
    page.get_by_role("button", name="Resume").first.click()
    form = page.get_by_role("dialog")
    form.get_by_text("All 1 iterations were used; the gate is red (1 failing).").wait_for()
    form.locator("textarea").fill("turn the sign")
    shot(page, stack, "question")
    form.get_by_role("button", name="Submit").click()
    assert stack.ended(asking)["state_name"] == "Completed"
    prompt = stack.state / "runs" / f"run-{short_id(asking)}" / "iterations" / "1-2" / "prompt.md"
    assert "## Guidance From a Person" in prompt.read_text()
    assert "turn the sign" in prompt.read_text()


def test_the_page_of_a_run_names_its_tasks_by_what_came_of_them(stack, asking, page):
    stack.ended(asking)
    # The page does not look again once the run is over, and Prefect records names a little later.
    finish = {"flow_runs": {"id": {"any_": [asking]}}, "task_runs": {"name": {"any_": ["finish: complete"]}}}
    eventually(lambda: stack.ask("/task_runs/filter", finish))
    page.goto(f"{stack.ui}/runs/flow-run/{asking}?tab=Task%20Runs")
    page.get_by_text("Task Runs", exact=True).first.click()
    page.get_by_text("finish: complete").first.wait_for()
    text = page.inner_text("body")
    shot(page, stack, "run")
    assert "verify s1 i2: green" in text
    assert f"run-{short_id(asking)}" in text


def test_the_report_is_rendered_where_the_watching_command_says(stack, asking, page):
    stack.ended(asking)
    event = {
        "event": {"name": ["loop.completed"]},
        "any_resource": {"id": [f"buildloop.run.run-{short_id(asking)}"]},
    }
    told = eventually(lambda: stack.ask("/events/filter", {"filter": event})["events"], 120)
    page.goto(told[0]["resource"]["prefect.resource.name"].rpartition("Report: ")[2])
    page.get_by_text("make the tests pass").first.wait_for()
    shot(page, stack, "report")
    text = page.inner_text("body")
    assert f"buildloop/run-{short_id(asking)}" in text
    assert "**" not in text, "Markdown is drawn, not shown"


def test_somebody_is_told_that_a_run_waits(stack, asking, notices):
    _, received = notices
    wanted = f"run-{short_id(asking)} is Suspended"
    assert eventually(lambda: [text for text in received if wanted in text], 120)


def test_three_restarts_within_an_hour_raise_a_warning(stack, notices):
    _, received = notices
    resource = {"prefect.resource.id": "buildloop.run.tight", "prefect.resource.name": "tight"}
    stack.ask(
        "/events",
        [
            {
                "occurred": datetime.now(UTC).isoformat(),
                "event": "loop.context_exhaustion_restart",
                "resource": resource,
                "id": str(uuid.uuid4()),
            }
            for _ in range(3)
        ],
    )
    assert eventually(
        lambda: [text for text in received if "tight keeps running out of context" in text], 120
    )
