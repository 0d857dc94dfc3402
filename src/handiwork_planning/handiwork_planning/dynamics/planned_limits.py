"""What planned motions keep besides the limits of the joints' motion: speed of the tool, and efforts with a load."""

from __future__ import annotations

from dataclasses import replace

from handiwork_core.contracts.planning import PlanResult, SceneQuery, Verdict
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from handiwork_planning.timing.tool_speed import ToolSpeedLimit

from .torque_limit import TorqueLimit


class PlannedLimits:
    """Both limits of one robot, whatever engine plans.

    Args:
        robot: The robot.
        world_T_root: Pose of its root link, for the direction of gravity.
        tool_speed: Greatest speed of a tool centre point, m/s; inf for none.

    Attributes:
        unchecked: Joints without a usable effort limit; see ``TorqueLimit``.
    """

    def __init__(self, robot: Robot, world_T_root: Pose, tool_speed: float) -> None:
        self._speed, self._torques = ToolSpeedLimit(robot, tool_speed), TorqueLimit(robot, world_T_root)
        self.unchecked = self._torques.unchecked

    def kept(self, result: PlanResult, arm: str, scene: SceneQuery, world: World) -> PlanResult:
        """Return an engine's result with its motion in as much more time as the limits ask for.

        Args:
            result: The engine's result.
            arm: Name of the arm.
            scene: The scene that it was planned in, with what the arm holds.
            world: The world with the masses of the objects.

        Returns:
            The result; PLAN_FAILED where the arm cannot carry what it holds along the motion.
        """
        if result.trajectory is None:
            return result
        slow, carried = self._torques.kept(arm, self._speed.kept(arm, result.trajectory), scene, world)
        if not carried.ok:
            return replace(result, code=carried.code, message=carried.message, trajectory=None)
        return replace(result, trajectory=slow)

    def judged(
        self, verdict: Verdict, arm: str, trajectory: Trajectory, scene: SceneQuery, world: World
    ) -> Verdict:
        """Return an engine's verdict on a motion, or the refusal of one that the arm cannot carry out with its load.

        Args:
            verdict: The engine's verdict.
            arm: Name of the arm.
            trajectory: The motion.
            scene: The scene with what the arm holds.
            world: The world with the masses of the objects.
        """
        if verdict.code is not Code.OK:
            return verdict
        carried = self._torques.judged(arm, trajectory, scene, world)
        return verdict if carried.ok else Verdict(carried.code, carried.message)
