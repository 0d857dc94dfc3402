"""A real browser for tests of the page: Chromium without a window, driven by playwright."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from handiwork_viz.view.ros.page.server import CAMERA, FIELD_OF_VIEW

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
)
SIZE = {"width": 1280, "height": 720}
PIXELS = 0.3
"""Pixels that are drawn for each pixel of the window's width and height: software draws few of them faster."""
RARELY = "const d = window.requestAnimationFrame; window.requestAnimationFrame = (f) => setTimeout(() => d(f), 1500);"
"""A script that lets the browser draw rarely: drawing by software would leave no time for anything else."""
WAIT_MS = 240_000
"""Drawing by software on a busy machine takes seconds."""


def chromium() -> str:
    """Return the browser's program, or skip the test where it or playwright is missing."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(
            "there is no Chromium; install it (Debian: apt install chromium) to test the page in a browser"
        )
    pytest.importorskip("playwright", reason="needs playwright; pip install -r requirements/dev.txt")
    return found


@contextmanager
def page_process(*words: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run ``handiwork view``, or the words, in the DDS domain of the test; yields its address and its process."""
    command = [
        str(Path(sys.executable).with_name("handiwork")),
        *(words or ("view",)),
        "--port",
        "0",
        "--simple-lighting",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    timer = threading.Timer(WAIT_MS / 1e3, process.kill)
    timer.start()
    try:
        assert process.stdout is not None
        line = next((line for line in process.stdout if line.startswith("page: ")), "")
        assert line, f"{command} printed no address"
        timer.cancel()
        yield line.split()[1], process
    finally:
        timer.cancel()
        process.terminate()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()


def unpacked(frame: bytes) -> bytes:
    """Return the msgpack in a frame to the browser: two lengths, then the compressed text."""
    import zstandard

    size, packed = (int.from_bytes(frame[i : i + 8], "little") for i in (0, 8))
    return zstandard.ZstdDecompressor().decompress(frame[16 : 16 + packed], max_output_size=size)


def nodes_in(text: bytes) -> set[str]:
    """Return the nodes of the scene that a message to the browser names."""
    return {found.decode() for found in re.findall(rb"/(?:world|robot)/\w+", text)}


class Tab:
    """One tab of the browser with the page.

    Args:
        page: The tab, of playwright.
        address: Address of the page.
        is_rare: Draw rarely; False for pictures.
        first: A button that the page has once it is complete.
    """

    def __init__(self, page: Any, address: str, *, is_rare: bool, first: str = "Run") -> None:
        self.page, self._seen = page, Counter[str]()
        self._awaited: set[bytes] = set()
        self.foreign: list[str] = []
        page.set_default_timeout(WAIT_MS)
        page.on("request", lambda request: self._note(request.url, address))
        page.on("websocket", lambda socket: socket.on("framereceived", self._frame))
        if is_rare:
            page.add_init_script(RARELY)
        page.goto(address)
        self.button(first).wait_for()

    def _note(self, url: str, address: str) -> None:
        if not url.startswith((address.partition("?")[0], "data:", "blob:")):
            self.foreign.append(url)

    def _frame(self, payload: Any) -> None:
        if isinstance(payload, bytes):
            text = unpacked(payload)
            self._seen.update(nodes_in(text))
            self._awaited = {one for one in self._awaited if not re.search(one, text)}

    def moved(self) -> set[str]:
        """Return the nodes of the scene of which the browser has received something since the last call."""
        seen, self._seen = self._seen, Counter()
        return set(seen)

    def count_updates(self, node: str) -> int:
        """Return how often the browser has received something of a node since the last call."""
        count = self._seen[node]
        self._seen = Counter()
        return count

    def close(self) -> None:
        """Close the tab."""
        self.page.close()

    def button(self, name: str) -> Any:
        """Return a button."""
        return self.page.get_by_role("button", name=name, exact=True)

    def press(self, name: str) -> None:
        """Press a button."""
        self.button(name).click(force=True)

    def open(self, tab: str) -> None:
        """Open a tab of a panel."""
        self.page.get_by_role("tab", name=tab, exact=True).click(force=True)

    def choose(self, label: str, value: str) -> None:
        """Choose a value of a list."""
        self.page.get_by_label(label, exact=True).first.click(force=True)
        self.page.get_by_role("option", name=value, exact=True).first.click(force=True)

    def pick(self, name: str, button: str = "Run") -> None:
        """Fill in the form of a pick of an object, and press a button below it."""
        self.open("Run")
        self.choose("skill", "pick")
        self.choose("object", name)
        self.press(button)

    def give_file(self, button: str, path: Path) -> None:
        """Press a button that asks for a file, and give it one."""
        with self.page.expect_file_chooser() as asked:
            self.press(button)
        asked.value.set_files(path)

    def wait_text(self, pattern: str) -> None:
        """Wait until the page shows a text."""
        self.page.get_by_text(re.compile(pattern)).filter(visible=True).first.wait_for()

    def press_and_receive(self, name: str, pattern: str) -> None:
        """Press a button, and wait until the browser received a text, which it may show for less than one picture."""
        self._awaited.add(pattern.encode())
        self.press(name)
        end_s = time.monotonic() + WAIT_MS / 1e3
        while self._awaited and time.monotonic() < end_s:
            self.page.wait_for_timeout(100)  # frames are taken meanwhile
        assert not self._awaited, f"the browser has not received {self._awaited}"

    def text(self) -> str:
        """Return all text that the page shows."""
        return str(self.page.inner_text("body"))

    def pixel_of(self, world_p: Any) -> tuple[float, float]:
        """Return where the first camera shows a point of the world, px in the window."""
        box = self.page.locator("canvas").first.bounding_box()
        eye, target = (np.array(row) for row in CAMERA)
        forward = (target - eye) / np.linalg.norm(target - eye)
        right = np.cross(forward, (0.0, 0.0, 1.0))
        right /= np.linalg.norm(right)
        seen = np.array([right, np.cross(right, forward), forward]) @ (np.asarray(world_p) - eye)
        focal = 0.5 * box["height"] / np.tan(FIELD_OF_VIEW / 2.0)
        x = box["x"] + 0.5 * box["width"] + focal * seen[0] / seen[2]
        return float(x), float(box["y"] + 0.5 * box["height"] - focal * seen[1] / seen[2])

    def drawn(self, pictures: int = 2) -> None:
        """Wait until the browser has drawn what it has received by now, however slowly it draws."""
        for _ in range(pictures):
            self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => done(true)))")

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag with the mouse from one pixel to another."""
        mouse = self.page.mouse
        mouse.move(*start)
        self.drawn()
        mouse.down()
        for share in np.linspace(0.2, 1.0, 5):
            mouse.move(*(np.array(start) + share * (np.array(end) - np.array(start))).tolist())
            self.drawn(1)
        mouse.up()


@contextmanager
def browser(*, is_sharp: bool = False) -> Iterator[Any]:
    """Run the browser, which draws rarely and coarsely unless it is sharp; yields a function that opens a new tab."""
    program = chromium()
    from playwright.sync_api import sync_playwright

    def open_tab(address: str, first: str = "Run") -> Tab:
        page = started.new_page(viewport=SIZE, device_scale_factor=1.0 if is_sharp else PIXELS)
        return Tab(page, address, is_rare=not is_sharp, first=first)

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=program, headless=True, args=list(FLAGS))
        try:
            yield open_tab
        finally:
            started.close()
