"""Names under which states and actions are exported: those of LeRobot, and those of InternData-A1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.scene.loader import Scene
from handiwork_data.episodes.episode import Episode
from handiwork_data.episodes.recorder import as_row

from .source import Source
from .transitions import Transitions, transitions

POSE = (
    "position.x", "position.y", "position.z", "quaternion.w", "quaternion.x", "quaternion.y", "quaternion.z",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Feature:
    """A column of an exported episode.

    Attributes:
        name: Its name.
        values: A row for each transition, (n, d): float32 or bool.
        names: Names of the d values.
    """

    name: str
    values: NDArray[Any]
    names: tuple[str, ...]


Features = Callable[[Episode, Source], list[Feature]]


def _floats(name: str, values: Array, names: Sequence[str]) -> Feature:
    return Feature(name, np.asarray(values, dtype=np.float32).reshape(len(values), -1), tuple(names))


def _ends(made: Transitions) -> list[Feature]:
    """Return what each transition leads to."""
    done = np.zeros((len(made.actions), 1), dtype=bool)
    done[-1] = True
    return [
        _floats("next.reward", made.rewards, ("reward",)),
        Feature("next.done", done, ("done",)),
        Feature("next.success", made.rewards[:, None] > 0.0, ("success",)),
    ]


def lerobot_features(episode: Episode, _source: Source) -> list[Feature]:
    """Return the columns as LeRobot's policies expect them.

    Args:
        episode: The episode.
        _source: Not needed.

    Raises:
        EpisodeError: It has fewer than two samples.
    """
    made, meta = transitions(episode), episode.meta
    index = {name: i for i, name in enumerate(meta.joints)}
    widths = {f"{arm}_gripper": episode.columns["gripper_width"][:-1, i] for i, arm in enumerate(meta.arms)}
    positions = episode.columns["joint_position"][:-1]
    state = [positions[:, index[name]] if name in index else widths[name] for name in made.action_names]
    poses = [f"{arm}.{part}" for arm in meta.arms for part in POSE]
    objects = [f"{name}.{part}" for name in meta.objects for part in POSE]
    found = [
        _floats("observation.state", np.stack(state, axis=1), made.action_names),
        _floats("observation.ee_pose", made.observations["ee_pose"], poses),
        _floats("action", made.actions, made.action_names),
        *_ends(made),
    ]
    if objects:
        found.insert(2, _floats("observation.environment_state", made.observations["object_pose"], objects))
    return found


class InternDataFeatures:
    """Returns the columns under the names of InternData-A1; two arms ``left_arm`` and ``right_arm`` have prefixes.

    Args:
        robot: The robot.
        scene: The scene.

    Raises:
        ConfigError: The robot has a mobile base, for which these names have no columns.
    """

    def __init__(self, robot: Robot, scene: Scene) -> None:
        if robot.base is not None:
            text = "has a mobile base, and the names interndata_a1 have one place of the robot; use --names lerobot"
            raise ConfigError(f"robot {robot.name!r}", [text])
        self._robot, self._scene = robot, scene

    def __call__(self, episode: Episode, source: Source) -> list[Feature]:
        """Return the columns of an episode; see ``Features``.

        Args:
            episode: The episode.
            source: Where its pictures are.

        Raises:
            EpisodeError: It has fewer than two samples, or its pictures are damaged.
        """
        made, columns = transitions(episode), episode.columns
        found: list[Feature] = []
        measured, asked = columns["joint_position"][:-1], columns["joint_command"][1:]
        # A joint without a servo has no reference: it stays where it was measured.
        asked = np.where(np.isnan(asked), columns["joint_position"][1:], asked)
        for row, arm in enumerate(episode.meta.arms):
            spec, widths = self._robot.arms[arm], columns["gripper_width"][:-1, row]
            opened = columns["gripper_command"][1:, row]
            actions = self._of_arm("actions", spec, episode, asked, opened)
            # No person leads the robot: its commands are also those of the master.
            masters = [replace(one, name=f"master_{one.name}") for one in actions if one.names != POSE]
            found += [*self._of_arm("states", spec, episode, measured, widths), *actions, *masters]
        base = np.tile(as_row(self._scene.world_T_base), (len(measured), 1))
        found.append(_floats("states.robot_to_env_pose", base, POSE))
        for camera in source.cameras:
            found += self._of_camera(episode, source, camera)
        return [*found, *_ends(made)]

    def _of_arm(
        self, kind: str, spec: ArmSpec, episode: Episode, joints: Array, widths: Array
    ) -> list[Feature]:
        robot, prefix = self._robot, prefix_of(spec, self._robot)
        index = {name: i for i, name in enumerate(episode.meta.joints)}
        own = joints[:, [index[name] for name in spec.joint_names]]
        names = [f"{prefix}joint_{i}" for i in range(own.shape[1])]
        found = [_floats(f"{kind}.{prefix}joint.position", own, names)]
        if spec.gripper is not None:
            title = [f"{prefix}gripper_0"]
            found.append(_floats(f"{kind}.{prefix}gripper.position", widths, title))
            if kind == "actions":
                share = np.clip(widths / spec.gripper.max_width_m, 0.0, 1.0)
                found.append(_floats(f"{kind}.{prefix}gripper.openness", share, title))
        frames = {"ee": spec.ee_link, "tcp": spec.tcp_link or spec.ee_link}
        links = (spec.base_link, *frames.values())
        rows: dict[str, list[Array]] = {}
        for sample in joints:
            poses = link_poses(robot, dict(zip(episode.meta.joints, sample.tolist(), strict=True)), links)
            armbase_T_robot = poses[spec.base_link].inverse()
            for frame, link in frames.items():
                rows.setdefault(f"{frame}_to_{prefix}armbase_pose", []).append(
                    as_row(armbase_T_robot @ poses[link])
                )
                rows.setdefault(f"{frame}_to_robot_pose", []).append(as_row(poses[link]))
        return found + [
            _floats(f"{kind}.{prefix}{name}", np.array(value), POSE) for name, value in rows.items()
        ]

    def _of_camera(self, episode: Episode, source: Source, camera: str) -> list[Feature]:
        assert source.images is not None
        number, count = episode.meta.episode, len(episode.columns["time"]) - 1
        _, values = source.images.read_values(number, camera, ("intrinsics", "world_T_optical"))
        matrix = values["intrinsics"]
        pinhole = np.tile([matrix[0, 0], matrix[1, 1], matrix[0, 2], matrix[1, 2]], (count, 1))
        base_T_world = self._scene.world_T_base.inverse()
        poses = [
            as_row(base_T_world @ Pose.of(row[:3], Rotation.from_wxyz(row[3:])))
            for row in values["world_T_optical"][:count]
        ]
        return [
            _floats(f"{camera}_camera_intrinsics", pinhole, ("fx", "fy", "cx", "cy")),
            _floats(f"{camera}_camera_to_robot_extrinsics", np.array(poses), POSE),
        ]


def prefix_of(spec: ArmSpec, robot: Robot) -> str:
    """Return the prefix of an arm's names: empty for the only one, ``left_`` for ``left_arm``.

    Args:
        spec: The arm.
        robot: The robot.
    """
    return "" if len(robot.arms) == 1 else f"{spec.name.removesuffix('_arm')}_"
