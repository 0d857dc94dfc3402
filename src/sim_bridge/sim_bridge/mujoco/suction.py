"""A simulated suction cup: a weld holds the object that the rim meets, and too much load on the weld breaks it.

The simulator's module is an argument, because ``mujoco/world.py`` alone imports it.
"""

# ruff: noqa: ANN401 the simulator's module is an argument

from __future__ import annotations

from typing import Any

import numpy as np

from handiwork_core.model.geometry import (
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.suction import SuctionSpec, SuctionState
from handiwork_core.model.world import Contact
from handiwork_core.robot.robot import ArmSpec, GripperSpec, Robot
from handiwork_core.scene.loader import Scene, SceneObject
from sim_bridge.mujoco.cup_rim import Rim, RimView
from sim_bridge.mujoco.cup_slip import CupSlip, LipMotion

TEAR_S = 0.01
"""The time constant of the load that breaks the seal, s: shorter shocks do not break it."""

STIFFNESS = (0.002, 1.0)
"""Time constant [s] and damping ratio of the weld, as stiff as the step allows."""


def suction_arms(robot: Robot) -> tuple[tuple[ArmSpec, GripperSpec, SuctionSpec], ...]:
    """Return the arms that carry a cup, with their gripper and cup.

    Args:
        robot: The robot.
    """
    tools = [(arm, arm.gripper) for arm in robot.arms.values() if arm.gripper is not None]
    return tuple((arm, tool, tool.suction) for arm, tool in tools if tool.suction is not None)


def _is_free(item: SceneObject) -> bool:
    """Check whether the object can be lifted."""
    return not item.body.is_static and item.body.articulation is None


def add_seals(mj: Any, spec: Any, robot: Robot, scene: Scene) -> None:
    """Add a weld between each cup and each object that can move; all are off.

    Args:
        mj: The simulator's module.
        spec: The specification of the model.
        robot: The robot.
        scene: The scene.
    """
    for _, tool, cup in suction_arms(robot):
        for item in scene.objects:
            if _is_free(item):
                seal = spec.add_equality(name=f"{tool.name}/{item.name}", type=mj.mjtEq.mjEQ_WELD)
                seal.objtype, seal.active = mj.mjtObj.mjOBJ_BODY, False
                seal.name1, seal.name2 = f"{robot.name}/{cup.link}", item.name
                seal.solref, seal.solimp = STIFFNESS, (0.99, 0.999, 0.0001, 0.5, 2.0)


def cups_of(
    mj: Any, model: Any, data: Any, robot: Robot, scene: Scene, slip: CupSlip | None = None
) -> dict[str, SuctionCup]:
    """Return the cups of a robot in a compiled model, all off.

    Args:
        mj: The simulator's module.
        model: The compiled model.
        data: Its state.
        robot: The robot.
        scene: The scene.
        slip: How objects slide under the lips; None: not at all.

    Returns:
        Name of the gripper -> cup.
    """
    names = [item.name for item in scene.objects if _is_free(item)]
    return {
        tool.name: SuctionCup(mj, model, data, robot, arm, cup, names, slip)
        for arm, tool, cup in suction_arms(robot)
    }


class SuctionCup:
    """The cup of one arm in one compiled model.

    Args:
        mj: The simulator's module.
        model: The compiled model.
        data: Its state.
        robot: The robot.
        arm: The arm that carries the cup.
        spec: Size and limits of the cup.
        movable: Names of the objects that may be held.
        slip: How objects slide under the lip; None: not at all.
    """

    def __init__(
        self,
        mj: Any,
        model: Any,
        data: Any,
        robot: Robot,
        arm: ArmSpec,
        spec: SuctionSpec,
        movable: list[str],
        slip: CupSlip | None = None,
    ) -> None:
        self._mj, self._model, self._data, self.spec = mj, model, data, spec
        assert arm.gripper is not None
        self._axis, self.body = arm.gripper.ee_axis, f"{robot.name}/{spec.link}"
        self._cup = model.body(self.body).id
        self._tip, self._ee = (model.body(f"{robot.name}/{link}").id for link in (arm.tcp_link, arm.ee_link))
        self._seals = {name: model.equality(f"{arm.gripper.name}/{name}").id for name in movable}
        self._rim = Rim(mj, model, data, spec, frozenset(movable))
        self.on, self.object = False, ""
        self._lip = None if slip is None else LipMotion(slip)
        self._blocked = False
        """True until the rim has left the surface after the seal broke: meanwhile it does not seal again."""
        self._lost = self._why = ""
        self._load: Array = np.zeros(3)
        """The smoothed pull [N], shear [N] and moment [N*m]."""
        self._force: Array = np.zeros(3)

    def switch(self, *, on: bool) -> None:
        """Switch the suction; off releases the object at once.

        Args:
            on: Whether the cup shall hold.
        """
        if on != self.on:
            self.let_go("")
            self.on, self._blocked = on, False

    def let_go(self, why: str) -> None:
        """Open the seal, if there is one.

        Args:
            why: Reason that ``state`` reports while the cup is on; empty for none.
        """
        if self.object:
            self._data.eq_active[self._seals[self.object]] = 0
        self.object, self._lost, self._why, self._load, self._force = "", why, "", np.zeros(3), np.zeros(3)

    def update(self, step_s: float) -> None:
        """Seal where the rim allows it, or check the load on the seal; once in every control period while it is on.

        Args:
            step_s: Length of the period, s.
        """
        if self.object:
            self._watch_load(step_s)
            return
        view = self._look()
        self._why = view.why
        self._blocked = self._blocked and view.gap_m <= self.spec.reach_m
        if not view.why and not self._blocked:
            self._seal(view.body)

    def state(self, stamp_s: float) -> SuctionState:
        """Return the state of the cup.

        Args:
            stamp_s: Time of the state, s.
        """
        if self.object:
            pull, _, moment = self._load
            return SuctionState(stamp_s, self.on, True, self.object, float(pull), float(moment))
        view = self._look()
        why = "; ".join(filter(None, (self._lost, self._why))) if self.on else ""
        return SuctionState(stamp_s, self.on, False, gap_m=view.gap_m, angle_rad=view.angle_rad, why=why)

    def contact(self) -> Contact | None:
        """Return the seal's force as a contact of the cup with the held object; None without one."""
        if not self.object:
            return None
        point = frozen(self._data.xpos[self._tip])
        return Contact(self.body, self.object, frozen(-self._force), point)

    def _look(self) -> RimView:
        turn = self._data.xmat[self._ee].reshape(3, 3)
        columns = turn[:, [(self._axis + i) % 3 for i in range(3)]]
        return self._rim.look(self._data.xpos[self._tip], columns, self._cup)

    def _seal(self, name: str) -> None:
        """Weld the object to the cup at its present pose."""
        model, data, seal = self._model, self._data, self._seals[name]
        cup, thing = self._pose(self._cup), self._pose(model.body(name).id)
        tip = data.xpos[self._tip]
        relative = (cup.inverse() @ thing).rotation.wxyz
        model.eq_data[seal][:10] = np.concatenate(
            [thing.inverse().apply(tip), cup.inverse().apply(tip), relative]
        )
        data.eq_active[seal] = 1
        if self._lip is not None:
            self._lip.close()
        self.object, self._lost, self._why, self._load, self._force = name, "", "", np.zeros(3), np.zeros(3)

    def _watch_load(self, step_s: float) -> None:
        force, moment = self._wrench()
        axis = self._data.xmat[self._ee].reshape(3, 3)[:, self._axis]
        pull = float(-force @ axis)
        shear = float(np.linalg.norm(force + pull * axis))
        self._force = force
        share = 1.0 - np.exp(-step_s / TEAR_S)
        self._load = self._load + share * (np.array([pull, shear, np.linalg.norm(moment)]) - self._load)
        limits = (self.spec.max_pull_n, self.spec.max_shear_n, self.spec.max_moment_nm)
        words = zip(("pull", "shear", "moment"), self._load, limits, ("N", "N", "N*m"), strict=True)
        torn = [
            f"a {what} of {load:.1f} {unit}, at most {limit:g}"
            for what, load, limit, unit in words
            if load > limit
        ]
        if torn:
            self._blocked = True
            self.let_go(f"{self.object!r} was torn off by {torn[0]}")
        elif self._lip is not None:
            self._slide(self._lip, -(force + pull * axis), axis, step_s)

    def _slide(self, lip: LipMotion, load: Array, axis: Array, step_s: float) -> None:
        """Move the object that the seal holds across the cup, by moving the weld."""
        turn = self._data.xmat[self._ee].reshape(3, 3)
        sides = np.array([turn[:, (self._axis + i) % 3] for i in (1, 2)])
        shift, angle = lip.step(load, sides, step_s)
        cup, thing = self._pose(self._cup), self._pose(self._model.body(self.object).id)
        row = self._model.eq_data[self._seals[self.object]]
        row[:3] -= thing.rotation.matrix().T @ shift
        spin = cup.rotation.inverse() @ Rotation.from_axis_angle(axis, angle) @ cup.rotation
        row[6:10] = (spin @ Rotation.from_wxyz(row[6:10])).wxyz

    def _wrench(self) -> tuple[Array, Array]:
        """Return force and moment (3,) about the rim's middle from the seal on the object, in the world."""
        model, data = self._model, self._data
        rows = np.flatnonzero(data.efc_id[: data.ne] == self._seals[self.object])  # equalities come first
        push, result = np.zeros(data.nefc), np.zeros(model.nv)
        push[rows] = data.efc_force[rows]
        self._mj.mj_mulJacTVec(model, data, result, push)
        joint = model.body(self.object).jntadr[0]
        start = model.jnt_dofadr[joint]
        thing = model.body(self.object).id
        force: Array = result[start : start + 3]
        about_origin = data.xmat[thing].reshape(3, 3) @ result[start + 3 : start + 6]
        return force, about_origin + np.cross(data.xpos[thing] - data.xpos[self._tip], force)

    def _pose(self, body: int) -> Pose:
        return Pose.of(self._data.xpos[body], Rotation.from_wxyz(self._data.xquat[body]))
