"""State of one command list under way: what the commands done so far leave for those that follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass

from handiwork_core.contracts.commands import Command, Motion
from handiwork_core.contracts.skill import Context
from handiwork_core.model.geometry import Array
from handiwork_core.model.world import World
from skill_server.following.expected_targets import MOVED_M, ExpectedTargets
from skill_server.params.following import Following, following_of
from skill_server.params.protocol import RunParams


def _nothing(_rest_q: Array) -> None:
    return


NO_VELOCITIES: Mapping[str, Array] = {}


@dataclass(slots=True)
class ExecutionState:
    """All that changes while a command list is executed, but for what ``Context`` keeps for the whole run.

    ``CommandExecutor`` makes one for each list, and hands it to the functions that read or write it.

    Attributes:
        before: World that the commands were chosen in.
        targets: Names of the objects that must still be where they are in ``before``; empty once one is held or let go.
        velocities: Velocity (3,) [m/s] of each target that moves evenly, and is expected to move on.
        following: How the targets are watched during motions; None: between motions alone.
        on_moved: Called once when a motion ends because a target moved, before the arm is at rest, with the
            configuration (dof,) [rad] in which it will probably rest; must not wait.
        target_fields: The goal field that names each target, by the target's name.
        ignored: Names of the objects that are no obstacles.
        hold_vec_weight: Weights of the pose components that plans must hold; None for none.
        keeps_hold: True while an object in ``Context.held`` must not leave the hand.
        gripper_m: Width that the gripper was last sent to [m]; None before the first command to it.
        grip_n: Force of a finger that was sent with it, N; None where it is not known.
        is_touched: True once the hand has closed, or opened on what it held.
        world_version: Newest version of the world in which a finished motion was planned.
        begun: Commands that were begun, in order.
        first_free_q: Configuration (dof,) [rad] that the first free motion of the list leads to, where it has one.
    """

    before: World
    targets: tuple[str, ...] = ()
    velocities: Mapping[str, Array] = field(default_factory=dict)
    following: Following | None = None
    on_moved: Callable[[Array], None] = _nothing
    target_fields: Mapping[str, str] = field(default_factory=dict)
    ignored: frozenset[str] = frozenset()
    hold_vec_weight: tuple[float, ...] | None = None
    keeps_hold: bool = True
    gripper_m: float | None = None
    grip_n: float | None = None
    is_touched: bool = False
    world_version: int = 0
    begun: list[Command] = field(default_factory=list)
    first_free_q: Array | None = None

    @property
    def expected(self) -> ExpectedTargets:
        """The places at which the targets are expected."""
        return ExpectedTargets(self.before, self.velocities)

    @property
    def tolerance_m(self) -> float:
        """The distance by which a target may be elsewhere, m."""
        return MOVED_M if self.following is None else self.following.tolerance_m

    def take_params(self, params: RunParams) -> None:
        """Take what the parameters of the skill say of the targets.

        Args:
            params: Parameters of the skill.
        """
        self.target_fields, self.following = target_fields(params), following_of(params)


def target_fields(params: RunParams) -> dict[str, str]:
    """Return the goal field that names each target.

    Args:
        params: Parameters of a skill.

    Returns:
        Names of fields by names of targets; without those that are the value of no field.
    """
    found = dict[str, str]()
    if is_dataclass(params):
        for one in fields(params):
            value = getattr(params, one.name)
            if isinstance(value, str) and value in params.targets:
                found[value] = one.name
    return found


def initial_state(
    context: Context,
    commands: Sequence[Command],
    before: World,
    targets: tuple[str, ...] = (),
    ignored: frozenset[str] = frozenset(),
    velocities: Mapping[str, Array] = NO_VELOCITIES,
) -> ExecutionState:
    """Return the state before the first command; a gripper that holds an object counts as closed.

    Args:
        context: Ports of the run, and what the arm holds.
        commands: The list that is to be executed.
        before: World that the commands were chosen in.
        targets: Names of the objects that must not move from where they are in ``before``.
        ignored: Names of the objects that are no obstacles until a command says otherwise.
        velocities: Velocity (3,) [m/s] of each target that moves evenly.
    """
    gripper = context.arm_spec.gripper
    free = (c.q for c in commands if c.world_T_ee is not None and c.motion is Motion.FREE)
    return ExecutionState(
        before,
        targets,
        velocities,
        ignored=ignored,
        gripper_m=gripper.min_width_m if gripper is not None and context.held else None,
        first_free_q=next(free, None),
    )
