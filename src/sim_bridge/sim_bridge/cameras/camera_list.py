"""The cameras of a robot in a scene."""

from __future__ import annotations

from handiwork_core.cameras.camera import Camera
from handiwork_core.config.dataclass_loader import ConfigError, nearest
from handiwork_core.robot.robot import Robot
from handiwork_core.scene.loader import Scene


def all_cameras(robot: Robot, scene: Scene) -> tuple[Camera, ...]:
    """Return the cameras of the scene, then those of the robot.

    Args:
        robot: The robot.
        scene: The scene.

    Raises:
        ConfigError: A camera of the scene is on a link that this robot does not have, or has the name of another one.
    """
    faults, taken = [], {camera.name for camera in robot.cameras}
    for camera in scene.cameras:
        key = f"cameras.{camera.name}"
        if camera.name in taken:
            faults.append(f"{key}: is also a camera of robot {robot.name!r}; give it another name")
        if camera.link and camera.link not in robot.links:
            text = f"robot {robot.name!r} has no link {camera.link!r}"
            faults.append(f"{key}.link: {text}; {nearest(camera.link, robot.links)}")
    if faults:
        raise ConfigError(scene.source, faults)
    return (*scene.cameras, *robot.cameras)
