"""A robot with two arms on a private simulation, without ROS, with the real coordination of its arms."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from handiwork_core.contracts.planning import Attachment
from handiwork_core.contracts.skill import Progress, Skill, Token
from handiwork_core.control.trajectory_controller import Ending
from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.control.trajectory_start import from_now
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import JointState, World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.coordination.arm_coordinator import ArmTraffic
from skill_server.coordination.reservations import MotionReservations
from skill_server.execution.run import ExecutionResult
from skill_server.ros.arm_runner import ArmRunner
from support.cells.simulated_cell import POLL_STEPS, UNSUPERVISED, SimulatedCell

PATIENCE_S = 5.0
MEET_S, PASS_S = 20.0, 0.001


def ignored(_progress: Progress) -> None:
    return


def nothing() -> None:
    return


class Rendezvous:
    """Motions that begin at a given time: the simulation waits for both arms, and one thread of the two advances it.

    ``watch`` is called after each advance.
    """

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.waiting = 0
        self.lock = threading.RLock()
        self.driver: int | None = None
        self.watch: Callable[[], None] = nothing

    def meet(self) -> None:
        """Return once both arms have their motion, or the other one does not come."""
        with self.changed:
            self.waiting += 1
            target = (self.waiting + 1) // 2 * 2
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.waiting >= target, MEET_S)


class ArmPorts(SimulatedCell):
    """The ports of one arm, in the simulation of ``cell``; snapshots have the joints of all arms."""

    def __init__(self, cell: SimulatedCell, spec: ArmSpec, rendezvous: Rendezvous) -> None:
        self.__dict__.update(cell.__dict__)
        self.spec, self.rendezvous = spec, rendezvous

    def follow(self, trajectory: Trajectory, *, should_stop: Any) -> Outcome:
        if trajectory.begin_s == 0.0:
            return super().follow(trajectory, should_stop=should_stop)
        controller, shared = self.sim.arms[self.spec.name].controller, self.rendezvous
        with shared.lock:
            controller.start(
                from_now(TrajectoryGoal.of(trajectory), self.now_s()), self.sim.measured(self.spec.name)
            )
        shared.meet()
        is_stopped = False
        while controller.busy:
            with shared.lock:
                if not controller.busy:
                    break
                if not is_stopped and should_stop():
                    # As the action server does: a brake along the path. The other arm looks before time passes again.
                    controller.stop(Ending.CANCELED, "stopped")
                    is_stopped, shared.driver = True, None
                elif shared.driver in (None, id(self)):
                    shared.driver = id(self)
                    self.sim.advance(POLL_STEPS)
                    shared.watch()
            if shared.driver != id(self):
                with shared.changed:
                    shared.changed.wait(PASS_S)
        self._leave()
        result = controller.result
        assert result is not None
        if result.ending is Ending.CANCELED:
            return Outcome(Code.CANCELED, result.message)
        return OK if result.ending.name == "SUCCEEDED" else Outcome(Code.PATH_TOLERANCE, str(result))

    def _leave(self) -> None:
        with self.rendezvous.lock:
            if self.rendezvous.driver == id(self):
                self.rendezvous.driver = None

    def snapshot(self) -> World:
        world = super().snapshot()
        grippers = [arm.gripper.joint for arm in self.robot.arms.values() if arm.gripper is not None]
        names = [*(name for arm in self.robot.arms.values() for name in arm.joint_names), *grippers]
        indices, measured = self.sim.world.indices(tuple(names)), self.sim.world.joints()
        joints = JointState(
            self.now_s(),
            dict(zip(names, measured.position[indices].tolist(), strict=True)),
            dict(zip(names, measured.velocity[indices].tolist(), strict=True)),
        )
        return replace(world, joints=joints)


class TwoArmCell:
    """All arms of a robot in one simulation. One thread runs skills, on one arm or on several."""

    def __init__(self, robot: Robot, engine: Any, scene_name: str, seed: int) -> None:
        first = SimulatedCell(robot, engine, scene_name, seed, next(iter(robot.arms)))
        self.robot, self.sim, self.objects = robot, first.sim, first.objects
        self.together = together = Rendezvous()
        self.ports = {name: ArmPorts(first, arm, together) for name, arm in robot.arms.items()}
        board = MotionReservations(tuple(robot.arms))
        self.runners = dict[str, ArmRunner]()
        for name, arm in robot.arms.items():
            port = self.ports[name]
            alone = ArmRunner(robot, arm, port, port, port, port, port, supervision=UNSUPERVISED)
            traffic = ArmTraffic(board, robot, arm, port, port, self._held, PATIENCE_S)
            self.runners[name] = replace(alone, right_of_way=traffic)

    def _held(self, arm: str) -> dict[str, Attachment]:
        return self.runners[arm].held

    def snapshot(self) -> World:
        return next(iter(self.ports.values())).snapshot()

    def run(
        self,
        skill: Skill[Any],
        params: Any,
        arm: str,
        report: Callable[[Progress], None] = ignored,
        token: Token | None = None,
    ) -> ExecutionResult:
        """Run a skill as the server does, with the further arms that it needs."""
        names: Sequence[str] = skill.further_arms(params, self.robot, self.robot.arms[arm])
        further = [self.runners[name] for name in names]
        return self.runners[arm].run(skill, params, token or Token(), report, further=further)

    def moving(self) -> float:
        """Return the largest speed of any joint of any arm, rad/s or m/s."""
        return float(np.abs(list(self.snapshot().joints.velocity.values())).max())
