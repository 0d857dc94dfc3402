"""A simulated suction cup: rays find what its rim meets, a weld holds it, and the load on the weld breaks it.

The simulator's module is handed in, because ``mujoco_world`` alone imports it.
"""

# ruff: noqa: ANN401 the simulator's module is handed in as a value

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from handiwork_core.geometry import Array, Pose, Rotation, frozen
from handiwork_core.robot import ArmSpec, GripperSpec, Robot
from handiwork_core.scene import Scene, SceneObject
from handiwork_core.suction import SuctionSpec, SuctionState
from handiwork_core.world import Contact

RIM_POINTS = 12
RAY_BACK_M, RAY_AHEAD_M = 0.012, 0.1
"""Rays start this far behind the rim, and see this far ahead of it."""

TEAR_S = 0.01
"""Time constant of the load that tears the seal: shocks that are shorter pass."""

STIFFNESS = (0.002, 1.0)
"""Time constant [s] and damping ratio of the weld, as stiff as the step allows."""


def suction_arms(robot: Robot) -> tuple[tuple[ArmSpec, GripperSpec, SuctionSpec], ...]:
    """Arms that carry a cup."""
    tools = [(arm, arm.gripper) for arm in robot.arms.values() if arm.gripper is not None]
    return tuple((arm, tool, tool.suction) for arm, tool in tools if tool.suction is not None)


def _is_free(item: SceneObject) -> bool:
    """Can be lifted."""
    return not item.body.is_static and item.body.articulation is None


def add_seals(mj: Any, spec: Any, robot: Robot, scene: Scene) -> None:
    """Add a weld between each cup and each object that can move; all are off."""
    for _, tool, cup in suction_arms(robot):
        for item in scene.objects:
            if _is_free(item):
                seal = spec.add_equality(name=f"{tool.name}/{item.name}", type=mj.mjtEq.mjEQ_WELD)
                seal.objtype, seal.active = mj.mjtObj.mjOBJ_BODY, False
                seal.name1, seal.name2 = f"{robot.name}/{cup.link}", item.name
                seal.solref, seal.solimp = STIFFNESS, (0.99, 0.999, 0.0001, 0.5, 2.0)


@dataclass(frozen=True, slots=True)
class RimView:
    """What the rim meets: ``body`` only when all of it does. See ``SuctionState`` for the numbers."""

    body: str
    nearest_m: float
    gap_m: float
    angle_rad: float
    why: str


def cups_of(mj: Any, model: Any, data: Any, robot: Robot, scene: Scene) -> dict[str, SuctionCup]:
    """The cups of a robot in a compiled model, all off."""
    names = [item.name for item in scene.objects if _is_free(item)]
    return {
        tool.name: SuctionCup(mj, model, data, robot, arm, cup, names)
        for arm, tool, cup in suction_arms(robot)
    }


class SuctionCup:
    """The cup of one arm in one compiled model."""

    def __init__(
        self,
        mj: Any,
        model: Any,
        data: Any,
        robot: Robot,
        arm: ArmSpec,
        spec: SuctionSpec,
        movable: list[str],
    ) -> None:
        self._mj, self._model, self._data, self.spec = mj, model, data, spec
        assert arm.gripper is not None
        self._axis, self.body = arm.gripper.ee_axis, f"{robot.name}/{spec.link}"
        self._cup = model.body(self.body).id
        self._tip, self._ee = (model.body(f"{robot.name}/{link}").id for link in (arm.tcp_link, arm.ee_link))
        self._seals = {name: model.equality(f"{arm.gripper.name}/{name}").id for name in movable}
        angles = 2.0 * np.pi * np.arange(RIM_POINTS) / RIM_POINTS
        self._circle = np.stack([np.cos(angles), np.sin(angles)], axis=1) * spec.radius_m
        self.on, self.object = False, ""
        self._blocked = False
        """A torn seal closes again only after the rim has left the surface."""
        self._lost, self._why, self._load = "", "", np.zeros(3)
        self._force, self._arm_m = np.zeros(3), np.zeros(3)

    def switch(self, *, on: bool) -> None:
        """Suck, or let go at once."""
        if on != self.on:
            self.let_go("")
            self.on, self._blocked = on, False

    def let_go(self, why: str) -> None:
        """Open the seal, if there is one."""
        if self.object:
            self._data.eq_active[self._seals[self.object]] = 0
        self.object, self._lost, self._why, self._load, self._force = "", why, "", np.zeros(3), np.zeros(3)

    def update(self, step_s: float) -> None:
        """Look for a seal, or at the load on it; once in every control period while the cup is on."""
        if self.object:
            self._watch_load(step_s)
            return
        view = self.look()
        self._why = view.why
        self._blocked = self._blocked and view.gap_m <= self.spec.reach_m
        if not view.why and not self._blocked:
            self._seal(view.body)

    def state(self, stamp_s: float) -> SuctionState:
        """What the cup tells of itself."""
        if self.object:
            pull, _, moment = self._load
            return SuctionState(stamp_s, self.on, True, self.object, float(pull), float(moment))
        view = self.look()
        why = "; ".join(filter(None, (self._lost, self._why))) if self.on else ""
        return SuctionState(stamp_s, self.on, False, gap_m=view.gap_m, angle_rad=view.angle_rad, why=why)

    def contact(self) -> Contact | None:
        """The seal's force as a contact of the cup with what it holds."""
        if not self.object:
            return None
        point = frozen(self._data.xpos[self._tip])
        return Contact(self.body, self.object, frozen(-self._force), point)

    def look(self) -> RimView:
        """What lies before the rim now."""
        turn = self._data.xmat[self._ee].reshape(3, 3)
        axis, sides = turn[:, self._axis], turn[:, [(self._axis + 1) % 3, (self._axis + 2) % 3]]
        starts = self._data.xpos[self._tip] - RAY_BACK_M * axis + self._circle @ sides.T
        bodies, gaps = np.full(RIM_POINTS, -1), np.full(RIM_POINTS, np.inf)
        found = np.zeros(1, dtype=np.int32)
        for i, start in enumerate(starts):
            distance = self._mj.mj_ray(self._model, self._data, start, axis, None, 1, self._cup, found)
            if 0.0 <= distance <= RAY_BACK_M + RAY_AHEAD_M:
                bodies[i], gaps[i] = self._model.geom_bodyid[found[0]], distance - RAY_BACK_M
        return self._judge(bodies, gaps)

    def _judge(self, bodies: Array, gaps: Array) -> RimView:
        spec, known = self.spec, np.isfinite(gaps)
        if not known.all():
            words = f"{int((~known).sum())} of {RIM_POINTS} points of the rim are over nothing"
            nearest = float(gaps.min()) if known.any() else float("nan")
            return RimView("", nearest, nearest, float("nan"), words)
        slope = 2.0 * (gaps @ self._circle) / RIM_POINTS / spec.radius_m**2
        angle = float(np.arctan(np.hypot(*slope)))
        names = sorted({self._model.body(int(body)).name for body in bodies})
        nearest, farthest = float(gaps.min()), float(gaps.max())
        why = ""
        if len(names) > 1:
            why = f"the rim is over {' and '.join(map(repr, names))} at once"
        elif names[0] not in self._seals:
            why = f"the rim is on {names[0]!r}, which cannot be lifted"
        elif angle > spec.max_angle_rad:
            most = np.degrees(spec.max_angle_rad)
            why = f"{names[0]!r} is tilted by {np.degrees(angle):.1f} degrees, at most {most:.1f} seal"
        elif nearest > 0.0 or farthest > spec.reach_m:
            why = f"{names[0]!r} is {farthest * 1e3:.1f} mm from the rim, whose lip reaches {spec.reach_m * 1e3:.1f} mm"
        return RimView(names[0] if len(names) == 1 else "", nearest, farthest, angle, why)

    def _seal(self, name: str) -> None:
        """Weld the object to the cup as it lies."""
        model, data, seal = self._model, self._data, self._seals[name]
        cup, thing = self._pose(self._cup), self._pose(model.body(name).id)
        tip = data.xpos[self._tip]
        relative = (cup.inverse() @ thing).rotation.wxyz
        model.eq_data[seal][:10] = np.concatenate(
            [thing.inverse().apply(tip), cup.inverse().apply(tip), relative]
        )
        data.eq_active[seal] = 1
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

    def _wrench(self) -> tuple[Array, Array]:
        """Force and moment (3,) about the rim's middle that the seal puts on the object, in the world."""
        model, data = self._model, self._data
        rows = np.flatnonzero(
            (data.efc_type == self._mj.mjtConstraint.mjCNSTR_EQUALITY)
            & (data.efc_id == self._seals[self.object])
        )
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
