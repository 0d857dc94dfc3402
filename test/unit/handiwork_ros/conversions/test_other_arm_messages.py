"""An arm with its path survives its message; numbers that are no rows of joints are refused."""

from __future__ import annotations

import numpy as np
import pytest
from handiwork_msgs.msg import OtherArm as OtherArmMsg

from handiwork_core.contracts.planning import Attachment, OtherArm, SceneQuery
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_ros.conversions import BadMessage, other_arm_from_msg, scene_from_msg, scene_to_msg


def test_other_arms_survive_with_their_way_and_what_they_hold() -> None:
    q = np.arange(21.0).reshape(3, 7)
    held = Attachment("cube", "left_hand", Pose.of((0.1, 0.2, 0.3)))
    scene = SceneQuery(others=(OtherArm("left_arm", q, (held,), (("left_finger", 0.02),)),))
    (back,) = scene_from_msg(scene_to_msg(scene)).others
    assert (back.arm, back.gripper_m) == ("left_arm", (("left_finger", 0.02),))
    assert np.array_equal(back.q, q)
    assert (back.attached[0].object, back.attached[0].link) == ("cube", "left_hand")
    assert back.attached[0].link_T_object.distance_to(held.link_T_object) == pytest.approx((0.0, 0.0))


def test_times_of_an_arm_that_moves_in_the_same_motion_survive_and_none_stay_none() -> None:
    t_s = np.array([0.0, 0.5, 1.0])
    for given in (t_s, None):
        other = OtherArm("left_arm", np.zeros((3, 7)), t_s=given)
        (back,) = scene_from_msg(scene_to_msg(SceneQuery(others=(other,)))).others
        assert (back.t_s is None) == (given is None)
        assert back.t_s is None or np.array_equal(back.t_s, t_s)


@pytest.mark.parametrize("times", [[0.0], [0.0, 0.0], [0.0, float("nan")]])
def test_times_that_are_not_one_for_each_configuration_and_rising_are_refused(times: list[float]) -> None:
    with pytest.raises(BadMessage, match="times"):
        other_arm_from_msg(OtherArmMsg(arm="left_arm", count=2, positions=[0.0, 1.0], times=times))


def test_an_arm_that_is_not_there_survives() -> None:
    (back,) = scene_from_msg(
        scene_to_msg(SceneQuery(others=(OtherArm("left_arm", np.zeros((0, 7))),)))
    ).others
    assert len(back.q) == 0


@pytest.mark.parametrize(
    ("arm", "count", "positions", "field", "code"),
    [
        ("", 1, [0.0], "others.arm", Code.BAD_GOAL),
        ("left_arm", 2, [0.0, 1.0, 2.0], "others.positions", Code.BAD_GOAL),
        ("left_arm", 0, [0.0], "others.positions", Code.BAD_GOAL),
        ("left_arm", 1, [float("nan")], "others.positions", Code.BAD_NUMBER),
    ],
)
def test_a_malformed_arm_is_refused_by_its_field(
    arm: str, count: int, positions: list[float], field: str, code: Code
) -> None:
    with pytest.raises(BadMessage) as refusal:
        other_arm_from_msg(OtherArmMsg(arm=arm, count=count, positions=positions))
    assert refusal.value.outcome.code is code
    assert field in str(refusal.value)
