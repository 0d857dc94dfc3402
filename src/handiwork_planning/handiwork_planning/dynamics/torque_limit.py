"""Slows motions until the joints can carry what the arm holds, and refuses those that no pace makes possible."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping

import numpy as np

from handiwork_core.contracts.planning import SceneQuery
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.robot.followers import followers_of
from handiwork_core.robot.robot import ArmSpec, Robot

from .arm_bodies import ArmMasses
from .inverse_dynamics import ArmBodies, joint_torques
from .loads import Load, loads_of

BELOW = 0.95
"""Share of a joint's effort limit that planned motions use; the model has no friction and no inertia of rotors."""
MOST_STRETCH = 10.0
"""A motion that needs more than this many times its duration is refused: hardly any torque is left to move with."""
MOST_MODELS = 8
"""Positions of the other joints, such as a lift, for which the arms' masses are kept."""


class TorqueLimit:
    """The effort limits of the arms of one robot. They count while an arm holds an object with a mass.

    Any thread may call it: batches are planned beside other requests.

    Args:
        robot: The robot; its URDF has masses, inertias and effort limits.
        world_T_root: Pose of its root link.

    Attributes:
        unchecked: Joints of arms without a usable effort limit, each with the reason in words, by name.
    """

    def __init__(self, robot: Robot, world_T_root: Pose) -> None:
        self._robot, self._world_T_root = robot, world_T_root
        self._models: OrderedDict[object, ArmMasses] = OrderedDict()
        self._lock = threading.Lock()
        self._below = {name: _below(robot, arm) for name, arm in robot.arms.items()}
        self.unchecked = {
            name: why for arm in robot.arms.values() for name, why in self._unusable(arm).items()
        }

    def kept(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, world: World
    ) -> tuple[Trajectory, Outcome]:
        """Return a motion in as much more time as the effort limits ask for; its path is the same.

        Args:
            arm: Name of the arm.
            trajectory: Its motion.
            scene: The scene that it was planned in, with what the arm holds.
            world: The world with the masses of the objects.

        Returns:
            The motion, the same one where it is slow enough, and OK; else PLAN_FAILED with joint, torque and load.
        """
        spec = self._robot.arm(arm)
        held = loads_of(self._robot, spec, trajectory, scene, world, self._world_T_root)
        if not held or not np.isfinite(self._effort(spec)).any():
            return trajectory, OK
        bodies, gravity = self._bodies(spec, scene, held)
        limit = BELOW * self._effort(spec)
        torque = _torques(bodies, gravity, trajectory)
        if (np.abs(torque) <= limit).all():
            return trajectory, OK
        rest = _torques(bodies, gravity, trajectory, is_still=True)
        # In s times the duration the torque is that at rest and 1 / s^2 of the rest.
        moving = torque - rest
        room = np.where(moving > 0.0, limit - rest, limit + rest)
        with np.errstate(divide="ignore", invalid="ignore"):
            squared = np.where(np.abs(moving) > 0.0, np.abs(moving) / room, 0.0)
        squared = np.where((np.abs(rest) >= limit) | (squared > MOST_STRETCH**2), np.inf, squared)
        if not np.isfinite(squared).all():
            share = np.where(np.isinf(squared), np.abs(rest) / limit, 0.0)
            i, j = np.unravel_index(int(share.argmax()), share.shape)
            return trajectory, Outcome(Code.PLAN_FAILED, self._too_heavy(spec, held, int(j), rest[i, j]))
        stretch = float(np.sqrt(squared.max()))
        slower = trajectory.stretched(stretch)
        return slower, OK

    def judged(self, arm: str, trajectory: Trajectory, scene: SceneQuery, world: World) -> Outcome:
        """Judge whether the joints can carry what the arm holds along a motion.

        Args:
            arm: Name of the arm.
            trajectory: Its motion.
            scene: The scene with what the arm holds.
            world: The world with the masses of the objects.

        Returns:
            OK, or TRAJECTORY_REFUSED with the joint, its torque and its limit.
        """
        spec = self._robot.arm(arm)
        held = loads_of(self._robot, spec, trajectory, scene, world, self._world_T_root)
        if not held or not np.isfinite(self._effort(spec)).any():
            return OK
        bodies, gravity = self._bodies(spec, scene, held)
        limit = self._effort(spec)
        torque = np.abs(_torques(bodies, gravity, trajectory))
        over = torque - limit
        if over.max() <= 0.0:
            return OK
        i, j = np.unravel_index(int(over.argmax()), over.shape)
        text = (
            f"the trajectory needs {torque[i, j]:.0f} {self._unit(spec, int(j))} of joint {spec.joint_names[j]} at "
            f"sample {i}, more than its {limit[j]:.0f}, with {_names(held)} in the hand; move more slowly"
        )
        return Outcome(Code.TRAJECTORY_REFUSED, text)

    def _too_heavy(self, arm: ArmSpec, held: tuple[Load, ...], joint: int, torque: float) -> str:
        name, unit = arm.joint_names[joint], self._unit(arm, joint)
        return (
            f"joint {name} needs {abs(torque):.0f} {unit} of its {self._robot.joints[name].effort:.0f} to hold "
            f"{_names(held)} still on the way, which leaves too little to move with; keep it nearer to the base, "
            "or take a lighter object"
        )

    def _unit(self, arm: ArmSpec, joint: int) -> str:
        return "N" if self._robot.joints[arm.joint_names[joint]].type is JointKind.PRISMATIC else "Nm"

    def _bodies(self, arm: ArmSpec, scene: SceneQuery, held: tuple[Load, ...]) -> tuple[ArmBodies, Array]:
        model = self._model(arm, dict(scene.gripper_m))
        return model.bodies([(load.attachment, load.body) for load in held]), model.gravity

    def _model(self, arm: ArmSpec, positions: Mapping[str, float]) -> ArmMasses:
        others = {name: value for name, value in positions.items() if name in self._below[arm.name]}
        key = (arm.name, tuple(sorted(others.items())))
        with self._lock:
            model = self._models.get(key)
            if model is None:
                model = self._models[key] = ArmMasses(self._robot, arm, others, self._world_T_root)
                if len(self._models) > MOST_MODELS:
                    self._models.popitem(last=False)
            self._models.move_to_end(key)
        return model

    def _effort(self, arm: ArmSpec) -> Array:
        """Return the effort limit of each joint, (n,), Nm or N; inf where it is not checked."""
        return np.array(
            [
                np.inf if name in self.unchecked else self._robot.joints[name].effort
                for name in arm.joint_names
            ]
        )

    def _unusable(self, arm: ArmSpec) -> dict[str, str]:
        if any(any(followers_of(self._robot.joints, name)) for name in arm.joint_names):
            text = "links follow joints of the arm by <mimic>, and their masses are not taken into account"
            return dict.fromkeys(arm.joint_names, text)
        model = self._model(arm, {})
        q = np.array([arm.home_q])
        rest = np.abs(joint_torques(model.bodies(), model.gravity, q, np.zeros_like(q), np.zeros_like(q))[0])
        found = {}
        for name, torque in zip(arm.joint_names, rest, strict=True):
            effort = self._robot.joints[name].effort
            if effort <= 0.0:
                found[name] = "the URDF has no effort limit"
            elif torque >= effort:
                found[name] = f"at home the arm alone needs {torque:.0f} Nm of the {effort:g} Nm in the URDF"
        return found


def _below(robot: Robot, arm: ArmSpec) -> frozenset[str]:
    """Return the joints that decide where gravity points for an arm, such as those of a waist; a base drives level."""
    above = {joint.child: joint for joint in robot.joints.values()}
    found, link = set[str](), robot.joints[arm.joint_names[0]].parent
    while link in above:
        found.add(above[link].name)
        link = above[link].parent
    return frozenset(found).difference(() if robot.base is None else robot.base.joint_names)


def _names(held: tuple[Load, ...]) -> str:
    return " and ".join(
        f"{load.attachment.object!r} ({load.body.mass_kg:g} kg{', its share' if load.is_shared else ''})"
        for load in held
    )


def _torques(bodies: ArmBodies, gravity: Array, trajectory: Trajectory, *, is_still: bool = False) -> Array:
    """Return the torques (k, n) at the samples; ``is_still``: as if the arm rested at each."""
    # Copies: a kernel is compiled again for arrays that must not be written to.
    q, qd, qdd = (np.array(values, order="C") for values in (trajectory.q, trajectory.qd, trajectory.qdd))
    if is_still:
        qd[:], qdd[:] = 0.0, 0.0
    return joint_torques(bodies, gravity, q, qd, qdd)
