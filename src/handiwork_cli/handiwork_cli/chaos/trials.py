"""The trials of a chaos run, drawn from a seed: one goal each, and the faults during it. No ROS."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

RESTARTED = ("planner_node", "skill_server", "conditionals_node")
"""Nodes that the launch file starts again."""
FREEZABLE = (*RESTARTED, "sim_bridge", "robot_description")
"""Nodes that are frozen; the end of the last two would be the end of the stack, so these are not killed."""
DOUBLED = ("sim_bridge", "robot_description")
"""Nodes of which a second process is started: a killed one would leave its name to it."""

FAULT_RATE = 1.1
"""The mean number of faults per trial."""
MOST_FAULTS = 3
LATEST_S = 3.0
"""A fault begins at most this long after its goal was sent [s of steady time]."""
OUTAGE_LATEST_S = 0.8
"""The same for an outage of the network: the shortest goal takes 0.9 s, and an outage after its end tests nothing."""
SHORTEST_S, LONGEST_S = 0.2, 6.0


class GoalKind(Enum):
    """The goal of a trial. Only the first three can succeed."""

    PICK = "pick"
    PLACE = "place"
    GO_TO = "go_to"
    UNKNOWN_OBJECT = "unknown_object"
    SPECIAL_FILE = "special_file"
    LARGE_TASK = "large_task"
    BAD_NUMBER = "bad_number"

    @property
    def can_succeed(self) -> bool:
        """True when the goal can end with OK."""
        return self in (GoalKind.PICK, GoalKind.PLACE, GoalKind.GO_TO)


class FaultKind(Enum):
    """The kinds of faults."""

    KILL = "kill"
    FREEZE = "freeze"
    CANCEL = "cancel"
    RESET = "reset"
    PAUSE = "pause"
    BAD_JOINTS = "bad_joints"
    BAD_STATES = "bad_states"
    SECOND_JOINTS = "second_joints"
    FORGED_STATUS = "forged_status"
    LIFTED_TOLERANCE = "lifted_tolerance"
    MOVED_OBJECT = "moved_object"
    MANY_FRAMES = "many_frames"
    FORGED_BOND = "forged_bond"
    COPIED_BOND = "copied_bond"
    MANY_OBJECTS = "many_objects"
    COSTLY_FILTER = "costly_filter"
    ENDLESS_FILE = "endless_file"
    DEACTIVATE = "deactivate"
    EMERGENCY_STOP = "emergency_stop"
    SECOND_NODE = "second_node"
    WALL = "wall"
    NETWORK_LOSS = "network_loss"
    NETWORK_DELAY = "network_delay"
    NETWORK_OUTAGE = "network_outage"


NETWORK = (FaultKind.NETWORK_LOSS, FaultKind.NETWORK_DELAY, FaultKind.NETWORK_OUTAGE)
"""Faults between the client and the stack, which need two network namespaces; a run has either these or the others."""
SURVIVED_OUTAGE_S = 3.0
"""The longest outage of the network after which no goal may be given up, s; a client gives up after 4 s of silence."""
JITTER_SHARE = 0.5
"""The greatest change of a packet's delay, as a share of the mean."""


LASTING = frozenset(
    {
        FaultKind.FREEZE,
        FaultKind.PAUSE,
        FaultKind.BAD_JOINTS,
        FaultKind.BAD_STATES,
        FaultKind.SECOND_JOINTS,
        FaultKind.FORGED_STATUS,
        FaultKind.MANY_FRAMES,
        FaultKind.FORGED_BOND,
        FaultKind.COPIED_BOND,
        FaultKind.MANY_OBJECTS,
        FaultKind.DEACTIVATE,
        FaultKind.EMERGENCY_STOP,
        FaultKind.WALL,
        FaultKind.NETWORK_OUTAGE,
    }
)
FORGED = (FaultKind.FORGED_STATUS, FaultKind.FORGED_BOND, FaultKind.COPIED_BOND)
"""Faults in which another process sends a node's status or bond."""
HARMLESS = frozenset(
    {
        FaultKind.CANCEL,
        FaultKind.PAUSE,
        FaultKind.LIFTED_TOLERANCE,
        FaultKind.MOVED_OBJECT,
        FaultKind.FORGED_STATUS,
        FaultKind.MANY_FRAMES,
        FaultKind.FORGED_BOND,
        FaultKind.COPIED_BOND,
        FaultKind.COSTLY_FILTER,
        FaultKind.ENDLESS_FILE,
        FaultKind.EMERGENCY_STOP,
        FaultKind.SECOND_NODE,
        FaultKind.WALL,
        FaultKind.NETWORK_LOSS,
        FaultKind.NETWORK_DELAY,
    }
)
"""Faults after which no goal may report a loss: nothing that it needs is gone."""


TARGETS = {
    FaultKind.KILL: RESTARTED,
    FaultKind.SECOND_NODE: DOUBLED,
    **dict.fromkeys((FaultKind.FREEZE, FaultKind.DEACTIVATE, *FORGED), FREEZABLE),
}
"""Kind -> the nodes of which a fault of the kind has one."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault.

    Attributes:
        kind: Its kind.
        target: The node that is killed, frozen, imitated, deactivated or started twice; empty for other kinds.
        at_s: Its begin after the goal was sent, steady time, s.
        lasts_s: Its duration, steady time, s.
        amount: Share of the packets that are lost, or their mean delay in s; 0 for other kinds.
    """

    kind: FaultKind
    target: str
    at_s: float
    lasts_s: float
    amount: float = 0.0

    @property
    def is_harmless(self) -> bool:
        """True when no goal may report a loss after it."""
        short = self.kind is FaultKind.NETWORK_OUTAGE and self.lasts_s <= SURVIVED_OUTAGE_S
        return short or self.kind in HARMLESS

    @property
    def text(self) -> str:
        """The fault as text for a report."""
        about = f" {self.target}" if self.target else ""
        lasts = f" for {self.lasts_s:.1f} s" if self.kind in LASTING else ""
        if self.kind is FaultKind.NETWORK_LOSS:
            return f"{self.kind.value} of {self.amount:.0%}"
        if self.kind is FaultKind.NETWORK_DELAY:
            return f"{self.kind.value} of {self.amount:.2f} s +- {JITTER_SHARE:.0%}"
        return f"{self.kind.value}{about} at {self.at_s:.1f} s{lasts}"


@dataclass(frozen=True, slots=True)
class Trial:
    """One goal with its faults. The index and the run's seed give the same trial again."""

    index: int
    goal: GoalKind
    faults: tuple[Fault, ...]

    @property
    def may_be_lost(self) -> bool:
        """True when a fault takes a node, the robot or the world from the goal, so that an end by a loss is correct."""
        return not all(fault.is_harmless for fault in self.faults)

    @property
    def is_cut_off(self) -> bool:
        """True when the client could not reach the server for longer than it waits."""
        return any(f.kind is FaultKind.NETWORK_OUTAGE and not f.is_harmless for f in self.faults)


def draw_trial(seed: int, index: int, *, is_holding: bool) -> Trial:
    """Return a trial of a run.

    Args:
        seed: Seed of the run.
        index: Index of the trial.
        is_holding: Whether the hand holds the object, so that it is placed rather than picked.
    """
    random = np.random.default_rng([seed, index])
    goal = _goal(random, is_holding)
    count = min(MOST_FAULTS, int(random.poisson(FAULT_RATE)))
    return Trial(index, goal, tuple(_fault(random) for _ in range(count)))


def draw_network_trial(seed: int, index: int, *, is_holding: bool) -> Trial:
    """Return a trial of a run with a faulty network: no fault and each condition of the network in turn.

    A large task is not among its goals: its datagrams have 45 packets each, which do not all arrive at any loss.

    Args:
        seed: Seed of the run.
        index: Index of the trial.
        is_holding: Whether the hand holds the object, so that it is placed rather than picked.
    """
    random = np.random.default_rng([seed, index])
    goal, at_s = _goal(random, is_holding), float(random.uniform(0.0, OUTAGE_LATEST_S))
    goal = GoalKind.GO_TO if goal is GoalKind.LARGE_TASK else goal
    faults: tuple[tuple[Fault, ...], ...] = (
        (),
        (Fault(FaultKind.NETWORK_LOSS, "", 0.0, 0.0, 0.05),),
        (Fault(FaultKind.NETWORK_LOSS, "", 0.0, 0.0, 0.2),),
        (Fault(FaultKind.NETWORK_DELAY, "", 0.0, 0.0, 0.1),),
        (Fault(FaultKind.NETWORK_OUTAGE, "", at_s, SURVIVED_OUTAGE_S),),
        (Fault(FaultKind.NETWORK_OUTAGE, "", at_s, 30.0),),
    )
    return Trial(index, goal, faults[index % len(faults)])


def _goal(random: np.random.Generator, is_holding: bool) -> GoalKind:
    kinds = list(GoalKind)
    weights = np.array([0.0 if is_holding else 0.45, 0.45 if is_holding else 0.0, 0.2, 0.15, 0.05, 0.05, 0.1])
    return kinds[int(random.choice(len(kinds), p=weights / weights.sum()))]


def _fault(random: np.random.Generator) -> Fault:
    drawn = [kind for kind in FaultKind if kind not in NETWORK]
    kind = drawn[int(random.integers(len(drawn)))]
    nodes = TARGETS.get(kind, ())
    target = nodes[int(random.integers(len(nodes)))] if nodes else ""
    at_s = float(random.uniform(0.0, LATEST_S))
    lasts_s = float(random.uniform(SHORTEST_S, LONGEST_S)) if kind in LASTING else 0.0
    return Fault(kind, target, at_s, lasts_s)
