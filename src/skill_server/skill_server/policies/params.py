"""Parameters of the skill ``run_policy``, and their check before anything moves."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field, replace

from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_policy.actions.spec import ActionDecoder, ActionSpace, GripperSpace
from handiwork_policy.guard.settings import GuardSettings
from handiwork_policy.loop.settings import CameraInput, PolicySettings
from handiwork_policy.loop.state_layout import StateLayout
from handiwork_policy.protocol.connection import EXAMPLES, SCHEMES
from skill_server.motions import arm_motions
from skill_server.params import checks

LEAST_HZ = 5.0
"""An arm brakes in steps of the loop; with fewer of them it would end too late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPolicyParams(SkillParams):
    """Parameters of ``run_policy``.

    Attributes:
        server: Address of the policy server, as in ``ws://localhost:8000`` (openpi's protocol) or
            ``gr00t://localhost:5555``.
        instruction: The sentence that the policy gets.
        cameras: Its pictures: ``key``, ``camera`` or ``topic``, ``width``, ``height``.
        state: Parts of its state, in order: joint_position, joint_velocity, gripper_width, gripper_open_share, ee_pose,
            object_pose(NAME).
        state_key: Key of the state in the observation.
        state_keys: Keys of the parts of the state, one for each; none: all parts together at ``state_key``.
        prompt_key: Key of the instruction.
        action_space: joint_position, joint_delta, ee_pose or ee_delta.
        gripper: Meaning of the last number of an action: width, open_share, closed_share or none.
        action_scale: Factor on deltas.
        rate_hz: Actions a second, 5 to 100.
        chunk: Number of actions in a chunk; 0: any.
        execute_steps: Number of actions after which the next chunk is asked for; 0: all.
        asynchronous: True: the rest of a chunk is executed until the next one is there. False: the arm waits for it.
        blend_steps: Number of steps in which the arm passes from a chunk to the next.
        until: Condition that ends the run with success, once it is confirmed; the monitor must watch it.
        subtasks: Watched conditions of the way there; the progress is the share of them that is TRUE.
        time_limit: Longest time of the run, s.
        server_timeout: Longest wait for an answer, s.
        guard: Settings of the guard.
    """

    server: str
    until: str
    instruction: str = ""
    cameras: tuple[CameraInput, ...] = ()
    state: tuple[str, ...] = ("joint_position", "gripper_width")
    state_key: str = "observation/state"
    state_keys: tuple[str, ...] = ()
    prompt_key: str = "prompt"
    action_space: ActionSpace = ActionSpace.JOINT_POSITION
    gripper: GripperSpace = GripperSpace.WIDTH
    action_scale: float = 1.0
    rate_hz: float = 25.0
    chunk: int = 0
    execute_steps: int = 8
    asynchronous: bool = True
    blend_steps: int = 2
    subtasks: tuple[str, ...] = ()
    time_limit: float = 60.0
    server_timeout: float = 5.0
    guard: GuardSettings = field(default_factory=GuardSettings)


def settings_of(params: RunPolicyParams, world: World) -> PolicySettings:
    """Return the settings of the loop.

    Args:
        params: Parameters of the goal.
        world: The newest snapshot, with the objects that ``ignore_substring`` may name.

    Raises:
        ValueError: They contradict each other; the text begins with the field.
    """
    names = [one.name for one in dataclasses.fields(PolicySettings)]
    ignored = [n for n in world.objects if any(part in n for part in params.ignore_substring)]
    guard = replace(
        params.guard,
        velocity_scaling=params.guard.velocity_scaling * params.max_velocity_scaling_factor,
        acceleration_scaling=params.guard.acceleration_scaling * params.max_acceleration_scaling_factor,
        may_touch=tuple(dict.fromkeys((*params.guard.may_touch, *ignored))),
    )
    return PolicySettings(**{name: getattr(params, name) for name in names} | {"guard": guard})


def check_params(params: RunPolicyParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
    """Check parameters by themselves, without the server.

    Args:
        params: Parameters of the goal.
        robot: The robot.
        arm: The arm of the goal.
        world: The newest snapshot.

    Returns:
        OK, or the faults with their fields.
    """
    known = sorted(world.objects)
    unknown = [name for name in params.guard.may_touch if name not in world.objects]
    touch = f"guard.may_touch has {unknown[0]!r}; the known objects are {known}" if unknown else ""
    return checks.all_faults(
        (
            _server(params.server),
            checks.number("rate_hz", params.rate_hz, LEAST_HZ, 100.0, "Hz"),
            arm_motions.check_run(params),
            Outcome(Code.UNKNOWN_OBJECT, touch, "check", "guard.may_touch") if touch else OK,
            _fits(params, robot, arm, world),
        )
    )


def _server(address: str) -> Outcome:
    if address.startswith(SCHEMES):
        return OK
    text = f"server is {address!r}; write an address such as {EXAMPLES}"
    return checks.fault(Code.BAD_GOAL, "server", text)


def _fits(params: RunPolicyParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
    """Check what belongs to the arm: its action space, and the parts of the state."""
    try:
        settings = settings_of(params, world)
        ActionDecoder(robot, arm, settings.action_space, settings.gripper)
        layout = StateLayout(robot, arm, settings.state)
    except ValueError as error:
        text = str(error)
        return Outcome(Code.BAD_GOAL, text, "check", text.split(" ", 1)[0])
    missing = layout.check(world)
    return Outcome(Code.BAD_GOAL, missing, "check", "state") if missing else OK
