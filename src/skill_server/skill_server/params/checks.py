"""Checks of goal fields, each one an Outcome that names the field, its value and the valid choices."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec
from skill_server.geometry.orientation_cones import (
    DIRECTIONS,
    EE_AXES,
    FRAMES,
    OrientationFilter,
)


def all_faults(outcomes: Iterable[Outcome]) -> Outcome:
    """The first that is not OK, with the further ones as its ``others``; or OK."""
    found = [one for outcome in outcomes if not outcome.ok for one in outcome.all]
    return replace(found[0], others=tuple(found[1:])) if found else OK


def fault(code: Code, field_name: str, message: str) -> Outcome:
    """A refusal of one goal field, before anything moved."""
    return Outcome(code, message, "check", field_name)


def number(field_name: str, value: float, low: float, high: float, unit: str) -> Outcome:
    """Refuse what is not finite or not within [low, high]."""
    if math.isfinite(value) and low <= value <= high:
        return OK
    return fault(
        Code.BAD_NUMBER, field_name, f"{field_name} is {value:g} {unit}; use {low:g} to {high:g} {unit}"
    )


def ordered(low_name: str, low: float, high_name: str, high: float) -> Outcome:
    """Refuse a range that is upside down; ends that are no numbers are refused elsewhere."""
    if low <= high or math.isnan(low) or math.isnan(high):
        return OK
    text = f"{low_name} {low:g} is above {high_name} {high:g}; swap them or make them equal"
    return fault(Code.CONTRADICTION, low_name, text)


def ratio_range(field_name: str, pair: tuple[float, float]) -> Outcome:
    """Refuse ratios that are not finite, far outside of the container, or upside down."""
    return all_faults(
        (
            number(f"{field_name}[0]", pair[0], -10.0, 10.0, "of the side"),
            number(f"{field_name}[1]", pair[1], -10.0, 10.0, "of the side"),
            ordered(f"{field_name}[0]", pair[0], f"{field_name}[1]", pair[1]),
        )
    )


def choice(field_name: str, value: str, choices: Sequence[str]) -> Outcome:
    """Refuse a word that is not offered."""
    if value in choices:
        return OK
    return fault(Code.BAD_GOAL, field_name, f"{field_name} is {value!r}; {nearest(value, list(choices))}")


def known_object(field_name: str, name: str, world: World) -> Outcome:
    """Refuse an empty name, an object that the world does not hold, and one whose pose is not known yet."""
    if not name:
        return fault(Code.BAD_GOAL, field_name, f"{field_name} is empty; use one of {sorted(world.objects)}")
    if name not in world.objects:
        return fault(
            Code.UNKNOWN_OBJECT, field_name, f"no object {name!r}; {nearest(name, sorted(world.objects))}"
        )
    if name not in world.states:
        return fault(
            Code.STALE_WORLD, field_name, f"the pose of {name!r} is not known yet; wait for object_states"
        )
    return OK


def with_gripper(arm: ArmSpec) -> Outcome:
    """Refuse an arm that cannot grasp."""
    if arm.gripper is not None:
        return OK
    return fault(Code.BAD_GOAL, "arm", f"arm {arm.name!r} has no gripper; use an arm with one")


def filters(field_name: str, items: Sequence[OrientationFilter], *, container: bool = False) -> Outcome:
    """Refuse filters that name no axis, direction or frame, have impossible angles, or leave no width.

    ``container``: there is one, so that it may be the frame.
    """
    frames = FRAMES if container else tuple(frame for frame in FRAMES if frame != "container")
    return all_faults(_filter(f"{field_name}[{i}]", item, frames) for i, item in enumerate(items))


def _filter(key: str, item: OrientationFilter, frames: Sequence[str]) -> Outcome:
    width = OK
    if item.min_angle_deg == item.max_angle_deg:
        text = f"{key} has the same smallest and largest angle {item.min_angle_deg:g} deg; leave a width"
        width = fault(Code.CONTRADICTION, f"{key}.max_angle_deg", text)
    return all_faults(
        (
            choice(f"{key}.ee_axis", item.ee_axis, tuple(EE_AXES)),
            choice(f"{key}.direction", item.direction, tuple(DIRECTIONS)),
            choice(f"{key}.frame", item.frame, frames),
            number(f"{key}.min_angle_deg", item.min_angle_deg, 0.0, 180.0, "deg"),
            number(f"{key}.max_angle_deg", item.max_angle_deg, 0.0, 180.0, "deg"),
            width,
        )
    )


def without_effect(params: object, field_names: Iterable[str], why: str) -> Outcome:
    """Refuse fields that are not as by default where they would do nothing; ``why`` ends in what to do."""
    defaults = {f.name: f.default for f in dataclasses.fields(params)}  # type: ignore[arg-type]
    return all_faults(
        fault(Code.CONTRADICTION, name, f"{name} does nothing here: {why}")
        for name in field_names
        if getattr(params, name) != defaults[name]
    )


def execution(
    t_eps: float, o_eps: float, velocity: float, acceleration: float, planning_time: float
) -> tuple[Outcome, ...]:
    """Checks of the fields that every skill has for the executor."""
    return (
        number("t_eps", t_eps, 1e-4, 0.1, "m"),
        number("o_eps", o_eps, 1e-3, math.pi, "rad"),
        number("max_velocity_scaling_factor", velocity, 0.01, 1.0, "of the limit"),
        number("max_acceleration_scaling_factor", acceleration, 0.01, 1.0, "of the limit"),
        number("allowed_planning_time", planning_time, 0.05, 120.0, "s"),
    )
