"""Tolerances of a goal that no controller keeps are refused in words, and parameters of another type are, too."""

from __future__ import annotations

import pytest
from rclpy.parameter import Parameter

from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from handiwork_core.admittance.settings import AdmittanceSettings
from handiwork_core.model.outcome import Code
from handiwork_core.model.suction import force_refused
from handiwork_ros.controllers.admittance_server import parameter_messages, read_parameters
from handiwork_ros.controllers.goal_messages import read_trajectory


@pytest.mark.parametrize("what", ["path_tolerance", "goal_tolerance"])
@pytest.mark.parametrize("part", ["velocity", "acceleration"])
def test_a_tolerance_of_speed_or_acceleration_is_refused(what: str, part: str) -> None:
    goal = FollowJointTrajectory.Goal()
    setattr(goal, what, [JointTolerance(name="a", position=0.1, **{part: 0.5})])
    with pytest.raises(ValueError, match=f"{what} of 'a' has {part} 0.5, and only positions are checked"):
        read_trajectory(goal)


def test_a_tolerance_below_zero_asks_for_no_check_and_is_taken() -> None:
    goal = FollowJointTrajectory.Goal()
    goal.path_tolerance = [JointTolerance(name="a", position=0.1, velocity=-1.0)]
    assert read_trajectory(goal).path_tolerance == {"a": 0.1}


def test_the_force_of_fingers_is_refused_by_a_cup() -> None:
    refused = force_refused("cup", 5.0)
    assert refused.code is Code.BAD_NUMBER
    assert "suction cup without fingers" in refused.message


def test_the_parameters_of_a_controller_are_read_as_they_are_written() -> None:
    wanted = AdmittanceSettings((True, False, True, False, False, True), joint_damping=7.0)
    assert read_parameters(parameter_messages(wanted), AdmittanceSettings()) == wanted


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("admittance.mas", [1.0] * 6, "is not one of"),
        ("admittance.mass", [1] * 6, "a list of six of type float"),
        ("admittance.mass", 1.0, "a list of six of type float"),
        ("admittance.mass", [1.0] * 5, "has 5 values"),
        ("admittance.mass", [0.0] * 6, "mass of axis x is 0"),
        ("admittance.selected_axes", [1.0] * 6, "a list of six of type bool"),
        ("admittance.joint_damping", "much", "of type float"),
        ("admittance.joint_damping", [1.0], "of type float"),
    ],
)
def test_a_parameter_that_is_wrong_is_named(name: str, value: object, says: str) -> None:
    message = Parameter(name, value=value).to_parameter_msg()
    with pytest.raises(ValueError, match=says):
        read_parameters([message], AdmittanceSettings())
