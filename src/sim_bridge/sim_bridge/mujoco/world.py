"""The simulated world: a robot and a scene in MuJoCo. No ROS, no controllers, and only simulated time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from handiwork_core.control.joint_groups import Indices, JointArrays
from handiwork_core.model.geometry import (
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.world import Contact, ObjectState
from handiwork_core.robot.robot import Robot
from handiwork_core.safety.contact_forces import net_forces
from handiwork_core.safety.robot_model import arm_of_links
from handiwork_core.scene.loader import Scene
from sim_bridge.mujoco.belts import Belts
from sim_bridge.mujoco.contacts import body_contacts
from sim_bridge.mujoco.cup_slip import CupSlip
from sim_bridge.mujoco.force_sensor import ForceSensor
from sim_bridge.mujoco.parts import part_state, put_at_start, put_part
from sim_bridge.mujoco.state_snapshot import kept_state, put_state
from sim_bridge.mujoco.suction import SuctionCup, cups_of
from sim_bridge.mujoco.world_model import (
    STEP_S,
    compile_model,
    drawn_home,
    driven_joints,
    home_positions,
)

NO_MOTION = frozen((0.0, 0.0, 0.0))
"""Velocity of an object that does not move."""


class MujocoWorld:
    """Robot and scene with their state. One thread at a time may use it.

    Args:
        robot: The robot; its URDF becomes the bodies ``<robot>/<link>``.
        scene: The scene; its objects become bodies of their own names.
        sleeps: Bodies at rest are not computed until one that moves touches them.
        slip: How objects slide under the lips of suction cups; None: not at all.
    """

    def __init__(
        self, robot: Robot, scene: Scene, *, sleeps: bool = False, slip: CupSlip | None = None
    ) -> None:
        import mujoco  # heavy, and only this file needs it

        self._mj: Any = mujoco
        self.robot, self._sleeps, self._slip = robot, sleeps, slip
        self.joint_names = tuple(joint.name for joint in driven_joints(robot))
        self._arm_of = {f"{robot.name}/{link}": arm for link, arm in arm_of_links(robot).items()}
        self._arm_forces = np.zeros((len(robot.arms), 3))
        self._load(scene, 0.0)

    def _load(self, scene: Scene, time_s: float, home_seed: int | None = None) -> None:
        self.scene = scene
        self.model = compile_model(self._mj, self.robot, scene)
        if self._sleeps:
            self.model.opt.enableflags |= int(self._mj.mjtEnableBit.mjENBL_SLEEP)
        self.data = self._mj.MjData(self.model)
        self.data.time = time_s
        joints = [self.model.joint(f"{self.robot.name}/{name}") for name in self.joint_names]
        self._q = np.array([joint.qposadr[0] for joint in joints])
        self._v = np.array([joint.dofadr[0] for joint in joints])
        self._servo = np.array([self._actuator(name) for name in self.joint_names])
        self._rate = np.array([self._actuator(f"{name}/rate") for name in self.joint_names])
        self._free = {
            item.name: (
                int(self.model.joint(item.name).qposadr[0]),
                int(self.model.joint(item.name).dofadr[0]),
            )
            for item in scene.objects
            if not item.body.is_static and item.body.articulation is None
        }
        self._still: dict[str, Pose] = {}
        self._inputs_of: dict[bytes, tuple[Indices, Indices, Indices, Indices]] = {}
        self._bodies = tuple(self.model.body(i).name for i in range(self.model.nbody))
        arms = list(self.robot.arms)
        self._arm_of_body = np.array(
            [arms.index(self._arm_of[name]) if name in self._arm_of else -1 for name in self._bodies]
        )
        home = home_positions(self.robot if home_seed is None else drawn_home(self.robot, home_seed))
        start = np.array([home.get(name, 0.0) for name in self.joint_names])
        self.data.qpos[self._q] = start
        put_at_start(self.data, scene.objects)
        self.belts = Belts(self.model, self.data, scene)
        self.cups: dict[str, SuctionCup] = cups_of(
            self._mj, self.model, self.data, self.robot, scene, self._slip
        )
        self.force_sensors = {
            name: ForceSensor(self._mj, self.model, self.data, f"{self.robot.name}/{arm.ee_link}")
            for name, arm in self.robot.arms.items()
        }
        self.command(np.arange(len(self.joint_names)), start, np.zeros(len(start)))
        self._mj.mj_forward(self.model, self.data)
        self.arm_forces()  # loads its kernel: on a busy machine that takes a second, in which the arm would look lost

    def _actuator(self, name: str) -> int:
        return int(
            self._mj.mj_name2id(self.model, self._mj.mjtObj.mjOBJ_ACTUATOR, f"{self.robot.name}/{name}")
        )

    @property
    def time_s(self) -> float:
        """The simulated time, s; it never goes back, also not at a reset."""
        return float(self.data.time)

    def indices(self, names: Sequence[str]) -> Indices:
        """Return the indices of joints in ``joint_names``.

        Args:
            names: Names of the joints.
        """
        return np.array([self.joint_names.index(name) for name in names])

    def step(self, count: int = 1) -> None:
        """Advance by physics steps of ``world_model.STEP_S``.

        Args:
            count: Number of steps.
        """
        if not self.belts:
            self._mj.mj_step(self.model, self.data, count)
            return
        for _ in range(count):
            self.belts.hold(STEP_S)
            self._mj.mj_step(self.model, self.data)

    def reset(self, scene: Scene, home_seed: int | None = None) -> None:
        """Start again with ``scene``: robot at home, everything at rest, the clock continues.

        Args:
            scene: The scene.
            home_seed: Seed of the arms' positions, which are drawn by ``home_std``; None for home itself.
        """
        self._load(scene, self.time_s, home_seed)

    def change(self, scene: Scene) -> None:
        """Add or remove objects: the objects that both scenes have continue, and so does the robot.

        Args:
            scene: The new scene.

        Raises:
            ValueError: A cup holds something, or the simulator refuses the scene; nothing has changed then.
        """
        held = [f"{name!r} holds {cup.object!r}" for name, cup in self.cups.items() if cup.object]
        if held:
            raise ValueError(f"cup {', '.join(held)}; switch it off first")
        before, belts, kept = self.scene, self.belts, kept_state(self.model, self.data)
        cups_on = [name for name, cup in self.cups.items() if cup.on]
        try:
            self._load(scene, self.time_s)
        except ValueError:
            self.scene = before
            raise
        put_state(self.model, self.data, kept)
        self._still.clear()
        self.belts.run_on(belts)
        for name in cups_on:
            self.cups[name].switch(on=True)
        self._mj.mj_forward(self.model, self.data)

    def continue_from(self, before: MujocoWorld) -> None:
        """Continue with the time, the objects and the joints of another world; other joints stay at home.

        Args:
            before: A world of the same scene, whose robot may be another one with the same joints in its arms.
        """
        kept = kept_state(before.model, before.data).renamed(before.robot.name, self.robot.name)
        self.data.time = before.time_s
        put_state(self.model, self.data, kept)
        self._still.clear()
        self.belts.run_on(before.belts)
        self._mj.mj_forward(self.model, self.data)

    def joints(self) -> JointArrays:
        """Return the measured joints, as copies."""
        data, v = self.data, self._v
        return JointArrays(
            self.time_s, data.qpos.take(self._q), data.qvel.take(v), data.qfrc_actuator.take(v)
        )

    def command(self, indices: Indices, position: Array, velocity: Array) -> None:
        """Set the references of servos.

        Args:
            indices: Indices of the joints, (n,).
            position: Positions, (n,), rad or m.
            velocity: Velocities, (n,), rad/s or m/s; for joints without a servo of velocity they are ignored.
        """
        control = self.data.ctrl
        servos, driven, rates, fed = self._inputs(indices)
        control[servos], control[rates] = position[driven], velocity[fed]

    def _inputs(self, indices: Indices) -> tuple[Indices, Indices, Indices, Indices]:
        """Return the inputs of these joints' servos and which of the joints have one, then the same for velocities."""
        key = indices.tobytes()
        if key not in self._inputs_of:
            servos, rates = self._servo[indices], self._rate[indices]
            driven, fed = np.flatnonzero(servos >= 0), np.flatnonzero(rates >= 0)
            self._inputs_of[key] = servos[driven], driven, rates[fed], fed
        return self._inputs_of[key]

    def command_finite(self, indices: Indices, position: Array, velocity: Array) -> None:
        """Set the references of servos; a number that is not finite leaves the reference as it is.

        Args:
            indices: Indices of the joints, (n,).
            position: Positions, (n,), rad or m.
            velocity: Velocities, (n,), rad/s or m/s.
        """
        for servos, wanted in ((self._servo[indices], position), (self._rate[indices], velocity)):
            meant = (servos >= 0) & np.isfinite(wanted)
            self.data.ctrl[servos[meant]] = wanted[meant]

    def references(self) -> Array:
        """Return the position references of all servos in the order of ``joint_names``, (n,); nan without a servo."""
        return np.where(self._servo >= 0, self.data.ctrl[self._servo], np.nan)

    def limit_force(self, indices: Indices, force: Array) -> None:
        """Limit the forces of servos; joints without one are ignored.

        Args:
            indices: Indices of the joints, (n,).
            force: Largest force in both directions, (n,), N or Nm.
        """
        servos = self._servo[indices]
        limits = force[servos >= 0, None] * (-1.0, 1.0)
        self.model.actuator_forcerange[servos[servos >= 0]] = limits

    def object_states(self) -> dict[str, ObjectState]:
        """Return the poses and twists of all objects in ``world``, by name."""
        states: dict[str, ObjectState] = {}
        for item in self.scene.objects:
            joint = item.body.articulation
            if joint is None:
                states[item.name] = self._object_state(item.name, item.body.is_static)
            else:
                carrier = states[joint.body].world_T_object
                states[item.name] = part_state(self.data, item.name, joint, carrier, self.time_s)
        return states

    def _object_state(self, name: str, is_static: bool) -> ObjectState:
        if is_static:
            if name not in self._still:
                body = self.model.body(name)
                self._still[name] = Pose.of(body.pos, Rotation.from_wxyz(body.quat))
            return ObjectState(self._still[name], NO_MOTION, NO_MOTION, self.time_s)
        q, v = self._free[name]
        rotation = Rotation.from_wxyz(self.data.qpos[q + 3 : q + 7])
        linear, turning = self.data.qvel[v : v + 3], self.data.qvel[v + 3 : v + 6]
        spin = frozen(rotation.matrix() @ turning)  # a free joint turns in its own axes
        return ObjectState(Pose.of(self.data.qpos[q : q + 3], rotation), frozen(linear), spin, self.time_s)

    def set_object_pose(self, name: str, pose: Pose) -> None:
        """Put an object at a pose, at rest.

        Args:
            name: Name of the object.
            pose: world_T_object.

        Raises:
            KeyError: There is no such object; the message lists them.
            ValueError: A part cannot be there.
        """
        bodies = {item.name: item.body for item in self.scene.objects}
        if name not in bodies:
            raise KeyError(f"object {name!r} is not one of {sorted(bodies)}")
        part = bodies[name].articulation
        if part is not None:
            carrier = self.object_states()[part.body].world_T_object
            put_part(self.data, name, part, carrier.inverse() @ pose)
        elif bodies[name].is_static:
            body = self.model.body(name)
            body.pos[:], body.quat[:] = pose.translation_m, pose.rotation.wxyz
            self._still.pop(name, None)
        else:
            joint = self.data.joint(name)
            joint.qpos[:] = np.concatenate([pose.translation_m, pose.rotation.wxyz])
            joint.qvel[:] = 0.0
        for cup in self.cups.values():
            if cup.object == name:
                cup.let_go(f"{name!r} was moved")
        self._mj.mj_forward(self.model, self.data)

    def set_object_state(self, name: str, pose: Pose, linear: Array, angular: Array) -> None:
        """Put an object at a pose; a free object continues with the velocities.

        Args:
            name: Name of the object.
            pose: world_T_object.
            linear: Velocity in ``world``, (3,), m/s; zero for an object that is not free.
            angular: Angular velocity in ``world``, (3,), rad/s; zero for an object that is not free.

        Raises:
            KeyError: There is no such object; the message lists them.
            ValueError: A part cannot be there.
        """
        self.set_object_pose(name, pose)
        if linear.any() or angular.any():
            joint = self.data.joint(name)
            joint.qvel[:3], joint.qvel[3:] = linear, pose.rotation.matrix().T @ angular
            self._mj.mj_forward(self.model, self.data)

    def body_pose(self, body: str) -> Pose:
        """Return the pose of a body in ``world``, as of the last step.

        Args:
            body: Name of an object, or ``<robot>/<link>``.
        """
        found = self.data.body(body)
        return Pose.of(found.xpos, Rotation.from_wxyz(found.xquat))

    def arm_forces(self) -> Array:
        """Return the net contact force on each arm, without seals; valid until the next call.

        Returns:
            Forces in world axes, (a, 3), N.
        """
        contact = self.data.contact
        bodies = self.model.geom_bodyid[contact.geom]
        forces = self.data.efc_force
        net_forces(bodies, contact.efc_address, contact.frame, forces, self._arm_of_body, self._arm_forces)
        return self._arm_forces

    def contacts(self) -> tuple[Contact, ...]:
        """Return the net force and mean point for each pair of bodies that touch; a seal counts as a contact."""
        seals = tuple(seal for cup in self.cups.values() if (seal := cup.contact()) is not None)
        return body_contacts(self.model, self.data, self._bodies) + seals
