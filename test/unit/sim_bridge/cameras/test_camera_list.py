"""The cameras of a robot in a scene, and the sentence where no library draws."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handiwork_core.cameras.camera_file import CameraFile
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from sim_bridge.cameras.camera_list import all_cameras
from sim_bridge.cameras.renderer import choose_library
from support.paths import ROBOTS, ROOT

ROBOT = load_robot(ROBOTS / "fr3")
SCENE = load_scene(ROOT / "config" / "scenes" / "cameras.yaml")


def test_the_cameras_of_scene_and_robot_are_one_list() -> None:
    head = CameraFile(link="fr3_link2", fov=1.0).build("head")
    found = all_cameras(replace(ROBOT, cameras=(head,)), SCENE)
    assert [(one.name, one.link) for one in found] == [
        ("overview", ""),
        ("wrist", "fr3_hand"),
        ("head", "fr3_link2"),
    ]


def test_a_link_that_the_robot_lacks_and_a_name_that_is_taken_are_refused() -> None:
    strange = CameraFile(link="fr3_hnad", fov=1.0).build("second")
    same = CameraFile(fov=1.0).build("wrist")
    robot = replace(ROBOT, cameras=(CameraFile(link="fr3_hand", fov=1.0).build("wrist"),))
    with pytest.raises(ConfigError) as caught:
        all_cameras(robot, replace(SCENE, cameras=(strange, same)))
    text = str(caught.value)
    assert "cameras.second.link: robot 'fr3' has no link 'fr3_hnad'" in text
    assert "fr3_hand'" in text
    assert "cameras.wrist: is also a camera of robot 'fr3'" in text


@pytest.mark.processes
def test_where_nothing_draws_one_sentence_says_what_to_install() -> None:
    with pytest.raises(
        ValueError, match=r"no OpenGL library draws .* \(none: .*MUJOCO_GL.*apt install libegl1"
    ):
        choose_library({"PATH": "/usr/bin", "MUJOCO_GL": "none"})
