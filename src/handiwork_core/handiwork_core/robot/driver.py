"""What the drivers of arms report beside the joints: why the robot has stopped, and its speed scaling. Without ROS.

The names and the values are those that the drivers publish:

- ``ur_dashboard_msgs/msg/SafetyMode`` and ``RobotMode`` of the Universal Robots ROS 2 driver,
- ``franka_msgs/msg/FrankaRobotState`` of franka_ros2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class StopState:
    """A value of a signal with which the robot follows no trajectory.

    Attributes:
        name: What the robot has, such as "a protective stop".
        remedy: What to press or to call, as one clause.
    """

    name: str
    remedy: str


@dataclass(frozen=True, slots=True)
class StopSignal:
    """A topic of a driver that says whether the robot is stopped.

    Attributes:
        topic: Its name, below the driver's prefix.
        type: Type of its messages.
        field: Name of the field with the value.
        states: The values with which the robot is stopped.
        latched: The driver publishes it on change only, transient local.
    """

    topic: str
    type: str
    field: str
    states: Mapping[int, StopState]
    latched: bool = True


@dataclass(frozen=True, slots=True)
class Driver:
    """The driver of an arm.

    Attributes:
        name: Its name in ``robot.yaml``.
        signals: The topics of its stops; of several that are stopped, the first counts.
        speed_scaling: Topic of the speed scaling, ``std_msgs/msg/Float64``; empty for none.
        prefix: What comes before its topics.
    """

    name: str
    signals: tuple[StopSignal, ...] = field(default_factory=tuple)
    speed_scaling: str = ""
    prefix: str = ""

    def topic(self, name: str) -> str:
        """Return the name of a topic with the prefix.

        Args:
            name: Its name.
        """
        return f"{self.prefix}{name}"


RESTART = "then press play on the teach pendant, or call io_and_status_controller/resend_robot_program"
ENABLE = (
    "clear the cause, wait 5 s, press Enable Robot on the teach pendant or call "
    f"dashboard_client/unlock_protective_stop, {RESTART}"
)
RELEASE = f"release the emergency stop button, power the arm on and release its brakes on the teach pendant, {RESTART}"
SAFEGUARD = (
    "close the guard or free the light curtain, and reset the safeguard where it does not reset itself, "
    + RESTART
)
CONFIRM = f"read the message on the teach pendant, call dashboard_client/restart_safety, power the arm on, {RESTART}"
POWER_ON = f"power the arm on and release its brakes on the teach pendant, {RESTART}"

UR_SAFETY = {
    3: StopState("a protective stop", ENABLE),
    4: StopState(
        "the recovery mode", f"move the joints back within their limits on the teach pendant, {RESTART}"
    ),
    5: StopState("a safeguard stop", SAFEGUARD),
    6: StopState("an emergency stop of the cell", RELEASE),
    7: StopState("an emergency stop of the robot", RELEASE),
    8: StopState("a safety violation", CONFIRM),
    9: StopState("a fault", CONFIRM),
    10: StopState("a joint to be validated", CONFIRM),
    11: StopState("an undefined safety mode", CONFIRM),
    12: StopState("a safeguard stop of the automatic mode", SAFEGUARD),
    13: StopState(
        "a stop by the three-position enabling device", f"hold it in its middle position, {RESTART}"
    ),
}
UR_MODE = {
    mode: StopState(name, POWER_ON)
    for mode, name in {
        -1: "no connection to its controller",
        0: "no connection to its arm",
        1: "a safety configuration to be confirmed",
        2: "a controller that starts",
        3: "no power",
        4: "power, and its brakes",
        5: "its brakes engaged",
        6: "backdrive",
        8: "a firmware update",
    }.items()
}
UR_PROGRAM = {
    0: StopState(
        "no External Control program that runs",
        "press play on the teach pendant, or call io_and_status_controller/resend_robot_program",
    )
}
FRANKA_MODE = {
    3: StopState("the guiding mode", "let go of the guiding button, and close the enabling device"),
    4: StopState(
        "a reflex: contact, or a limit of force, velocity or acceleration",
        "clear the cause, then send a goal to action_server/error_recovery, and activate the controller",
    ),
    5: StopState(
        "the user stop",
        "release the user stop button, unlock the joints and activate FCI in the web interface, start the driver again",
    ),
    6: StopState("an automatic error recovery", "wait until it has ended"),
}

DRIVERS = {
    "universal_robots": Driver(
        "universal_robots",
        (
            StopSignal(
                "io_and_status_controller/safety_mode", "ur_dashboard_msgs/msg/SafetyMode", "mode", UR_SAFETY
            ),
            StopSignal(
                "io_and_status_controller/robot_mode", "ur_dashboard_msgs/msg/RobotMode", "mode", UR_MODE
            ),
            StopSignal(
                "io_and_status_controller/robot_program_running", "std_msgs/msg/Bool", "data", UR_PROGRAM
            ),
        ),
        "speed_scaling_state_broadcaster/speed_scaling",
    ),
    "franka": Driver(
        "franka",
        (
            StopSignal(
                "franka_robot_state_broadcaster/robot_state",
                "franka_msgs/msg/FrankaRobotState",
                "robot_mode",
                FRANKA_MODE,
                latched=False,
            ),
        ),
    ),
}
"""The known drivers by their names in ``robot.yaml``."""


def stop_text(arm: str, state: StopState) -> str:
    """Return the sentence that a skill reports.

    Args:
        arm: Name of the arm.
        state: What its driver reports.
    """
    return f"{arm} has stopped and has {state.name}; {state.remedy}, then send the goal again"
