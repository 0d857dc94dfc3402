"""Checks of what the drivers of arms report: stops, and the speed scaling. Imports no ROS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from handiwork_core.robot.driver import Driver

from .findings import CheckFinding, failed, missing, passed


@dataclass(frozen=True, slots=True)
class DriverReading:
    """What the driver of one arm has reported.

    Attributes:
        arm: Name of the arm.
        driver: Its driver.
        has_signal: A signal of stops was received.
        stop: Why the robot has stopped the arm; empty while it has not.
        scaling: The speed scaling; None if none was received.
        unreadable: Topics whose type is not installed, with the type.
    """

    arm: str
    driver: Driver
    has_signal: bool
    stop: str = ""
    scaling: float | None = None
    unreadable: Mapping[str, str] = field(default_factory=dict)


def judge_driver(reading: DriverReading, *, is_simulated: bool) -> Iterator[CheckFinding]:
    """Judge the reports of one driver.

    Args:
        reading: Its reports.
        is_simulated: The backend is a simulator, which has no driver.

    Yields:
        The findings.
    """
    arm, name = reading.arm, reading.driver.name
    for topic, kind in reading.unreadable.items():
        remedy = f"install {kind.split('/', maxsplit=1)[0]}, or source the workspace of the driver before this stack"
        yield failed(f"driver type {topic}", f"{kind} is not installed: its stops are not seen", remedy)
    check = f"driver stop {arm}"
    if reading.stop:
        yield failed(check, reading.stop.split("; ")[0], reading.stop.split("; ", maxsplit=1)[-1])
    elif reading.has_signal:
        yield passed(check, f"{name} reports no stop")
    else:
        remedy = f"start the controllers of {name} that report its state, or leave out arms.{arm}.driver"
        yield missing(check, "nothing of its stops was received", remedy, required=not is_simulated)
    if reading.driver.speed_scaling:
        yield _scaling(reading, is_simulated=is_simulated)


def _scaling(reading: DriverReading, *, is_simulated: bool) -> CheckFinding:
    check, value = f"driver scaling {reading.arm}", reading.scaling
    if value is None:
        remedy = f"publish {reading.driver.topic(reading.driver.speed_scaling)}; without it a slider at 0 is a time-out"
        return missing(check, "no speed scaling was received", remedy, required=not is_simulated)
    if value <= 0.0:
        remedy = "raise the speed slider, and let the program run: no motion begins at 0"
        return failed(check, f"the speed scaling is {value:g}", remedy)
    if value > 100.0:
        return failed(check, f"the speed scaling is {value:g}", "publish a share of 1, or percent")
    return passed(check, f"the speed scaling is {value:g}")
