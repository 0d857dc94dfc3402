"""The decider network: dispatch between going home, picking, flipping and placing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from decider_node.motion.command import MotionCommand
from decider_node.motion.motion_states import Reach, Shift, Stay
from decider_node.network.decider import Decider, Decision, TickContext
from decider_node.network.network import Network
from decider_node.network.states import Lock, SequenceDecider, State, StateMachineDecider, Unlock, Write
from decider_node.network.timed import Act, WaitState
from decider_node.network.traversal import Rules
from handiwork_core.model.geometry import Array, Pose, Rotation

from .cell import above_shelf
from .choice import is_shelf_free
from .context import StackContext
from .grasping import to_grasp
from .monitors import monitors
from .placing import PlacePlan
from .profile.actions import Actions, DispatchKind, Lift

LIFT_M = 0.3
"""Longest way up of a bin that hangs in the cup after a start, m."""
UP = (0.0, 0.0, 1.0)
DOWN = Rotation.from_rpy(np.pi, 0.0, 0.0)


def _until_held(context: StackContext) -> Decision | None:
    """Return the next action until a bin is in the cup; None once it is."""
    if context.is_complete or context.active is None or context.grasp is None:
        return Decision("go_home")
    return None if context.is_attached else Decision("pick_bin")


class Dispatch(Decider[StackContext]):
    """Decides the next action by the logical state alone, so that it recovers from any event."""

    def decide(self, moment: TickContext[StackContext]) -> Decision | None:
        """Return the child of the next action."""
        context = moment.context
        if (begin := _until_held(context)) is not None:
            return begin
        if not context.is_lifted:
            return Decision("lift_bin")
        if context.needs_flip:
            return Decision("flip_bin")
        if context.place is None:
            return Decision("set_aside" if is_shelf_free(context) else "hold_bin")
        return Decision("place_bin")


class CortexDispatch(Decider[StackContext]):
    """Decides between the four actions of Isaac Cortex's bin stacking; a bin for which no place is open is held."""

    def decide(self, moment: TickContext[StackContext]) -> Decision | None:
        """Return the child of the next action."""
        context = moment.context
        if (begin := _until_held(context)) is not None:
            return begin
        if context.needs_flip:
            return Decision("flip_bin")
        return Decision("hold_bin" if context.place is None else "place_bin")


class HoldBin(Decider[StackContext]):
    """Keeps a bin above the belt as long as no place is open for it."""

    def decide(self, moment: TickContext[StackContext]) -> Decision | None:
        """Send the command."""
        home = moment.context.site.world_T_home
        moment.context.target = home
        moment.context.cell.go(MotionCommand(home))
        return None


class GoHome(Decider[StackContext]):
    """Sends the arm above the belt, the cup off.

    Args:
        name: Name of the decider.
        home: Returns the command.
    """

    def __init__(self, name: str, home: Callable[[StackContext], MotionCommand]) -> None:
        super().__init__(name)
        self._home = home

    def enter(self, moment: TickContext[StackContext]) -> None:
        """Let go of a bin that is not needed."""
        moment.context.cell.suck(on=False)

    def decide(self, moment: TickContext[StackContext]) -> Decision | None:
        """Send the command."""
        command = self._home(moment.context)
        moment.context.target = command.world_T_target
        moment.context.cell.go(command)
        return None


def close(moment: TickContext[StackContext]) -> bool:
    """Switch the cup on, and go on to the bin, until there is a seal.

    Args:
        moment: The context of this tick.

    Returns:
        True when the cup holds the active bin.
    """
    context = moment.context
    context.cell.suck(on=True)
    if context.grasp is not None:
        context.cell.go(to_grasp(context))
    return context.is_attached


class TryClose(Act[StackContext]):
    """Closing that ends without an error after its limit: a bin that is not held then is picked again."""

    def step(self, moment: TickContext[StackContext]) -> State[StackContext] | None:
        """Close until there is a seal or the time is over."""
        try:
            return super().step(moment)
        except TimeoutError:
            moment.context.cell.suck(on=False)
            return None


def _is_up(context: StackContext) -> None:
    context.is_lifted = True


def _limit(limit_s: float | None) -> float:
    return np.inf if limit_s is None else limit_s


def _up(lift: Lift, distance_m: float) -> Shift[StackContext]:
    """Return the state of a way up, which ends so near to its end, but not before its middle."""
    way = np.array([0.0, 0.0, lift.height])
    return Shift(lambda context: way, min(distance_m, 0.5 * lift.height), lift.speed, lift.longest)


def _pick(actions: Actions) -> StateMachineDecider[StackContext]:
    waits, at_bin = actions.waits, actions.at_bin

    def off(context: StackContext) -> None:
        context.cell.suck(on=False)
        context.posture = None

    states: list[State[StackContext]] = [
        Write(off),
        Reach(to_grasp, at_bin.distance, at_bin.turn),
        Stay(to_grasp, waits.before_closing),
        Lock(_limit(waits.lock)),
        TryClose("closing", close, _limit(waits.closing)),
        _up(actions.pick_lift, 0.05),  # out of the cavity or off the shelf, which is up as well
        Write(_is_up),
        Unlock(),
    ]
    return StateMachineDecider("pick_bin", SequenceDecider(states, loops=True))


def _lift() -> StateMachineDecider[StackContext]:
    """Return a machine for a start with a bin in the cup: it may hang between others, or behind the end of the belt."""

    def up(context: StackContext) -> Array:
        return np.array(
            [0.0, 0.0, float(np.clip(context.site.carry_z - context.tip.translation_m[2], 0.0, LIFT_M))]
        )

    return StateMachineDecider("lift_bin", SequenceDecider([Shift(up, 0.05, 0.5), Write(_is_up)]))


def _open(context: StackContext) -> None:
    context.cell.suck(on=False)


def _to_shelf(
    name: str, actions: Actions, after: Callable[[StackContext], None]
) -> StateMachineDecider[StackContext]:
    """Return a machine that lays the held bin onto the shelf and leaves it there."""
    plan, waits, at_shelf = PlacePlan(), actions.waits, actions.at_shelf

    def pass_shelf(context: StackContext) -> MotionCommand:
        """Return a command beyond the shelf and over it, the cup down: from here both sides are free."""
        at = above_shelf(context.site.shelf)
        turn = Rotation.from_axis_angle(UP, _pan_heading(context, at))
        return MotionCommand(Pose.of(at, turn @ DOWN), posture=None)

    states: list[State[StackContext]] = [
        Write(plan.to_shelf),
        Reach(plan.shelf_command, at_shelf.distance, at_shelf.turn),
        Stay(plan.shelf_command, waits.on_shelf),
        Lock(_limit(waits.lock)),
        Write(_open),
        WaitState(0.2),
        Shift(plan.off_shelf, 0.03, 0.6),
        Shift(lambda context: np.array([0.0, 0.0, context.site.shelf.over - 0.03]), 0.08),
        Reach(pass_shelf, 0.08, 0.2),
        Write(after),
        Unlock(),
    ]
    return StateMachineDecider(name, SequenceDecider(states))


def _flip(actions: Actions) -> StateMachineDecider[StackContext]:
    def grasp_again(context: StackContext) -> None:
        context.posture = None

    return _to_shelf("flip_bin", actions, grasp_again)


def _set_aside(actions: Actions) -> StateMachineDecider[StackContext]:
    """Return a machine for a held bin without an open place: the bins that lie in the places are picked first then."""

    def choose_again(context: StackContext) -> None:
        context.active = context.posture = None

    return _to_shelf("set_aside", actions, choose_again)


def _pan_heading(context: StackContext, at: Array) -> float:
    """Return the heading of the cup, rad, that keeps the last joint where it is while the arm turns to ``at``."""
    tip = context.tip.translation_m
    now = float(np.arctan2(*context.tip.rotation.matrix()[1::-1, 0]))
    return now + float(np.arctan2(at[1], at[0]) - np.arctan2(tip[1], tip[0]))


def _place(actions: Actions) -> StateMachineDecider[StackContext]:
    plan, waits, at_place = PlacePlan(), actions.waits, actions.at_place

    def done(context: StackContext) -> None:
        """Finish; the stack monitor checks the bin's place, and a bin that is not in it is picked and placed again."""
        context.active = context.posture = None
        context.is_new = True

    states: list[State[StackContext]] = [
        Write(plan.to_stack),
        Reach(plan.over_command, 0.15, 0.4),
        Reach(plan.stack_command, at_place.distance, at_place.turn),
        Stay(plan.stack_command, waits.before_opening),
        Lock(_limit(waits.lock)),
        Write(_open),
        WaitState(0.1),
        _up(actions.leave, 0.03),
        Write(done),
        Unlock(),
    ]
    return StateMachineDecider("place_bin", SequenceDecider(states))


def stacking_network(
    context: StackContext, home: Callable[[StackContext], MotionCommand]
) -> Network[StackContext]:
    """Return the network of the whole application.

    Args:
        context: The logical state.
        home: Returns the command above the belt.
    """
    actions = context.site.actions
    children: dict[str, Decider[StackContext]] = {
        "go_home": GoHome("go_home", home),
        "pick_bin": _pick(actions),
        "lift_bin": _lift(),
        "flip_bin": _flip(actions),
        "place_bin": _place(actions),
        "set_aside": _set_aside(actions),
        "hold_bin": HoldBin("hold_bin"),
    }
    is_cortex = actions.dispatch is DispatchKind.CORTEX
    root = CortexDispatch("dispatch", children) if is_cortex else Dispatch("dispatch", children)
    rules = Rules.CORTEX if is_cortex else Rules.STRICT
    return Network(root, context, monitors(), stop=context.cell.stop, renew=context.renew, rules=rules)
