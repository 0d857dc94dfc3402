"""Goals of a position with an axis, and positions alone, of arms with five joints and with six."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import JointState, World
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.nearest_pose import nearest_poses
from handiwork_core.testing.fakes import Cell, Fakes, FakeWorld, fakes
from skill_server.execution.run import run_skill
from skill_server.geometry.orientation_cones import OrientationFilter
from skill_server.skills.motion.goto_pose import GotoPose, GotoPoseParams
from support.five_joint_arm import five_joint_arm

PLACE = (0.2, 0.1, 0.08)
DOWN = (0.0, 0.0, -1.0)


class FiveJointWorld(FakeWorld):
    """The cell with the five-joint arm at its home."""

    def snapshot(self) -> World:
        arm = five_joint_arm().arm("")
        position = dict(zip(arm.joint_names, arm.home_q.tolist(), strict=True))
        joints = JointState(self._cell.now_s, position, dict.fromkeys(position, 0.0))
        return replace(super().snapshot(), joints=joints)


def five_joints() -> Context:
    f, robot = fakes(Cell({}, {})), five_joint_arm()
    return replace(f.context, robot=robot, arm_spec=robot.arm(""), world=FiveJointWorld(f.cell))


def goals(context: Context, **keys: Any) -> list[Pose]:
    """Return the EE poses that the skill chooses from."""
    made = GotoPose().stages(GotoPoseParams(**{"position": PLACE, **keys}), context)
    return [pose for one in made for pose in (stage.world_T_ee for stage in one) if pose is not None]


def missing_rad(context: Context, pose: Pose) -> float:
    """Return how far the arm is from a pose at best, its distance and its turn together, m and rad."""
    found = nearest_poses(context.robot, context.arm_spec, pose.matrix()[None], np.zeros(3), margin=0.0)
    return float(found.position_error_m[0] + found.angle_rad[0])


def heading(pose: Pose) -> Array:
    return np.asarray(pose.rotation.matrix()[:, 2])


def test_a_position_alone_is_a_goal_that_five_joints_can_have() -> None:
    context = five_joints()
    (pose,) = goals(context)
    np.testing.assert_allclose(pose.translation_m, PLACE, atol=5e-4)
    assert missing_rad(context, pose) < 1e-3
    arm = context.arm_spec
    here = link_poses(context.robot, dict(zip(arm.joint_names, arm.home_q, strict=True)), ("hand",))["hand"]
    assert missing_rad(context, Pose.of(PLACE, here.rotation)) > 0.05, (
        "the present orientation is not possible"
    )


def test_an_axis_is_met_and_the_turn_about_it_is_the_arms() -> None:
    context = five_joints()
    poses = goals(context, axis=DOWN)
    assert len(poses) > 1
    for pose in poses:
        np.testing.assert_allclose(pose.translation_m, PLACE, atol=5e-4)
        np.testing.assert_allclose(heading(pose), DOWN, atol=2e-3)
    assert max(missing_rad(context, pose) for pose in poses[:3]) < 1e-3


def test_a_direction_that_five_joints_cannot_have_is_refused_with_the_nearest_one() -> None:
    context = five_joints()
    across = (-PLACE[1], PLACE[0], 0.0)
    with pytest.raises(StepFailed) as caught:
        goals(context, axis=across)
    outcome = caught.value.outcome
    assert (outcome.code, outcome.field_name) == (Code.NO_CANDIDATE, "axis")
    assert "arm 'arm' has 5 joints and cannot point its hand so at this place" in outcome.message
    nearest = tuple(float(word) for word in outcome.message.split("(")[1].split(")")[0].split(","))
    for pose in goals(context, axis=nearest):
        np.testing.assert_allclose(heading(pose), nearest, atol=2e-3)


def test_filters_take_the_orientations_that_five_joints_can_have() -> None:
    context = five_joints()
    for pose in goals(context, orientation_filters=(OrientationFilter("z", "downward", 0.0, 20.0),)):
        assert heading(pose) @ DOWN >= np.cos(np.deg2rad(20.2))
        assert missing_rad(context, pose) < 1e-3
    with pytest.raises(StepFailed, match="has 5 joints and can have no orientation there within z axis"):
        goals(
            context,
            position=(0.2, 0.0, 0.08),
            orientation_filters=(OrientationFilter("z", "leftward", 0.0, 5.0),),
        )


def made() -> Fakes:
    return fakes(Cell({}, {}))


def test_six_joints_take_the_least_turn_to_an_axis_first_and_others_about_it() -> None:
    f = made()
    tilted = (0.3, 0.0, -1.0)
    poses = goals(f.context, position=(0.3, 0.0, 0.4), axis=tilted)
    wanted = np.array(tilted) / np.linalg.norm(tilted)
    assert len(poses) == 32
    for pose in poses:
        np.testing.assert_allclose(heading(pose), wanted, atol=1e-9)
    here = f.context.robot.arm("")
    start = link_poses(f.context.robot, dict(zip(here.joint_names, f.cell.q, strict=True)), ("hand",))["hand"]
    turns = [start.rotation.angle_to(pose.rotation) for pose in poses]
    assert turns[0] == pytest.approx(min(turns))
    assert turns[0] == pytest.approx(np.arccos(heading(start) @ wanted), abs=1e-6)
    assert run_skill(GotoPose(), GotoPoseParams(position=(0.3, 0.0, 0.4), axis=tilted), f.context).outcome.ok


def test_success_is_judged_by_the_axis() -> None:
    f = made()
    params = GotoPoseParams(position=(0.3, 0.0, 0.4), axis=DOWN)
    f.arm.miss[4] = 0.2
    outcome = run_skill(GotoPose(), params, f.context).outcome
    assert outcome.code is Code.NOT_REACHED
    assert outcome.angle_error_rad == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize(
    ("keys", "code", "field"),
    [
        ({"axis": (0.0, 0.0, 0.0)}, Code.BAD_NUMBER, "axis"),
        ({"axis": DOWN, "euler": (180.0, 0.0, 0.0)}, Code.CONTRADICTION, "axis"),
        ({"axis": DOWN, "orientation_filters": (OrientationFilter("z", "downward"),)}, Code.CONTRADICTION,
         "orientation_filters"),
    ],
)  # fmt: skip
def test_an_axis_that_says_nothing_or_too_much_is_refused(
    keys: dict[str, Any], code: Code, field: str
) -> None:
    f = made()
    params = GotoPoseParams(position=PLACE, **keys)
    world = f.context.world.snapshot()
    outcome = GotoPose().is_feasible(params, f.context.robot, f.context.arm_spec, world)
    assert (outcome.code, outcome.field_name) == (code, field)
