"""An arm in a simulation that advances only while the loop waits."""

from __future__ import annotations

from conditionals_node.expressions.build import Condition
from handiwork_core.contracts.planning import Attachment
from handiwork_core.control.goal_refusal import GoalRefused
from handiwork_core.control.gripper_controller import GripperGoal
from handiwork_core.control.trajectory_goal import JointLimits
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import World
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec
from handiwork_data.lock_step.cell import TICK_S, LockStepCell
from handiwork_data.lock_step.condition_port import CellMonitor
from handiwork_data.policies.pictures import PictureSource
from handiwork_policy.loop.ports import Pictures
from handiwork_policy.loop.schedule import ScheduleMaker
from handiwork_policy.protocol.policy import Observation, Policy
from handiwork_policy.protocol.worker import Answer, ask_once
from handiwork_policy.verdicts.judged import Judged
from skill_server.state import gripper_state

NO_LAG_S = 0.0
"""Commands reach the controller at once."""


class CellPort:
    """See ``PolicyPort``; the controller gets the same schedules as over ROS, see ``ScheduleMaker``.

    Args:
        cell: The cell.
        arm: The arm.
        rate_hz: Steps a second, a whole divisor of 50.
        cameras: Makes the pictures.

    Raises:
        ValueError: The rate is another one.
    """

    def __init__(self, cell: LockStepCell, arm: ArmSpec, rate_hz: float, cameras: PictureSource) -> None:
        self._ticks = round(1.0 / rate_hz / TICK_S)
        if self._ticks < 1 or abs(self._ticks * TICK_S * rate_hz - 1.0) > 1e-6:
            raise ValueError(
                f"rate_hz is {rate_hz:g}; in a simulation in lock-step write 1, 2, 5, 10, 25 or 50"
            )
        self._cell, self._arm, self._step_s = cell, arm, 1.0 / rate_hz
        self._cameras = cameras
        self._base = cell.scene.world_T_base @ link_poses(cell.robot, {}, (arm.base_link,))[arm.base_link]
        limits = JointLimits.of(cell.robot, arm)
        self._curve = ScheduleMaker(self._step_s, NO_LAG_S, limits.velocity, limits.acceleration)
        self._curve.rest_at(cell.sim.arms[arm.name].controller.reference.position)

    @property
    def arm(self) -> ArmSpec:
        """The arm."""
        return self._arm

    def now_s(self) -> float:
        """See ``PolicyPort``."""
        return self._cell.now_s()

    def snapshot(self) -> World:
        """See ``PolicyPort``."""
        return self._cell.snapshot()

    def world_T_base(self) -> Pose:
        """See ``PolicyPort``."""
        return self._base

    def held(self) -> tuple[Attachment, ...]:
        """See ``PolicyPort``."""
        world = self._cell.snapshot()
        name = gripper_state.held_by_measurement(world, self._cell.robot, self._arm)
        if not name:
            return ()
        return (gripper_state.attachment(world, self._cell.robot, self._arm, self._base, name),)

    def pictures(self) -> Pictures:
        """See ``PolicyPort``."""
        return self._cameras.pictures()

    def lag_s(self, stamp_s: float) -> float:
        """See ``PolicyPort``; the arm follows half a step behind, and measurements are of now.

        Args:
            stamp_s: Not needed.
        """
        return 0.5 * self._step_s

    def is_late(self) -> bool:
        """See ``PolicyPort``; the world waits."""
        return False

    def send(self, q: Array, v: Array) -> str:
        """See ``PolicyPort``.

        Args:
            q: Positions, (n, dof), rad or m.
            v: Velocities, (n, dof), rad/s or m/s.
        """
        made = self._curve.make(q, v)
        try:
            self._cell.sim.arms[self._arm.name].controller.schedule(made.due_s, made.q, made.v)
        except GoalRefused as refusal:
            return refusal.outcome.message
        return ""

    def grip(self, width_m: float) -> None:
        """See ``PolicyPort``.

        Args:
            width_m: Opening, m.
        """
        gripper = self._arm.gripper
        assert gripper is not None
        axis = self._cell.sim.grippers[gripper.name]
        here = float(self._cell.sim.world.joints().position[axis.indices[0]])
        axis.controller.start(GripperGoal(gripper.position(width_m)), here)

    def wait_step(self) -> int:
        """See ``PolicyPort``; steps are missed only while the arm goes to a reference that was taken back to it."""
        missed = self._curve.take_missed()
        for _ in range((1 + missed) * self._ticks):
            self._cell.tick()
        self._curve.advance(missed)
        return missed

    def why_stop(self) -> str:
        """See ``PolicyPort``."""
        token, safety = self._cell.token, self._cell.sim.safety.status
        if safety.is_stopped:
            return f"the safety layer stopped the arm: {safety.reason}"
        return (token.detail or token.reason.name) if token.is_set() else ""


class CellJudge:
    """See ``Judge``: the monitor of a cell.

    Args:
        monitor: The monitor.
        conditions: ``until``, then the subtasks; the monitor watches them first and in this order.
    """

    def __init__(self, monitor: CellMonitor, conditions: list[Condition]) -> None:
        self._monitor, self._count = monitor, len(conditions)
        for condition in conditions:
            monitor.watch(condition)

    def look(self) -> tuple[Judged, ...]:
        """See ``Judge``."""
        shown = self._monitor.update()[: self._count]
        return tuple(
            Judged(one.finding.truth.name == "TRUE", one.life.at_end, one.finding.reason, one.finding.margin)
            for one in shown
        )


class LockStepInference:
    """See ``Inference``: the world stands still while the policy thinks, and its answer comes some steps later.

    Args:
        policy: The policy.
        step_s: Time of a step of the loop, s.
        delay_steps: Steps of the loop between a question and its answer, as on a robot.
    """

    def __init__(self, policy: Policy, step_s: float, delay_steps: int = 0) -> None:
        self._policy, self._step_s, self._delay = policy, step_s, delay_steps
        self._answer: Answer | None = None
        self._left = self._waited = 0

    @property
    def is_busy(self) -> bool:
        """See ``Inference``."""
        return self._answer is not None

    def waiting_s(self) -> float:
        """See ``Inference``; in s of the world, which stands still while the policy thinks."""
        return self._waited * self._step_s

    def ask(self, step: int, observation: Observation) -> None:
        """See ``Inference``.

        Args:
            step: Step of the loop.
            observation: The observation.
        """
        self._answer = ask_once(self._policy, step, observation)
        self._left, self._waited = (1 if step < 0 else self._delay + 1), 0

    def take(self, timeout_s: float = 0.0) -> Answer | None:
        """See ``Inference``.

        Args:
            timeout_s: Not needed.
        """
        self._left -= 1
        self._waited += self._answer is not None
        if self._answer is None or self._left > 0:
            return None
        answer, self._answer = self._answer, None
        return answer
