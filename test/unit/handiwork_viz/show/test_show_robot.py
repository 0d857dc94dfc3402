"""The page shows the robot and follows its sliders; the pictures show the frames."""

from __future__ import annotations

import socket
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import viser
from PIL import Image as Pictures

from handiwork_cli.cli import main
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_viz.film.solids import link_solids
from handiwork_viz.show.page_guard import PageNotGuarded, refusal
from handiwork_viz.show.robot_page import RobotPage
from handiwork_viz.show.robot_picture import (
    LONG,
    PANEL_PX,
    axes_solid,
    draw_robot,
    head_camera,
)
from support.paths import ROBOTS

FR3 = ROBOTS / "fr3"
LIMIT_S = 60.0


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot(FR3)


@pytest.fixture(scope="module")
def page(robot: Robot) -> Iterator[RobotPage]:
    page = RobotPage(robot, FR3, "127.0.0.1", 0)
    yield page
    page.close()


def test_the_page_is_served_without_a_display(page: RobotPage) -> None:
    with urllib.request.urlopen(f"http://127.0.0.1:{page.port}/", timeout=LIMIT_S) as answer:
        assert answer.status == 200
        assert b"<html" in answer.read()


def answer(port: int, *lines: str) -> bytes:
    """Return the status line of the response to raw request lines.

    Args:
        port: Port of the page.
        lines: Header lines of the request.
    """
    with socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S) as link:
        link.sendall("\r\n".join(("GET / HTTP/1.1", *lines, "", "")).encode())
        return link.makefile("rb").readline().strip()


UPGRADE = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13")
UPGRADE += ("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol: viser-v0.0.0")


@pytest.mark.parametrize("more", [(), UPGRADE], ids=["page", "websocket"])
def test_foreign_pages_are_refused(page: RobotPage, more: tuple[str, ...]) -> None:
    own = f"127.0.0.1:{page.port}"
    good = b"HTTP/1.1 101 Switching Protocols" if more else b"HTTP/1.1 200 OK"
    for host in (own, f"localhost:{page.port}", f"[::1]:{page.port}", "localhost:9000"):
        assert answer(page.port, f"Host: {host}", *more) == good
        assert answer(page.port, f"Host: {host}", f"Origin: http://{host}", *more) == good
    bad = [
        ("Host: evil.example",),
        (f"Host: evil.example:{page.port}", f"Origin: http://evil.example:{page.port}"),
        ("Host: 203.0.113.7",),
        ("Host: localhost.evil.example",),
        ("Host: [",),
        (),
        (f"Host: {own}", "Origin: http://evil.example"),
        (f"Host: {own}", "Origin: http://127.0.0.1:1"),
        (f"Host: {own}", "Origin: null"),
        (f"Host: {own}", "Host: evil.example"),
        (f"Host: {own}", f"Origin: http://{own}", "Origin: http://evil.example"),
    ]
    for lines in bad:
        assert answer(page.port, *lines, *more) == b"HTTP/1.1 403 Forbidden", lines


def test_an_address_that_others_reach_has_its_own_names() -> None:
    assert not refusal(["192.168.0.2:8080"], [], "0.0.0.0")
    assert not refusal(["robot.local:8080"], ["http://robot.local:8080"], "robot.local")
    assert "Host 'evil.example'" in refusal(["evil.example"], [], "0.0.0.0")


def test_nothing_is_served_where_viser_cannot_be_guarded(
    robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped: list[bool] = []
    other = SimpleNamespace(stop=lambda: stopped.append(True))
    monkeypatch.setattr(viser, "ViserServer", lambda **_named: other)
    with pytest.raises(PageNotGuarded, match="unknown way"):
        RobotPage(robot, FR3, "127.0.0.1", 0)
    assert stopped


def test_it_holds_every_link_its_spheres_and_frames(page: RobotPage, robot: Robot) -> None:
    assert list(page.links) == list(robot.links)
    assert set(page.spheres) == {item.link for item in robot.spheres}
    assert {"fr3_link1", "fr3_hand"} <= set(page.shapes)
    names = [node.name for node in page.frames]
    assert {"/fr3_hand/fr3_arm_ee", "/fr3_hand_tcp/fr3_arm_tcp"} <= set(names)
    assert set(page.sliders) == {*robot.arm("").joint_names, "fr3_finger_joint1"}


def test_links_begin_at_home_and_follow_a_slider(page: RobotPage, robot: Robot) -> None:
    def shown(link: str) -> Pose:
        node = page.links[link]
        return Pose.of(node.position, Rotation.from_wxyz(node.wxyz))

    for link, pose in link_poses(robot, {}).items():
        assert shown(link).almost_equal(pose, within_m=1e-6, within_rad=1e-6)
    moved = threading.Event()
    page.sliders["fr3_joint1"].on_update(lambda _event: moved.set())  # called after the page's own
    page.sliders["fr3_joint1"].value = 1.0
    assert moved.wait(LIMIT_S)
    for link, pose in link_poses(robot, page.positions()).items():
        assert shown(link).almost_equal(pose, within_m=1e-6, within_rad=1e-6)
    assert page.positions()["fr3_joint1"] == pytest.approx(1.0, abs=0.01)


def test_the_arrows_of_a_frame_are_its_axes() -> None:
    pose = Pose.of((0.1, 0.2, 0.3), Rotation.from_rpy(0.3, -0.5, 0.8))
    solid = axes_solid(pose, 0.2)
    for axis in range(3):
        rows = solid.colors.argmax(axis=1) == axis
        tips = pose.inverse().apply(solid.corners[rows].reshape(-1, 3))
        assert tips[:, axis].max() > 0.2
        assert np.abs(np.delete(tips, axis, axis=1)).max() < 0.02


def test_the_picture_shows_the_frames_where_the_camera_sees_them(robot: Robot) -> None:
    picture = draw_robot(robot, FR3, robot.arm(""))
    width, height = PANEL_PX
    assert picture.size == (3 * width, height)
    poses = link_poses(robot, {})
    body = [
        solid.moved(poses[name]).corners.reshape(-1, 3) for name, solid in link_solids(robot, FR3).items()
    ]
    points = np.concatenate(body)
    length, camera = LONG * float(np.ptp(points, axis=0).max()), head_camera(points)
    for panel, link in ((0, "fr3_hand"), (1, "fr3_hand_tcp")):
        for axis in (0, 2):  # the hand hides a part of y
            tip = poses[link].apply(1.02 * length * np.eye(3)[axis])
            x, y, _ = camera.project(tip, width, height)
            pixel = picture.getpixel((panel * width + int(x), int(y)))
            assert int(np.argmax(pixel)) == axis, (link, axis, pixel)


def test_draw_robots_writes_small_pictures(tmp_path: Path) -> None:
    assert main(["draw-robots", "fr3", "--out", str(tmp_path)]) == 0
    path = tmp_path / "fr3.png"
    assert path.stat().st_size < 60_000
    with Pictures.open(path) as picture:
        assert picture.size == (3 * PANEL_PX[0], PANEL_PX[1])


@pytest.mark.parametrize("command", ["show-robot", "draw-robots"])
def test_an_unknown_robot_is_named(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "fr33"]) == 2
    assert "'fr33' has no robot.yaml; did you mean 'fr3'?" in capsys.readouterr().err
