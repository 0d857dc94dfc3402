"""cuRobo's robot configuration with the offsets that our spheres need, for one arm or for arms that move together."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from handiwork_core.robot.followers import links_moved_by
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_planning.fallback_engine import EngineLost
from robot_description.formats.curobo_config import CuroboUse, curobo_config, follower_fault, held_link

from .spheres import HELD_SPHERES, self_offsets


def check_followers(robot: Robot) -> None:
    """Refuse a robot whose arms have joints that follow theirs, as a palletiser's do.

    Args:
        robot: The robot.

    Raises:
        EngineLost: It has such joints.
    """
    if fault := follower_fault(robot):
        raise EngineLost(fault)


@contextmanager
def robot_config(
    robot: Robot, arms: Sequence[ArmSpec], held_spheres: int = HELD_SPHERES
) -> Iterator[dict[str, Any]]:
    """Provide cuRobo's configuration for arms that plan together.

    Args:
        robot: The robot.
        arms: The arms.
        held_spheres: Number of spheres for the objects that each arm holds.

    Yields:
        The configuration. The URDF file that it names exists while the context lasts.
    """
    held = held_links(arms)
    offsets = self_offsets(robot, arms[0], held[arms[0].name])
    for arm in arms[1:]:
        moved = links_moved_by(robot.joints, arm.joint_names) | {held[arm.name]}
        own = self_offsets(robot, arm, held[arm.name])
        offsets |= {link: offset for link, offset in own.items() if link in moved}
    with tempfile.TemporaryDirectory() as folder:
        urdf = Path(folder) / f"{robot.name}.urdf"
        urdf.write_text(robot.urdf)
        config = curobo_config(robot, urdf, _use(arms, held_spheres))
        config["robot_cfg"]["kinematics"]["self_collision_buffer"] = offsets
        yield config


def held_links(arms: Sequence[ArmSpec]) -> dict[str, str]:
    """Return the links that carry the spheres of held objects.

    Args:
        arms: The arms that plan together.

    Returns:
        Name of the arm -> name of its link.
    """
    use = _use(arms)
    return {arm.name: held_link(use, arm.name) for arm in arms}


def _use(arms: Sequence[ArmSpec], held_spheres: int = HELD_SPHERES) -> CuroboUse:
    return CuroboUse(tuple(arm.name for arm in arms), held_spheres=held_spheres)
