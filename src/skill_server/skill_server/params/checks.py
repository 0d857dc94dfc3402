"""Checks of goal fields; each outcome names the field, its value and the valid choices."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

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

LEAST_GRIP_N = 1.0
"""The least force of a finger that a goal may ask for, N: less does not overcome the friction of a gripper."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a check accepts in one field: numbers within limits, words of a list, or names of objects.

    Attributes:
        low: Least number.
        high: Greatest number.
        unit: Unit of both.
        choices: Valid words; none for a number.
        is_object: True for the name of an object.
    """

    low: float = -math.inf
    high: float = math.inf
    unit: str = ""
    choices: tuple[str, ...] = ()
    is_object: bool = False


_OBSERVED: ContextVar[dict[str, Bounds] | None] = ContextVar("_OBSERVED", default=None)


@contextmanager
def observed_bounds() -> Iterator[dict[str, Bounds]]:
    """Collect what the checks within the block accept, so that a form offers what a goal is checked by.

    Yields:
        Bounds by the name of the field, filled while the checks run.
    """
    found: dict[str, Bounds] = {}
    token = _OBSERVED.set(found)
    try:
        yield found
    finally:
        _OBSERVED.reset(token)


def _observe(field_name: str, bounds: Bounds) -> None:
    if (found := _OBSERVED.get()) is not None:
        found[field_name] = bounds


def all_faults(outcomes: Iterable[Outcome]) -> Outcome:
    """Join the outcomes of several checks.

    Args:
        outcomes: Outcomes of the checks.

    Returns:
        The first outcome that is not OK, with the further ones as its ``others``; OK when there is none.
    """
    found = [one for outcome in outcomes if not outcome.ok for one in outcome.all]
    return replace(found[0], others=tuple(found[1:])) if found else OK


def fault(code: Code, field_name: str, message: str) -> Outcome:
    """Return the refusal of one goal field, before any motion.

    Args:
        code: Code of the refusal.
        field_name: Field of the goal.
        message: Fault and correction.

    Returns:
        The outcome of stage ``check``.
    """
    return Outcome(code, message, "check", field_name)


def number(field_name: str, value: float, low: float, high: float, unit: str) -> Outcome:
    """Refuse a number that is not finite or not within [low, high].

    Args:
        field_name: Field of the goal.
        value: Number.
        low: Least valid number.
        high: Greatest valid number.
        unit: Unit in the message.

    Returns:
        OK, or the fault.
    """
    _observe(field_name, Bounds(low, high, unit))
    if math.isfinite(value) and low <= value <= high:
        return OK
    return fault(
        Code.BAD_NUMBER, field_name, f"{field_name} is {value:g} {unit}; use {low:g} to {high:g} {unit}"
    )


def ordered(low_name: str, low: float, high_name: str, high: float) -> Outcome:
    """Refuse a range whose low end is above its high end; an end that is nan is refused by another check.

    Args:
        low_name: Field of the low end.
        low: Low end.
        high_name: Field of the high end.
        high: High end.

    Returns:
        OK, or the fault.
    """
    if low <= high or math.isnan(low) or math.isnan(high):
        return OK
    text = f"{low_name} {low:g} is above {high_name} {high:g}; swap them or make them equal"
    return fault(Code.CONTRADICTION, low_name, text)


def ratio_range(field_name: str, pair: tuple[float, float]) -> Outcome:
    """Refuse ratios that are not finite, far outside of the container, or in the wrong order.

    Args:
        field_name: Field of the goal.
        pair: Low and high ratio of a side, 0 to 1 inside of it.

    Returns:
        OK, or the faults.
    """
    return all_faults(
        (
            number(f"{field_name}[0]", pair[0], -10.0, 10.0, "of the side"),
            number(f"{field_name}[1]", pair[1], -10.0, 10.0, "of the side"),
            ordered(f"{field_name}[0]", pair[0], f"{field_name}[1]", pair[1]),
        )
    )


def choice(field_name: str, value: str, choices: Sequence[str]) -> Outcome:
    """Refuse a word that is not among the choices.

    Args:
        field_name: Field of the goal.
        value: Word.
        choices: Valid words.

    Returns:
        OK, or the fault with the nearest valid word.
    """
    _observe(field_name, Bounds(choices=tuple(choices)))
    if value in choices:
        return OK
    return fault(Code.BAD_GOAL, field_name, f"{field_name} is {value!r}; {nearest(value, list(choices))}")


def known_object(field_name: str, name: str, world: World) -> Outcome:
    """Refuse an empty name, an object that is not in the world, and one whose pose is not known yet.

    Args:
        field_name: Field of the goal.
        name: Name of the object.
        world: World at the time of the goal.

    Returns:
        OK, or the fault.
    """
    _observe(field_name, Bounds(is_object=True))
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


def payload(field_name: str, name: str, world: World, *arms: ArmSpec) -> Outcome:
    """Refuse an object that is heavier than what arms may carry besides their tools.

    Args:
        field_name: Field of the goal.
        name: Name of the object; one that is not known, or whose mass is not, passes.
        world: World at the time of the goal.
        arms: Arms that carry it together; where one's rated payload is not known the object passes.

    Returns:
        OK, or the fault with the masses.
    """
    body = world.objects.get(name)
    if body is None or not all(arm.rated_payload_kg for arm in arms):
        return OK
    most_kg = sum(arm.rated_payload_kg - arm.tool_mass_kg for arm in arms)
    if body.mass_kg <= most_kg:
        return OK
    rated = " and ".join(
        f"{arm.name!r} is rated for {arm.rated_payload_kg:g} kg, {arm.tool_mass_kg:.2f} kg of which is its tool"
        for arm in arms
    )
    text = (
        f"{name!r} has a mass of {body.mass_kg:g} kg and {rated}; take an object of at most {most_kg:.2f} kg"
    )
    return fault(Code.BAD_GOAL, field_name, text)


def with_gripper(arm: ArmSpec) -> Outcome:
    """Refuse an arm that has no gripper.

    Args:
        arm: Arm of the goal.

    Returns:
        OK, or the fault.
    """
    if arm.gripper is not None:
        return OK
    return fault(Code.BAD_GOAL, "arm", f"arm {arm.name!r} has no gripper; use an arm with one")


def filters(field_name: str, items: Sequence[OrientationFilter], *, container: bool = False) -> Outcome:
    """Refuse filters with an unknown axis, direction or frame, with impossible angles, or of no width.

    Args:
        field_name: Field of the goal.
        items: Filters.
        container: True when there is a container, so that it may be the frame.

    Returns:
        OK, or the faults.
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
    """Refuse fields that differ from their defaults where they would have no effect.

    Args:
        params: Parameters of a skill.
        field_names: Fields without an effect.
        why: Reason and correction, the end of the message.

    Returns:
        OK, or the faults.
    """
    defaults = {f.name: f.default for f in dataclasses.fields(params)}  # type: ignore[arg-type]
    return all_faults(
        fault(Code.CONTRADICTION, name, f"{name} does nothing here: {why}")
        for name in field_names
        if getattr(params, name) != defaults[name]
    )


def execution(
    t_eps: float, o_eps: float, velocity: float, acceleration: float, planning_time: float
) -> tuple[Outcome, ...]:
    """Check the fields that every skill has for the executor.

    Args:
        t_eps: Position tolerance, m.
        o_eps: Angle tolerance, rad.
        velocity: Scaling of the joints' velocity limits, 0.01 to 1.
        acceleration: Scaling of the joints' acceleration limits, 0.01 to 1.
        planning_time: Steady time for one plan, s.

    Returns:
        The outcome of each check.
    """
    return (
        number("t_eps", t_eps, 1e-4, 0.1, "m"),
        number("o_eps", o_eps, 1e-3, math.pi, "rad"),
        number("max_velocity_scaling_factor", velocity, 0.01, 1.0, "of the limit"),
        number("max_acceleration_scaling_factor", acceleration, 0.01, 1.0, "of the limit"),
        number("allowed_planning_time", planning_time, 0.05, 120.0, "s"),
    )


def grip_force(force_n: float, arm: ArmSpec, *, is_closing: bool) -> Outcome:
    """Refuse a force of the fingers that the hand cannot bound, or that has no effect.

    Args:
        force_n: Field ``grip_force``, N; 0 is always valid.
        arm: Arm of the goal.
        is_closing: True when the goal closes the hand.

    Returns:
        OK, or the fault.
    """
    if force_n == 0.0 or arm.gripper is None:
        return OK
    if arm.gripper.suction is not None:
        text = f"{arm.gripper.name!r} is a suction cup, which has no force of fingers; leave grip_force at 0"
        return fault(Code.UNSUPPORTED, "grip_force", text)
    if not is_closing:
        return fault(Code.CONTRADICTION, "grip_force", "the hand does not close; leave grip_force at 0")
    return number("grip_force", force_n, LEAST_GRIP_N, arm.gripper.max_force_n, "N")
