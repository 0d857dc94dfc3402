"""The guard against a policy that asks for anything."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import JointState, ObjectState, World
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import Scene, load_scene
from handiwork_planning.collision.exact_check import all_distances
from handiwork_policy.guard.guard import Guard
from handiwork_policy.guard.joint_filter import Motion
from handiwork_policy.guard.settings import GuardSettings, OnCollision, OnExcess

ROOT = Path(__file__).resolve().parents[4]
STEP_S = 0.04


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot(ROOT / "src/robot_description/robots/fr3")


@pytest.fixture(scope="module")
def scene() -> Scene:
    return load_scene(ROOT / "config/scenes/tabletop.yaml")


class Stand:
    """A guarded arm at home in the tabletop's world."""

    def __init__(
        self,
        robot: Robot,
        scene: Scene,
        settings: GuardSettings,
        *,
        width_m: float = 0.08,
        can: Array | None = None,
    ) -> None:
        self.arm = next(iter(robot.arms.values()))
        still = np.zeros(3)
        states = {one.name: ObjectState(one.world_T_object, still, still, 0.0) for one in scene.objects}
        bodies = {one.name: one.body for one in scene.objects}
        joints = dict(zip(self.arm.joint_names, map(float, self.arm.home_q), strict=True))
        assert self.arm.gripper is not None
        joints[self.arm.gripper.joint] = self.arm.gripper.position(width_m)
        if can is not None:
            states["can"] = ObjectState(Pose.of(can), still, still, 0.0)
        world = World(0.0, 1, bodies, states, (), 0.0, JointState(0.0, joints, {}))
        base = scene.world_T_base @ link_poses(robot, {}, (self.arm.base_link,))[self.arm.base_link]
        self.motion = Motion.at_rest(np.array(self.arm.home_q))
        self.guard = Guard(robot, self.arm, scene.world_T_base, STEP_S, settings)
        self.seen = world, base, (), self.motion
        self.guard.update(*self.seen)

    def go(self, target: Array, steps: int = 1) -> str:
        """Ask for a target; returns why the guard refused it."""
        for _ in range(steps):
            done = self.guard.step(self.motion, target)
            self.motion = done.motion
            if done.refused:
                return done.refused
        return ""

    def clearance(self) -> float:
        """Smallest distance of any pair that counts, by the exact kernel instead of the one that the guard uses."""
        query = self.guard._checker._query
        assert query is not None
        out = np.empty_like(query.margins)
        all_distances(self.motion.q, 1.0, query.robot, query.scene, query.margins, query.frames, out)
        return float(out.min())


def test_a_wild_policy_keeps_all_limits_and_the_clearance(robot: Robot, scene: Scene) -> None:
    stand, rng = Stand(robot, scene, GuardSettings(clearance=0.01)), np.random.default_rng(1)
    limits, nearest = stand.guard.limits, 1.0
    for _ in range(60):
        target = rng.uniform(limits.low, limits.high)
        for _ in range(5):
            before = stand.motion
            stand.go(target)
            now = stand.motion
            assert (np.abs(now.v) <= limits.velocity + 1e-9).all()
            assert (np.abs(now.v - before.v) <= limits.change + 1e-9).all()
            assert (now.q >= limits.low - 1e-9).all() and (now.q <= limits.high + 1e-9).all()
            nearest = min(nearest, stand.clearance())
    assert nearest > 0.0099
    assert stand.guard.counts.kinds["collision"] > 0, "nothing was in its way, so the test proves nothing"


@pytest.mark.parametrize("joint_margin", [0.0, 0.05])
def test_an_arm_at_full_speed_stops_the_margin_before_its_limit(
    robot: Robot, scene: Scene, joint_margin: float
) -> None:
    stand = Stand(robot, scene, GuardSettings(joint_margin=joint_margin))
    joint = robot.joints["fr3_joint7"]
    target = stand.motion.q.copy()
    target[6] = joint.upper
    fastest = 0.0
    for _ in range(80):
        stand.go(target)
        rest = stand.guard.ahead(stand.motion)[0][-1, 6]
        assert rest <= joint.upper - joint_margin + 1e-9
        fastest = max(fastest, stand.motion.v[6])
    assert fastest > 2.0 and rest == pytest.approx(joint.upper - joint_margin, abs=0.002)
    assert stand.guard.counts.kinds["position"] > 0


def test_an_arm_that_begins_within_the_margin_may_only_leave_it(robot: Robot, scene: Scene) -> None:
    stand = Stand(robot, scene, GuardSettings(joint_margin=0.1))
    q = stand.motion.q.copy()
    q[6] = robot.joints["fr3_joint7"].upper - 0.02
    stand.motion = Motion.at_rest(q)
    stand.go(q + 0.01, 30)
    assert q[6] - 0.08 - 0.002 < stand.motion.q[6] <= q[6] - 0.08 + 1e-9
    assert np.abs(stand.motion.v).max() < 0.05


def test_a_brake_at_any_time_keeps_the_clearance(robot: Robot, scene: Scene) -> None:
    stand, rng = Stand(robot, scene, GuardSettings(clearance=0.01)), np.random.default_rng(2)
    for _ in range(15):
        stand.go(rng.uniform(stand.guard.limits.low, stand.guard.limits.high), 5)
        while np.abs(stand.motion.v).max() > 1e-9:
            stand.motion = stand.guard.brake(stand.motion)
            assert stand.clearance() > 0.0099


def test_a_hand_that_goes_into_the_table_stops_before_it(robot: Robot, scene: Scene) -> None:
    stand = Stand(robot, scene, GuardSettings())
    down = np.array(stand.arm.home_q) + [0.0, 1.9, 0.0, 0.0, 0.0, 0.0, 0.0]
    stand.go(down, 60)
    assert np.abs(stand.motion.v).max() < 0.05 and stand.clearance() > 0.0049
    assert any(reason.startswith("collision: ") for reason in stand.guard.counts.reasons)


def test_a_refusal_names_the_bodies_and_brakes(robot: Robot, scene: Scene) -> None:
    stand = Stand(robot, scene, GuardSettings(on_collision=OnCollision.REFUSE))
    down = np.array(stand.arm.home_q) + [0.0, 1.9, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert "fr3/" in stand.go(down, 60)
    assert stand.clearance() > 0.0049


def test_a_jump_is_clipped_slowed_or_refused_as_asked(robot: Robot, scene: Scene) -> None:
    jump = np.array([0.5, 0.05, 0.0, 0.0, 0.0, 0.0, 0.0])
    moved = {}
    for answer in OnExcess:
        stand = Stand(robot, scene, GuardSettings(on_excess=answer))
        home = stand.motion.q
        refused = stand.go(home + jump)
        moved[answer] = stand.motion.q - home
        assert bool(refused) == (answer is OnExcess.REFUSE)
        assert stand.guard.counts.changed == 1
    assert np.allclose(moved[OnExcess.REFUSE], 0.0)
    assert np.isclose(moved[OnExcess.CLIP][0], moved[OnExcess.CLIP][1]), "each joint alone is at its limit"
    ratio = moved[OnExcess.SLOW][1] / moved[OnExcess.SLOW][0]
    assert np.isclose(ratio, 0.1, atol=1e-6), "the direction is kept"


def test_a_command_within_all_limits_is_done_as_asked(robot: Robot, scene: Scene) -> None:
    stand = Stand(robot, scene, GuardSettings())
    target = stand.motion.q + 0.5 * stand.guard.limits.change * STEP_S
    stand.go(target)
    np.testing.assert_allclose(stand.motion.q, target)
    assert stand.guard.counts.changed == 0 and stand.guard.counts.shown()["collision"] == 0


def test_the_tool_does_not_leave_its_workspace(robot: Robot, scene: Scene) -> None:
    box = (-1.0, -0.1, 0.0, 1.0, 0.1, 1.5)
    stand = Stand(robot, scene, GuardSettings(workspace=box))
    aside = np.array(stand.arm.home_q) + [0.9, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    stand.go(aside, 50)
    assert stand.guard.counts.kinds["workspace"] > 0
    assert (stand.guard._excess(stand.motion.q, np.array(box)) <= 1e-6).all()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"clearance": -0.1}, "clearance"),
        ({"joint_margin": 0.6}, "joint_margin"),
        ({"velocity_scaling": 0.0}, "velocity_scaling"),
        ({"workspace": (0.0, 1.0)}, "workspace"),
        ({"workspace": (1.0, 0.0, 0.0, 0.0, 1.0, 1.0)}, "workspace"),
    ],
)
def test_wrong_settings_are_named(values: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        GuardSettings(**values)  # type: ignore[arg-type]


def test_the_tcp_keeps_its_greatest_speed(robot: Robot, scene: Scene) -> None:
    """Without this limit a hand at full joint speed was faster than the safety layer allows, which ended the run."""
    stand, rng = Stand(robot, scene, GuardSettings(tool_speed=0.4)), np.random.default_rng(3)
    fastest = 0.0
    for _ in range(30):
        target = rng.uniform(stand.guard.limits.low, stand.guard.limits.high)
        for _ in range(5):
            before = _tcp(robot, stand)
            stand.go(target)
            fastest = max(fastest, float(np.linalg.norm(_tcp(robot, stand) - before)) / STEP_S)
    assert 0.3 < fastest < 0.45  # the chord of a step is longer than its first tangent
    assert stand.guard.counts.kinds["tool_speed"] > 0


def _tcp(robot: Robot, stand: Stand) -> Array:
    arm, gripper = stand.arm, stand.arm.gripper
    assert gripper is not None
    q = dict(zip(arm.joint_names, map(float, stand.motion.q), strict=True))
    matrix = link_poses(robot, q, (arm.ee_link,))[arm.ee_link].matrix()
    return np.asarray(matrix[:3, 3] + gripper.tcp_offset_m * matrix[:3, gripper.ee_axis])


def beside_a_finger(robot: Robot, way_m: float) -> Array:
    """Return the place of a can whose side is so far from the middle between the fingertips, along their way."""
    arm = next(iter(robot.arms.values()))
    assert arm.gripper is not None
    joints = dict(zip(arm.joint_names, map(float, arm.home_q), strict=True))
    hand = link_poses(robot, joints, (arm.ee_link,))[arm.ee_link]
    return np.asarray(hand.apply((0.0, way_m + 0.03, arm.gripper.tcp_offset_m)))


def test_fingers_do_not_open_into_something(robot: Robot, scene: Scene) -> None:
    free = Stand(robot, scene, GuardSettings(), width_m=0.0)
    assert free.guard.opening(0.08, free.motion) == 0.08
    stand = Stand(robot, scene, GuardSettings(), width_m=0.0, can=beside_a_finger(robot, 0.045))
    assert stand.guard.opening(0.08, stand.motion) is None
    assert stand.guard.counts.kinds["fingers"] == 1 and "can" in next(iter(stand.guard.counts.reasons))
    assert stand.guard.opening(0.01, stand.motion) == 0.01
    allowed = Stand(
        robot, scene, GuardSettings(may_touch=("can",)), width_m=0.0, can=beside_a_finger(robot, 0.045)
    )
    assert allowed.guard.opening(0.08, allowed.motion) == 0.08


def test_fingers_do_not_close_on_what_they_may_not_touch(robot: Robot, scene: Scene) -> None:
    """A hand that was turned to its side pressed a closing finger on the table."""
    between = beside_a_finger(robot, -0.03)
    stand = Stand(robot, scene, GuardSettings(), can=between)
    assert stand.guard.opening(0.05, stand.motion) is None
    assert stand.guard.counts.kinds["fingers"] == 1 and "can" in next(iter(stand.guard.counts.reasons))
    assert stand.guard.opening(0.075, stand.motion) == 0.075
    allowed = Stand(robot, scene, GuardSettings(may_touch=("can",)), can=between)
    assert allowed.guard.opening(0.05, allowed.motion) == 0.05


def test_an_arm_whose_fingers_open_keeps_the_clearance_of_the_wider_opening(
    robot: Robot, scene: Scene
) -> None:
    stand = Stand(robot, scene, GuardSettings(), width_m=0.0)
    assert stand.guard._checker._wider is None
    assert stand.guard.opening(0.08, stand.motion) == 0.08
    stand.guard.update(*stand.seen)
    assert stand.guard._checker._wider is not None
    assert stand.guard.opening(0.0, stand.motion) == 0.0
    stand.guard.update(*stand.seen)
    assert stand.guard._checker._wider is None
