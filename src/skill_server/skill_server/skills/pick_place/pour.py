"""Pour: hold an open object over another one, tilt it about its lip, wait, and bring it upright again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.commands import Command, Motion
from handiwork_core.contracts.skill import Context
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.scene.bounds import world_aabb
from skill_server.geometry.solids import object_box
from skill_server.motions import arm_motions
from skill_server.params import checks
from skill_server.placing.box_overlap import inside_from_above
from skill_server.stages.commands import stage_commands
from skill_server.stages.staged_skill import StagedSkill
from skill_server.state import gripper_state

DIRECTIONS = 12
STEP_DEG = 15.0
UPRIGHT_RAD = 0.3
SPEED = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class PourParams(SkillParams):
    """Parameters of ``pour``.

    Attributes:
        container: Object to pour into.
        object: Held object, which is open at the end of its +z; empty: the one in the hand.
        height: Height of its lip over the top of ``container``, m.
        tilt_deg: Tilt, deg.
        wait_steps: Pause while tilted, steps of 1/30 s.
        particles: Beginning of the names of the poured objects; empty: none are counted.
        particle_num_th_min: More than this number must end in the container.
        particle_num_th_max: At most this number may end in the container.
        container_radius: Above 0: a particle is in the container within this distance of its origin, seen from
            above, m; 0: within its outline.
        container_up: Entries [object, its axis x, y or z, least height of that unit axis] of the objects that must
            stand in the end.
    """

    container: str
    object: str = ""
    height: float = 0.1
    tilt_deg: float = 100.0
    wait_steps: int = 45
    particles: str = ""
    particle_num_th_min: int = 0
    particle_num_th_max: int = 1_000_000
    container_radius: float = 0.0
    container_up: tuple[tuple[str, str, float], ...] = ()

    @property
    def targets(self) -> tuple[str, ...]:
        """The objects whose motion makes the chosen commands wrong."""
        return (self.container,)


class Pour(StagedSkill[PourParams]):
    """Pour out the content of the held object."""

    name = "pour"
    aliases = ("pour_water_succ",)
    params_type = PourParams
    object_fields = ("object", "container")

    def is_feasible(self, params: PourParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        same = checks.fault(
            Code.CONTRADICTION, "container", "object and container are the same; name two objects"
        )
        none = f"no object's name begins with {params.particles!r}; use a beginning of one of {sorted(world.objects)}"
        counted = not params.particles or any(name.startswith(params.particles) for name in world.objects)
        low, high = params.particle_num_th_min, params.particle_num_th_max
        return checks.all_faults(
            (
                checks.with_gripper(arm),
                checks.known_object("container", params.container, world),
                checks.known_object("object", params.object, world) if params.object else OK,
                same if params.object == params.container else OK,
                checks.number("height", params.height, 0.0, 1.0, "m"),
                checks.number("tilt_deg", params.tilt_deg, 1.0, 180.0, "deg"),
                checks.number("wait_steps", params.wait_steps, 0, 100_000, "steps"),
                checks.number("container_radius", params.container_radius, 0.0, 10.0, "m"),
                OK if counted else checks.fault(Code.UNKNOWN_OBJECT, "particles", none),
                checks.ordered("particle_num_th_min", low, "particle_num_th_max", high),
                *(_check_up(f"container_up[{i}]", *one, world) for i, one in enumerate(params.container_up)),
                arm_motions.check_run(params),
            )
        )

    def stages(self, params: PourParams, context: Context) -> Sequence[Sequence[SkillStage]]:
        """Make the stages up to the full tilt, for each side to tilt to."""
        world = context.world.snapshot()
        held = arm_motions.held(context, world, params.object)
        leaving = arm_motions.touching_now(context, world)
        angles = 2.0 * math.pi * (np.arange(DIRECTIONS) + context.rng.random()) / DIRECTIONS
        made = []
        for i, angle in enumerate(angles):
            first, *tilted = (
                pose @ held.link_T_object.inverse()
                for pose in _poses(params, world, held.object, float(angle))
            )
            transit = SkillStage("transit", first, leaving=leaving, speed=SPEED, cost=0.01 * i)
            tilts = (
                SkillStage("tilt", pose, Motion.STRAIGHT, speed=SPEED, waypoint=f"tilt {k}")
                for k, pose in enumerate(tilted, 1)
            )
            made.append((transit, *tilts))
        return made

    def commands(self, params: PourParams, context: Context) -> Sequence[Command]:
        """Choose the first side to tilt to that can be reached, and return the same way."""
        there = self.chosen_stages(params, context)
        back = (
            SkillStage("upright", stage.world_T_ee, Motion.STRAIGHT, speed=SPEED)
            for stage in reversed(there[:-1])
        )
        pause = SkillStage("pour", dwell_s=params.wait_steps / 30.0)
        return stage_commands((*there, pause, *back), params, context)

    def is_success(self, params: PourParams, before: World, after: World, context: Context) -> Outcome:
        """Check that the object is held and upright, and as many particles as asked have gone into the container."""
        held, gripper = arm_motions.held(context, after, params.object), context.arm_spec.gripper
        assert gripper is not None
        found = gripper_state.holds(after, context.robot, gripper, held.object)
        if not found.ok:
            return found
        up = after.states[held.object].world_T_object.rotation.matrix()[2, 2]
        if up < math.cos(UPRIGHT_RAD):
            return Outcome(
                Code.NOT_IN_PLACE, f"{held.object!r} is not upright: {math.degrees(math.acos(up)):.0f} deg"
            )
        for name, axis, least in params.container_up:
            height = float(after.states[name].world_T_object.rotation.matrix()[2, "xyz".index(axis)])
            if height < least:
                text = f"{axis} axis of {name!r} rises {height:.2f}, container_up asks for {least:g}"
                return Outcome(Code.NOT_IN_PLACE, text, "", "container_up")
        if not params.particles:
            return Outcome(Code.OK, f"poured from {held.object!r}")
        particles = [name for name in after.objects if name.startswith(params.particles)]
        kept = [name for name in particles if _is_inside(held.object, name, after)]
        count = sum(_is_in(params, name, after) for name in particles if name not in kept)
        text = f"{count} of {len(particles)} {params.particles!r} are in {params.container!r}"
        if kept:
            text += f", {len(kept)} still in {held.object!r}"
        good = params.particle_num_th_min < count <= params.particle_num_th_max
        return Outcome(Code.OK if good else Code.NOT_IN_PLACE, text)


def _check_up(key: str, name: str, axis: str, least: float, world: World) -> Outcome:
    return checks.all_faults(
        (
            checks.known_object(f"{key}[0]", name, world),
            checks.choice(f"{key}[1]", axis, ("x", "y", "z")),
            checks.number(f"{key}[2]", least, -1.0, 1.0, ""),
        )
    )


def _poses(params: PourParams, world: World, name: str, angle: float) -> list[Pose]:
    """Return object poses in the world: upright, then tilted step by step about the lip.

    The lip is that on the side ``angle`` of the world.
    """
    box = object_box(world.objects[name])
    now = world.states[name].world_T_object
    yaw = math.atan2(*(float(v) for v in now.rotation.matrix()[1::-1, 0]))
    upright = Rotation.from_axis_angle((0.0, 0.0, 1.0), yaw)
    side = np.array([math.cos(angle), math.sin(angle), 0.0])
    lip = box.pose.translation_m + (0.0, 0.0, box.size[2] / 2.0)
    reach = float(min(box.size[0], box.size[1])) / 2.0
    low, high = world_aabb(world.objects[params.container], world.states[params.container].world_T_object)
    pivot = np.array([*(low[:2] + high[:2]) / 2.0, high[2] + params.height])
    from_pivot = -(upright.matrix() @ lip + reach * side)
    axis = np.cross((0.0, 0.0, 1.0), side)
    count = max(1, math.ceil(params.tilt_deg / STEP_DEG))
    poses = []
    for tilt in np.linspace(0.0, math.radians(params.tilt_deg), count + 1):
        turn = Rotation.from_axis_angle(axis, float(tilt))
        # While it is upright, the object reaches far below its lip.
        raised = pivot + (0.0, 0.0, float(box.size[2]) * max(0.0, math.cos(tilt)))
        poses.append(Pose.of(raised + turn.matrix() @ from_pivot, turn @ upright))
    return poses


def _is_inside(vessel: str, name: str, world: World) -> bool:
    """Check whether an object's origin is in the box around a vessel, which may be over the container."""
    box = object_box(world.objects[vessel]).moved(world.states[vessel].world_T_object)
    local = box.pose.inverse().apply(world.states[name].world_T_object.translation_m)
    return bool((np.abs(local) < box.size / 2.0).all())


def _is_in(params: PourParams, name: str, world: World) -> bool:
    point = world.states[name].world_T_object.translation_m
    pose = world.states[params.container].world_T_object
    if params.container_radius > 0.0:
        return bool(np.linalg.norm((point - pose.translation_m)[:2]) < params.container_radius)
    low, _ = world_aabb(world.objects[params.container], pose)
    inside = inside_from_above(point, object_box(world.objects[params.container]).moved(pose))
    return inside and bool(point[2] > low[2])
