"""All arms of a cell: each runs skills with its own ports, and several arms have the coordination of the stack."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import is_dataclass, replace
from typing import Any

from handiwork_core.contracts.planning import Attachment, Engine
from handiwork_core.contracts.skill import Context, Skill, Token
from handiwork_core.safety.config import SafetyConfig
from handiwork_planning.dynamics.planned_limits import PlannedLimits
from skill_server.coordination.arm_coordinator import ArmTraffic
from skill_server.coordination.coordinated_ports import CoordinatedPlanner, TrafficArm
from skill_server.coordination.reservations import MotionReservations
from skill_server.execution.run import ExecutionResult, run_skill
from skill_server.task.record import Report

from .arm_ports import ArmPorts
from .cell import LockStepCell

SEARCH_S = 600.0
"""Steady time for a search of a skill, s: the longest that one takes. How busy the machine is must not decide."""


class CellArms:
    """The arms of a cell. One thread runs their skills, so only one arm moves at a time.

    Attributes:
        ports: The ports of each arm, by name.

    Args:
        cell: The cell.
        engine: Planning engine of the robot.
    """

    def __init__(self, cell: LockStepCell, engine: Engine) -> None:
        self._cell = cell
        tool_speed = SafetyConfig().tool_speed  # as the simulation has it
        limits = PlannedLimits(cell.robot, cell.scene.world_T_base, tool_speed)
        self.ports = {name: ArmPorts(cell, arm, engine, limits) for name, arm in cell.robot.arms.items()}
        self._traffic: dict[str, ArmTraffic] = {}
        if len(self.ports) > 1:
            board = MotionReservations(tuple(self.ports))
            self._traffic = {
                name: ArmTraffic(board, cell.robot, port.spec, port, cell, self._held_by, math.inf)
                for name, port in self.ports.items()
            }

    def run(
        self,
        skill: Skill[Any],
        params: Any,  # noqa: ANN401 - each skill has its own
        arm: str,
        further: Sequence[str],
        token: Token,
        report: Report,
    ) -> ExecutionResult:
        """Run a skill to its end.

        Args:
            skill: The skill.
            params: Its parameters.
            arm: Name of the arm.
            further: Names of the arms that it needs besides.
            token: Ends the run when it is set.
            report: Takes the progress.
        """
        if is_dataclass(params) and hasattr(params, "search_time"):
            params = replace(params, search_time=SEARCH_S)  # type: ignore[type-var]
        names = (arm, *further)
        with ExitStack() as stack:
            own, *others = [self._context(one, names, params.seed, token, report, stack) for one in names]
            own.partners = dict(zip(further, others, strict=True))
            return run_skill(skill, params, own)

    def _context(
        self, arm: str, names: Sequence[str], seed: int, token: Token, report: Report, stack: ExitStack
    ) -> Context:
        ports = self.ports[arm]
        if arm not in self._traffic:
            return ports.context(seed, token, report)
        way = replace(self._traffic[arm], together=frozenset(names) - {arm})
        context = ports.context(seed, token, way.enter(report))
        stack.callback(way.leave)
        context.planner, context.arm = CoordinatedPlanner(ports, way), TrafficArm(ports.controller, way)
        context.right_of_way, context.held_by_others = way, self._others_of(arm)
        return context

    def _held_by(self, arm: str) -> Mapping[str, Attachment]:
        return self.ports[arm].held

    def _others_of(self, arm: str) -> Callable[[], dict[str, Attachment]]:
        others = [ports for name, ports in self.ports.items() if name != arm]
        return lambda: {name: held for ports in others for name, held in ports.held.items()}
