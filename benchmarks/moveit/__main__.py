"""Plan MotionBenchMaker's problems by ``plan_kinematic_path``: ``python -m benchmarks.moveit --per-scene 72``."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from handiwork_msgs.srv import PlanToJoints

from benchmarks.mbm.problems import Problem, load_problems
from benchmarks.mbm.referee import Referee
from benchmarks.mbm.sphere_robot import SphereRobot, load_sphere_robot
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import JointState
from handiwork_ros import conversions as to
from moveit_facade.messages.ros.writing import world_object_message
from moveit_msgs.msg import CollisionObject, Constraints, JointConstraint, MotionPlanRequest, PlanningScene
from moveit_msgs.srv import ApplyPlanningScene, GetMotionPlan

from .cell import Cell
from .robot_folder import write_robot

BUDGET_S = 5.0
REPEATED = 40
"""Requests of which the processor time is measured."""
SHOWN = 50
"""Problems between two lines of progress."""


@dataclass(frozen=True)
class Row:
    """One problem: through the facade, and by the planner's own service.

    Attributes:
        solved: The facade returned a trajectory.
        valid: The referee found it clean.
        facade_s: Time of the request through the facade, s.
        direct_s: Time of the planner's own service, s.
        planning_s: Time that the planner says it took for the request of the facade, s.
        why: Code and sentence of a failure.
    """

    solved: bool
    valid: bool
    facade_s: float
    direct_s: float
    planning_s: float
    why: str = ""


def main() -> int:
    """Print the table; not zero when a problem is not solved or not valid."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robot", default="panda", choices=("panda", "ur5"))
    parser.add_argument("--per-scene", type=int, default=72, help="problems of each of the seven scenes")
    parser.add_argument("--most", type=int, default=500, help="problems in all")
    parser.add_argument("--domain", type=int, default=87, help="DDS domain")
    options = parser.parse_args()
    robot = load_sphere_robot(options.robot)
    problems = load_problems(options.robot, (), options.per_scene)[: options.most]
    with tempfile.TemporaryDirectory() as folder:
        write_robot(robot.robot, Path(folder))
        with Cell(robot.robot, Path(folder), robot.world_T_root, options.domain) as cell:
            rows = run(cell, robot, problems)
            used_s = processor_of_a_request(cell, motion_request(problems[-1], robot))
    print(table(options.robot, rows))
    print(f"A request takes {1e3 * used_s:.1f} ms of processor time in move_group.")
    return 0 if all(row.solved and row.valid for row in rows) else 1


def run(cell: Cell, robot: SphereRobot, problems: list[Problem]) -> list[Row]:
    """Plan each problem twice: through the facade, and directly, in turns first and second.

    Args:
        cell: The running nodes.
        robot: The robot.
        problems: The problems.
    """
    apply = cell.node.create_client(ApplyPlanningScene, "apply_planning_scene")
    facade = cell.node.create_client(GetMotionPlan, "plan_kinematic_path")
    direct = cell.node.create_client(PlanToJoints, "planner/plan_to_joints")
    for client in (apply, facade, direct):
        if not client.wait_for_service(30.0):
            raise RuntimeError(f"{client.srv_name} is not served")
    referee, rows = Referee(robot.robot, robot.world_T_root, mounted=robot.mounted), list[Row]()
    for number, problem in enumerate([problems[0], *problems]):  # the first one warms up
        answer, _ = cell.call(apply, scene_request(problem))
        if not answer.success:
            raise RuntimeError(f"{problem.id}: the scene was refused; see the log of move_group")
        asked = ((facade, motion_request(problem, robot)), (direct, direct_request(problem, robot)))
        order = asked if number % 2 else asked[::-1]
        answers = {client.srv_name: cell.call(client, request) for client, request in order}
        if number:
            rows.append(judged(answers[facade.srv_name], answers[direct.srv_name], problem, referee))
            if number % SHOWN == 0:
                clean = sum(row.solved and row.valid for row in rows)
                print(f"{number} problems, {clean} solved and valid", file=sys.stderr, flush=True)
    return rows


def processor_of_a_request(cell: Cell, request: GetMotionPlan.Request) -> float:
    """Return the processor time that move_group uses for one request, without what it uses while nobody asks, s.

    It does not depend on how busy the machine is, as the time until the response does.

    Args:
        cell: The running nodes.
        request: The request.
    """
    facade = cell.node.create_client(GetMotionPlan, "plan_kinematic_path")
    facade.wait_for_service(30.0)
    begun_s, used_s = time.monotonic(), cell.processor_s("move_group")
    for _ in range(REPEATED):
        cell.call(facade, request)
    lasted_s, asked_s = time.monotonic() - begun_s, cell.processor_s("move_group") - used_s
    used_s = cell.processor_s("move_group")
    threading.Event().wait(lasted_s)
    return (asked_s - (cell.processor_s("move_group") - used_s)) / REPEATED


def scene_request(problem: Problem) -> ApplyPlanningScene.Request:
    """Return a scene with the problem's obstacles and no others.

    Args:
        problem: The problem.
    """
    scene = PlanningScene(is_diff=False)
    for name, item in problem.world.objects.items():
        pose = problem.world.states[name].world_T_object
        message = world_object_message(item, pose, with_geometry=True)
        message.type.db, message.operation = "", CollisionObject.ADD
        scene.world.collision_objects.append(message)
    return ApplyPlanningScene.Request(scene=scene)


def motion_request(problem: Problem, robot: SphereRobot) -> GetMotionPlan.Request:
    """Return the request of MoveIt: each goal configuration is one alternative.

    Args:
        problem: The problem.
        robot: The robot.
    """
    arm = robot.robot.arm("")
    request = MotionPlanRequest(group_name=arm.name, allowed_planning_time=BUDGET_S)
    request.start_state.joint_state.name = list(arm.joint_names)
    request.start_state.joint_state.position = problem.start.tolist()
    for goal in problem.goals:
        joints = [
            JointConstraint(
                joint_name=name, position=q, tolerance_above=1e-4, tolerance_below=1e-4, weight=1.0
            )
            for name, q in zip(arm.joint_names, goal.tolist(), strict=True)
        ]
        request.goal_constraints.append(Constraints(joint_constraints=joints))
    return GetMotionPlan.Request(motion_plan_request=request)


def direct_request(problem: Problem, robot: SphereRobot) -> PlanToJoints.Request:
    """Return the same request for the planner.

    Args:
        problem: The problem.
        robot: The robot.
    """
    arm = robot.robot.arm("")
    start = JointState(0.0, dict(zip(arm.joint_names, problem.start.tolist(), strict=True)))
    options = to.options_to_msg(to.PlanOptions(arm.name, start, budget_s=BUDGET_S))
    return PlanToJoints.Request(options=options, goals=np.ravel(problem.goals).tolist())


def judged(facade: tuple[Any, float], direct: tuple[Any, float], problem: Problem, referee: Referee) -> Row:
    """Return the row of a problem.

    Args:
        facade: Response of the facade, and its time, s.
        direct: Response of the planner, and its time, s.
        problem: The problem.
        referee: Judges the trajectory.
    """
    answer, error = facade[0].motion_plan_response, facade[0].motion_plan_response.error_code
    if error.val != error.SUCCESS:
        why = f"{problem.id}: {error.val}: {error.message}"
        return Row(False, False, facade[1], direct[1], np.nan, why)
    motion = to.trajectory_from_msg(answer.trajectory.joint_trajectory)
    ruling = referee.timed(motion, problem.start, problem.goals, problem.world)
    why = "" if ruling.clean else f"{problem.id}: not clean: {ruling}"
    if direct[0].result.outcome.code != Code.OK:
        why = f"{why} (planner: {direct[0].result.outcome.message})"
    return Row(True, ruling.clean, facade[1], direct[1], answer.planning_time, why)


def table(robot: str, rows: list[Row]) -> str:
    """Return the figures as Markdown.

    Args:
        robot: Name of the robot.
        rows: The results.
    """
    both = np.array([(row.facade_s, row.direct_s, row.planning_s) for row in rows if row.solved]) * 1e3
    added = both[:, 0] - both[:, 1]
    lines = [
        f"### move_group, {robot}, {len(rows)} problems of MotionBenchMaker",
        "",
        f"solved {sum(row.solved for row in rows)}, valid {sum(row.valid for row in rows)} of {len(rows)}",
        "",
        "| request | p50 [ms] | p95 [ms] | p99 [ms] | plans per second |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, times in (("plan_kinematic_path", both[:, 0]), ("planner/plan_to_joints", both[:, 1])):
        middle, high, highest = np.percentile(times, (50, 95, 99))
        lines.append(f"| `{name}` | {middle:.1f} | {high:.1f} | {highest:.1f} | {1e3 / times.mean():.1f} |")
    low, middle, high = np.percentile(added, (25, 50, 75))
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    lines += [
        "",
        f"The facade adds {middle:.1f} ms p50 ({low:.1f} p25, {high:.1f} p75: differences of the two requests of one "
        f"problem) on {os.cpu_count()} cores at a load of {load}.",
    ]
    return "\n".join([*lines, *(row.why for row in rows if row.why)])


if __name__ == "__main__":
    sys.exit(main())
