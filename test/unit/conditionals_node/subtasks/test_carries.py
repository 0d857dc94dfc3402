"""An object is carried where it follows the hand, whose pose comes from the joints."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from conditionals_node.batch import Worlds
from conditionals_node.events.sight import Eyes
from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.model.world import JointState, World
from handiwork_core.robot.kinematics import link_poses
from support.records.tabletop import JOINT, ROBOT, Episode, Shown

ARM = ROBOT.arm("")
LIES_IN = "object_in_container(object=cube, container=bin, require_gripper_detached=true)"
PUT = f'{{name: tidy, subtasks: [{{name: put, groups: {{cube: [{{expression: "{LIES_IN}"}}]}}}}]}}'
BASE = Pose.of((-0.4, 0.1, 0.2), Rotation.from_rpy(0.0, 0.0, 0.7))


def with_arm(
    world: World, turn: float, held: str = "cube", in_hand: tuple[float, float, float] | None = None
) -> World:
    """Return a world whose arm has turned about its first joint; what it holds is at a place of the EE frame."""
    q = dict(zip(ARM.joint_names, ARM.home_q.tolist(), strict=True))
    q[ARM.joint_names[0]] += turn
    joints = JointState(world.stamp_s, {**q, JOINT: world.joints.position[JOINT]})
    states = dict(world.states)
    if in_hand is not None:
        place = BASE @ link_poses(ROBOT, q)[ARM.ee_link] @ Pose.of(in_hand)
        states[held] = replace(states[held], world_T_object=place)
    return replace(world, joints=joints, states=states, frames={"robot": BASE})


@dataclass
class Held(Shown):
    """An instant in which the arm has turned and the fingers squeeze the cube."""

    turn: float = 0.0
    slip_m: float = 0.0

    def world(self, t: float) -> World:
        return with_arm(super().world(t), self.turn, in_hand=(0.0, self.slip_m, 0.1))


def carried(slips: list[float], turns: list[float]) -> bool:
    """Return whether the cube counts as carried when it was held at these turns of the arm."""
    episode = Episode(PUT)
    for slip, turn in zip(slips, turns, strict=True):
        episode.show(Held(held=("cube",), turn=turn, slip_m=slip))
    episode.show(Shown({"cube": (0.5, 0.0, 0.03)}), times=5)
    assert episode.watch.judge.run.done[0]
    return episode.watch.life.at_end


TURNS = [0.0, 0.05, 0.1, 0.15, 0.2, 0.25]


def test_what_stays_in_its_place_in_the_hand_is_carried() -> None:
    assert carried([0.0] * 6, TURNS)


def test_what_the_fingers_slide_along_is_not_carried() -> None:
    assert not carried([0.006 * i for i in range(6)], TURNS)


def test_what_slips_once_and_then_follows_is_carried() -> None:
    assert carried([0.0, 0.02, 0.02, 0.02, 0.02, 0.02], TURNS)


@pytest.mark.parametrize(("slip_m", "expected"), [(0.0049, True), (0.0051, False)])
def test_the_limit_is_five_millimetres(slip_m: float, expected: bool) -> None:
    # Back and forth, so that nothing but the limit decides.
    assert carried([0.0, slip_m] * 3, TURNS) is expected


def test_the_place_in_the_hand_is_that_of_forward_kinematics_alone_and_in_a_batch() -> None:
    turns = np.linspace(-1.0, 1.0, 5)
    worlds = [with_arm(Shown(held=("cube",)).world(1.0), turn, in_hand=(0.01, -0.02, 0.1)) for turn in turns]
    many = Eyes(ROBOT, ("table",)).look_at_many(Worlds.of(worlds), np.ones(5), {})
    cube = many.names.index("cube")
    assert many.offset_m is not None
    assert many.offset_m[cube, :, 0] == pytest.approx(np.tile([0.01, -0.02, 0.1], (5, 1)), abs=1e-9)
    assert np.isnan(many.offset_m[many.names.index("can")]).all()
    for i, world in enumerate(worlds):
        alone = Eyes(ROBOT, ("table",)).look(world)
        assert alone.offset_m is not None
        assert alone.offset_m[cube, 0] == pytest.approx(many.offset_m[cube, i], abs=1e-12)


def test_a_drift_within_the_noise_of_the_poses_is_no_slip() -> None:
    @dataclass
    class Noisy(Held):
        def world(self, t: float) -> World:
            exact = super().world(t)
            noise = frozen(np.diag([0.003**2] * 3 + [0.0] * 3))
            cube = replace(exact.states["cube"], pose_covariance=noise)
            return replace(exact, states={**exact.states, "cube": cube})

    episode = Episode(PUT)
    for i, turn in enumerate(TURNS):
        episode.show(Noisy(held=("cube",), turn=turn, slip_m=0.006 * (i % 2)))
    episode.show(Shown({"cube": (0.5, 0.0, 0.03)}), times=5)
    assert episode.watch.life.at_end
