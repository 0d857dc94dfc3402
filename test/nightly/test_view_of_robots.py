"""The page opens on other robots, also where only their description and their world run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from handiwork_cli.launch_files.package_paths import share_of
from handiwork_cli.processes.ros_environment import with_ros_defaults
from handiwork_cli.stack.demo_cells import robot_of, scene_of
from support.stack.browser import browser, chromium, page_process


@pytest.fixture(scope="module")
def open_tab() -> Iterator[Any]:
    chromium()
    with browser() as opened:
        yield opened


@pytest.mark.parametrize("name", ["lift2", "genie1", "ur10_suction"])
def test_the_page_shows_the_robot_and_says_what_is_missing(name: str, open_tab: Any) -> None:
    os.environ.update(with_ros_defaults(os.environ))
    folder = share_of("robot_description") / "robots" / name
    scene = share_of("handiwork_bringup") / f"config/scenes/{scene_of(name)}.yaml"
    words = ["--ros-args", "-p", f"robot_dir:={folder}", "-p", f"scene_file:={scene}"]
    with ExitStack() as held:
        for node in ("robot_description", "sim_bridge"):
            program = str(Path(sys.executable).with_name(node))
            process = subprocess.Popen([program, *words])
            held.callback(process.wait, 30)
            held.callback(process.terminate)
        address, _ = held.enter_context(page_process())
        tab = open_tab(address)
        robot = robot_of(name)
        assert {f"/robot/{arm.ee_link}" for arm in robot.arms.values()} <= tab.moved()
        tab.press("Run")
        tab.wait_text("skill_server is not active")
        tab.page.close()
