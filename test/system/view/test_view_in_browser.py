"""The page in a real browser sends a goal and shows it; ``test/nightly/test_view_commands.py`` presses the rest."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.stack.browser import Tab, browser, chromium, page_process
from support.stack.rig import Rig


@pytest.fixture(scope="module", autouse=True)
def _program() -> None:
    chromium()  # before the stack starts


@pytest.fixture(scope="module")
def tab(running: Rig) -> Iterator[Tab]:
    with page_process() as (address, _), browser() as open_tab:
        yield open_tab(address)


def test_run_moves_the_cube_and_turns_the_verdict(rig: Rig, tab: Tab) -> None:
    tab.wait_text(r"^FALSE object_grabbed\(object=cube\)")
    tab.moved()
    tab.pick("cube")
    tab.wait_text(r"SUCCEEDED pick cube")
    tab.wait_text(r"^TRUE object_grabbed\(object=cube\)")
    assert {"/world/cube", "/robot/fr3_hand"} <= tab.moved()
    text = tab.text()
    assert "approach" in text and "picked 'cube'" in text
    assert tab.foreign == []  # everything is served by the page itself
