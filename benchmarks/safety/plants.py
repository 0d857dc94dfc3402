"""Planted faults, one for each limit of the safety layer, run in the real simulation and judged by other code.

A fault that the controllers themselves would refuse is planted below them, as a controller that goes wrong. The time at
which a limit is first exceeded is found from the controller's reference and the measured world, with numpy, not with
the code of the safety layer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from handiwork_core.control.trajectory_controller import Reference, TrajectoryController, TrajectoryResult
from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.model.geometry import Array
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_core.safety.config import SafetyConfig, Zone, ZoneShape
from handiwork_core.safety.state import Cause, SafetyStatus
from handiwork_core.scene.loader import load_scene
from sim_bridge.mujoco.simulation import CONTROL_S, Simulation

ROOT = Path(__file__).parents[2]
ARM = "fr3_arm"
LONGEST_S = 9.5
ALONE = SafetyConfig(contact_force=0.0, effort_scale=0.0)
"""A configuration in which one limit is tried at a time; those that are tried are switched on again."""


class FaultyController(TrajectoryController):
    """A controller that replaces its reference by that of ``wants``; periods are counted from the start."""

    wants: Callable[[int, Reference], Reference]
    periods: int = 0

    @classmethod
    def in_place_of(
        cls, controller: TrajectoryController, wants: Callable[[int, Reference], Reference]
    ) -> FaultyController:
        """Return the same controller with a fault.

        Args:
            controller: The controller.
            wants: From period and true reference to the faulty reference.
        """
        made = cls(controller.limits, controller.reference.position, controller.tolerances)
        made.wants = wants
        return made

    def update(self, q: Array, qd: Array, step_s: float) -> Reference:
        """Return the faulty reference.

        Args:
            q: Measured positions, (n,), rad.
            qd: Measured velocities, (n,), rad/s.
            step_s: The control period, s.
        """
        good = super().update(q, qd, step_s)
        self.reference = self.wants(self.periods, good)
        self.periods += 1
        return self.reference


@dataclass(frozen=True)
class Plant:
    """A fault.

    Attributes:
        cause: The cause that the safety layer must name.
        start: Plants the fault.
        exceeds: Judges one period, given the simulation and the reference of the period before.
        config: The limits.
        scene: Name of the scene.
    """

    cause: Cause
    start: Callable[[Simulation, np.random.Generator], None]
    exceeds: Callable[[Simulation, Reference], bool]
    config: SafetyConfig = ALONE
    scene: str = "tabletop"


@dataclass
class Finding:
    """The reaction to a fault: times since the start [s], nan for what did not happen; ``peak_n`` [N] is unfiltered."""

    status: SafetyStatus
    result: TrajectoryResult | None
    exceeded_s: float = float("nan")
    braked_s: float = float("nan")
    rest_s: float = float("nan")
    peak_n: float = 0.0
    worst_brake: float = 0.0
    """Greatest deceleration that the stop commanded, as a share of the joints' limits."""
    closest_m: float = float("inf")
    """Smallest measured distance of any sphere of the arm to a zone, m."""
    reasons: list[str] = field(default_factory=list)

    @property
    def reaction_s(self) -> float:
        """The time from the first period that exceeded the limit to the end of that whose command brakes, s."""
        return self.braked_s - self.exceeded_s + CONTROL_S

    @property
    def stop_s(self) -> float:
        """The time from the first braking command to standstill, s."""
        return self.rest_s - self.braked_s


def run(robot: Robot, plant: Plant, seed: int, longest_s: float = LONGEST_S) -> Finding:
    """Plant a fault in a new simulation, and watch until the arm rests.

    Args:
        robot: The robot.
        plant: The fault.
        seed: Seed of its parameters.
        longest_s: Largest simulated time, s.
    """
    simulation = Simulation(robot, load_scene(ROOT / f"config/scenes/{plant.scene}.yaml"), plant.config)
    return watch(simulation, plant, np.random.default_rng(seed), longest_s)


def watch(
    simulation: Simulation, plant: Plant, rng: np.random.Generator, longest_s: float = LONGEST_S
) -> Finding:
    """Plant a fault in a simulation, and watch until the arm rests.

    Args:
        simulation: The simulation.
        plant: The fault.
        rng: Random numbers for its parameters.
        longest_s: Largest simulated time, s.
    """
    plant.start(simulation, rng)
    arm, safety = simulation.arms[ARM], simulation.safety
    found, before = Finding(safety.status, None), arm.controller.reference
    sent = safety.rate[arm.indices].copy()
    for period in range(round(longest_s / CONTROL_S)):
        now_s = period * CONTROL_S
        simulation.advance(1)
        # The reference and the measurement at the beginning of a period decide about it.
        if np.isnan(found.exceeded_s) and plant.exceeds(simulation, before):
            found.exceeded_s = now_s
        rate = safety.rate[arm.indices]
        if safety.status.is_stopped:
            found.reasons += [safety.status.reason]
            found.braked_s = now_s if np.isnan(found.braked_s) else found.braked_s
            slowing = np.abs(rate - sent) / CONTROL_S / arm.controller.limits.acceleration
            is_from_command = safety.status.violation is not None and now_s > found.braked_s
            found.worst_brake = max(found.worst_brake, float(slowing.max()) if is_from_command else 0.0)
        if plant.cause is Cause.CONTACT_FORCE:
            found.peak_n = max(found.peak_n, force_on(simulation))
        found.closest_m = min(found.closest_m, gap(simulation, plant.config))
        before, sent = arm.controller.reference, rate.copy()
        if safety.status.is_stopped and safety.status.at_rest:
            found.rest_s = now_s
            break
        if not simulation.busy:
            break
    found.status, found.result = safety.status, arm.controller.result
    return found


def force_on(simulation: Simulation) -> float:
    """Return the net contact force on the robot from the world's contacts, N.

    Args:
        simulation: The simulation.
    """
    own, total = f"{simulation.robot.name}/", np.zeros(3)
    for contact in simulation.world.contacts():
        if contact.a.startswith(own) != contact.b.startswith(own):
            total += contact.force_on_a_n if contact.a.startswith(own) else -contact.force_on_a_n
    return float(np.linalg.norm(total))


def gap(simulation: Simulation, config: SafetyConfig) -> float:
    """Return the least distance of the measured arm's spheres from a box that is a zone, m; inf without one.

    Args:
        simulation: The simulation.
        config: The limits; its first zone counts.
    """
    if not config.zones:
        return float("inf")
    zone, joints = config.zones[0], simulation.world.joints()
    named = dict(zip(simulation.world.joint_names, joints.position.tolist(), strict=True))
    poses, least = link_poses(simulation.robot, named), float("inf")
    for item in simulation.robot.spheres:
        if item.link == simulation.robot.root_link:
            continue
        outside = np.abs(poses[item.link].apply(item.centers) - zone.center) - np.array(zone.size) / 2.0
        distance = np.linalg.norm(np.maximum(outside, 0.0), axis=1) + np.minimum(outside.max(axis=1), 0.0)
        least = min(least, float((distance - item.radii).min()))
    return least


def move(simulation: Simulation, turn: Array, duration_s: float, *, blind: bool = False) -> None:
    """Start a quintic motion.

    Args:
        simulation: The simulation.
        turn: Move of the joints, (dof,), rad.
        duration_s: Duration, s.
        blind: Lift the path tolerance of the controller itself.
    """
    arm, spec = simulation.arms[ARM], simulation.robot.arms[ARM]
    start = simulation.measured(ARM)
    t = np.linspace(0.0, duration_s, max(3, round(duration_s / 0.01) + 1))
    u = (t / duration_s)[:, None]
    q = start + turn * (10 * u**3 - 15 * u**4 + 6 * u**5)
    qd = turn * (30 * u**2 - 60 * u**3 + 30 * u**4) / duration_s
    if blind:
        arm.controller.tolerances = replace(arm.controller.tolerances, path=math.inf, greatest_path=math.inf)
    arm.controller.start(TrajectoryGoal(spec.joint_names, t, q, qd), start)


def go_wrong(simulation: Simulation, wants: Callable[[int, Reference], Reference]) -> None:
    """Replace the arm's controller by a faulty one, on a slow motion.

    Args:
        simulation: The simulation.
        wants: From period and true reference to the faulty reference.
    """
    arm = simulation.arms[ARM]
    arm.controller = FaultyController.in_place_of(arm.controller, wants)
    move(simulation, np.eye(7)[0] * 0.2, 3.0)


def ramp(joint: int, rise: float, top: float, begin: int) -> Callable[[int, Reference], Reference]:
    """Return a fault that speeds up one joint from a period on; the others stop.

    Args:
        joint: Index of the joint.
        rise: Acceleration, rad/s^2.
        top: Largest speed, rad/s.
        begin: The period.
    """
    held: list[Reference] = []

    def wants(period: int, good: Reference) -> Reference:
        if period <= begin:
            held[:] = [good]
            return good
        was = held[0]
        rate = np.zeros(len(was.velocity))
        rate[joint] = min(top, was.velocity[joint] + rise * CONTROL_S)
        for other in range(len(rate)):
            if other != joint:
                rate[other] = np.sign(was.velocity[other]) * max(
                    0.0, abs(was.velocity[other]) - rise * CONTROL_S
                )
        held[:] = [Reference(was.position + rate * CONTROL_S, rate)]
        return held[0]

    return wants


def too_fast(simulation: Simulation, rng: np.random.Generator) -> None:
    """Plant a joint that is too fast.

    Args:
        simulation: The simulation.
        rng: Random numbers.
    """
    go_wrong(simulation, ramp(0, 8.0, 4.0, int(rng.integers(50, 500))))


def beyond_limit(simulation: Simulation, rng: np.random.Generator) -> None:
    """Plant a joint that moves beyond its limit.

    Args:
        simulation: The simulation.
        rng: Random numbers.
    """
    go_wrong(simulation, ramp(6, 5.0, float(rng.uniform(0.5, 2.0)), int(rng.integers(50, 200))))


def step(simulation: Simulation, rng: np.random.Generator) -> None:
    """Plant a jump of the reference.

    Args:
        simulation: The simulation.
        rng: Random numbers.
    """
    begin, jump = int(rng.integers(50, 500)), float(rng.uniform(0.03, 0.15))

    def wants(period: int, good: Reference) -> Reference:
        return good if period < begin else Reference(good.position + np.eye(7)[1] * jump, good.velocity)

    go_wrong(simulation, wants)


def sharp(simulation: Simulation, rng: np.random.Generator) -> None:
    """Start a motion with too much acceleration.

    Args:
        simulation: The simulation.
        rng: Random numbers.
    """
    turn, sharpness = float(rng.uniform(0.08, 0.2)), float(rng.uniform(1.7, 2.5))
    duration_s = np.sqrt(5.7735 * turn / (sharpness * 10.0))
    move(simulation, np.eye(7)[int(rng.integers(0, 3))] * turn, float(duration_s))


def fast_tool(simulation: Simulation, rng: np.random.Generator) -> None:
    """Start a motion with too fast a tool.

    Args:
        simulation: The simulation.
        rng: Random numbers.
    """
    move(simulation, np.eye(7)[0] * float(rng.choice([-1.0, 1.0])) * float(rng.uniform(0.8, 1.4)), 1.2)


def press_down(simulation: Simulation, rng: np.random.Generator) -> None:
    """Start a motion into the table, with the path tolerance lifted.

    Args:
        simulation: The simulation.
        rng: Random numbers.
    """
    turn = np.array([0.0, 1.75, 0.0, 0.2, 0.0, 1.3, 0.0])
    move(simulation, turn, float(rng.uniform(6.0, 9.0)), blind=True)


def sweep(simulation: Simulation, rng: np.random.Generator) -> None:
    """Swing towards the side, at a random speed.

    Args:
        simulation: The simulation.
        rng: Random numbers.
    """
    move(simulation, np.eye(7)[0] * 1.5, float(rng.uniform(1.3, 3.0)))


def excess(what: str, scale: float) -> Callable[[Simulation, Reference], bool]:
    """Return a check whether the reference exceeds the joints' velocity or acceleration.

    Args:
        what: "velocity" or "acceleration".
        scale: Factor of the limits.
    """

    def exceeds(simulation: Simulation, before: Reference) -> bool:
        controller = simulation.arms[ARM].controller
        now, limits = controller.reference, controller.limits
        if what == "velocity":
            return bool((np.abs(now.velocity) > scale * limits.velocity).any())
        bend = (now.velocity - before.velocity) / CONTROL_S
        return bool((np.abs(bend) > scale * limits.acceleration).any())

    return exceeds


def jumps(simulation: Simulation, before: Reference) -> bool:
    """Check whether the reference went farther in a period than any joint could.

    Args:
        simulation: The simulation.
        before: The reference of the period before.
    """
    controller = simulation.arms[ARM].controller
    way = np.abs(controller.reference.position - before.position) / CONTROL_S
    return bool((way > 1.05 * controller.limits.velocity).any())


def is_beyond(simulation: Simulation, _before: Reference) -> bool:
    """Check whether a joint can no longer brake in front of its limit.

    Args:
        simulation: The simulation.
        _before: The reference of the period before.
    """
    controller = simulation.arms[ARM].controller
    limits, q, qd = controller.limits, controller.reference.position, controller.reference.velocity
    rest = q + qd * np.abs(qd) / (2.0 * limits.acceleration)
    return bool(((rest > limits.upper + 0.002) | (rest < limits.lower - 0.002)).any())


def tool_excess(limit: float) -> Callable[[Simulation, Reference], bool]:
    """Return a check whether the tool is too fast, by differences of the reference's tool position.

    Args:
        limit: Largest speed, m/s.
    """

    def exceeds(simulation: Simulation, before: Reference) -> bool:
        controller = simulation.arms[ARM].controller
        spec = simulation.robot.arms[ARM]
        ahead = 1e-4
        points = []
        for q in (
            controller.reference.position,
            controller.reference.position + ahead * controller.reference.velocity,
        ):
            named = dict(zip(spec.joint_names, q.tolist(), strict=True))
            points.append(link_poses(simulation.robot, named, (spec.tcp_link,))[spec.tcp_link].translation_m)
        return float(np.linalg.norm(points[1] - points[0])) / ahead > limit

    return exceeds


def effort_excess(simulation: Simulation, _before: Reference) -> bool:
    """Check whether an effort exceeds 95 % of its limit.

    Args:
        simulation: The simulation.
        _before: The reference of the period before.
    """
    spec, arm = simulation.robot.arms[ARM], simulation.arms[ARM]
    limits = np.array([simulation.robot.joints[name].effort for name in spec.joint_names])
    return bool((np.abs(simulation.world.joints().effort[arm.indices]) > 0.95 * limits).any())


def force_excess(limit: float) -> Callable[[Simulation, Reference], bool]:
    """Return a check whether the net contact force is too large.

    Args:
        limit: Largest force, N.
    """
    return lambda simulation, _before: force_on(simulation) > limit


ZONE = Zone("doorway", ZoneShape.BOX, (0.1, 0.4, 0.45), (0.8, 0.3, 0.9))
FORCE_N = 100.0
PLANTS = {
    "velocity": Plant(Cause.VELOCITY, too_fast, excess("velocity", 1.05)),
    "acceleration": Plant(Cause.ACCELERATION, sharp, excess("acceleration", 1.5)),
    "step of the command": Plant(Cause.VELOCITY, step, jumps),
    "position": Plant(Cause.POSITION, beyond_limit, is_beyond),
    "effort": Plant(
        Cause.EFFORT, press_down, effort_excess, replace(ALONE, effort_scale=0.95, effort_time_s=0.0)
    ),
    "tool speed": Plant(Cause.TOOL_SPEED, fast_tool, tool_excess(0.4), replace(ALONE, tool_speed=0.4)),
    "zone": Plant(Cause.ZONE, sweep, lambda _simulation, _before: False, replace(ALONE, zones=(ZONE,))),
    "contact force": Plant(
        Cause.CONTACT_FORCE,
        press_down,
        force_excess(FORCE_N),
        replace(ALONE, contact_force=FORCE_N, transient_force=FORCE_N, contact_time_s=0.0),
    ),
}
