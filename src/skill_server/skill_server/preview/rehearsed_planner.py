"""The planner as a rehearsal asks it: about the world that the steps so far would leave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from handiwork_core.contracts.planning import (
    Attachment,
    OtherArm,
    PlanRequest,
    PlanResult,
    SceneQuery,
    ShouldStop,
)
from handiwork_core.contracts.ports import Planner
from handiwork_core.contracts.skill import Context
from skill_server.coordination.arm_coordinator import with_others
from skill_server.coordination.coordinated_ports import SHARED_BUDGET_S
from skill_server.stages.foreseen_planner import ForeseenPlanner
from skill_server.state.gripper_state import arm_q
from skill_server.state.scene_query import measured_gripper_joints

from .rehearsed_world import RehearsedWorld
from .surroundings import Surroundings


@dataclass(frozen=True)
class RehearsedPlanner(ForeseenPlanner):
    """Asks the planner of one arm about motions that begin where a rehearsal is.

    The planner knows the world as it is measured. What a rehearsal has put elsewhere is therefore sent as a part of the
    robot that does not move: an object that is attached to the base of the arm. The other arms of the rehearsal are
    sent where they would be.

    Attributes:
        context: Context of the arm, with its planner.
        shared: The world of the rehearsal.
        around: The server around the preview, with the other arms.
    """

    context: Context
    shared: RehearsedWorld
    around: Surroundings

    @property
    def asked(self) -> Planner:
        """See ``ForeseenPlanner``."""
        return self.context.planner

    def plan(self, request: PlanRequest, *, should_stop: ShouldStop) -> PlanResult:
        """See ``Planner.plan``.

        Args:
            request: Request from where the rehearsal is.
            should_stop: True ends the request.
        """
        if self.around.shares_planner():  # a running arm is planned for in turn with this one
            request = replace(request, budget_s=min(request.budget_s, SHARED_BUDGET_S))
        return super().plan(request, should_stop=should_stop)

    def foreseen(self, scene: SceneQuery) -> SceneQuery:
        """Return a scene with the other arms, and with what was put elsewhere, where they would be.

        Args:
            scene: Scene of a request.
        """
        scene = with_others(scene, tuple(self._others()))
        taken = {item.object for item in scene.attached} | scene.ignored
        taken |= {item.object for other in scene.others for item in other.attached}
        states, base = self.shared.world.states, self.shared.cells[self._arm].world_T_base()
        elsewhere = tuple(
            Attachment(
                name,
                self.context.arm_spec.base_link,
                base.inverse() @ states[name].world_T_object,
            )
            for name in sorted(self.shared.let_go() - taken)
        )
        return replace(scene, attached=(*scene.attached, *elsewhere))

    def _others(self) -> Iterator[OtherArm]:
        """Yield the other arms of the rehearsal, then those around it."""
        world, robot = self.shared.world, self.context.robot
        for name, cell in self.shared.cells.items():
            if name != self._arm:
                spec = robot.arms[name]
                joints = measured_gripper_joints(world, robot, spec.gripper)
                yield OtherArm(name, arm_q(world, spec)[None], tuple(cell.held.values()), joints)
        yield from (other for other in self.around.others() if other.arm not in self.shared.cells)

    @property
    def _arm(self) -> str:
        return self.context.arm_spec.name
