"""Give problems to a peer's process and let the referee judge its answers."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.mbm.problems import Problem
from benchmarks.mbm.referee import Referee
from benchmarks.mbm.rows import NAN, Row
from benchmarks.mbm.sphere_robot import SphereRobot
from benchmarks.mbm.urdf_text import write_srdf
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import ShapeKind

from .job import Answer, Body, Job, Task, read_answers, write_job
from .setup import HOME, PEERS, python_of

KINDS = {ShapeKind.BOX: "box", ShapeKind.CYLINDER: "cylinder", ShapeKind.SPHERE: "sphere"}


class Absent(Exception):
    """A peer is not installed, or its process ended badly; the message says which."""


def run_peer(
    name: str, robot: SphereRobot, problems: Sequence[Problem], *, clock: str, limit_s: float
) -> list[Row]:
    """Run every problem once in a peer's process, and judge the answers.

    Args:
        name: Name of the peer.
        robot: The robot.
        problems: The problems.
        clock: "cpu" or "wall".
        limit_s: Time of each problem, s.

    Raises:
        Absent: no environment of that name, or its process failed.
    """
    if not python_of(name).exists():
        raise Absent(f"{PEERS[name].title} is absent; `python -m benchmarks.peers.setup` installs it")
    with tempfile.TemporaryDirectory() as folder:
        job, answers = Path(folder) / "job.json", Path(folder) / "answers.json"
        write_job(_job(robot, problems, Path(folder), clock, limit_s), job)
        command = [str(python_of(name)), "-m", PEERS[name].module, str(job), str(answers)]
        done = subprocess.run(command, check=False, cwd=HOME.parent, capture_output=True, text=True)
        if done.returncode != 0:
            raise Absent(f"{PEERS[name].title} ended with {done.returncode}: {done.stderr.strip()[-1000:]}")
        found = read_answers(answers)
    referee = Referee(robot.robot, robot.world_T_root)
    by_id = {problem.id: problem for problem in problems}
    return [_row(answer, by_id[answer.id], robot, referee, limit_s) for answer in found]


def _job(robot: SphereRobot, problems: Sequence[Problem], folder: Path, clock: str, limit_s: float) -> Job:
    model, arm = robot.robot, robot.robot.arm("")
    urdf, srdf = folder / "robot.urdf", folder / "robot.srdf"
    urdf.write_text(model.urdf, encoding="utf-8")
    srdf.write_text(write_srdf(model), encoding="utf-8")
    joints = [model.joints[name] for name in arm.joint_names]
    links = sorted(s.link for s in model.spheres)
    return Job(
        urdf=str(urdf),
        srdf=str(srdf),
        group=arm.name,
        ee_link=arm.ee_link,
        joints=list(arm.joint_names),
        lower=[j.lower for j in joints],
        upper=[j.upper for j in joints],
        velocity=[j.velocity for j in joints],
        acceleration=[j.acceleration for j in joints],
        pairs=[[a, b] for a, b in combinations(links, 2) if (a, b) not in model.ignored_pairs],
        clock=clock,
        limit_s=limit_s,
        tasks=[Task(p.id, _bodies(p), p.start.tolist(), p.goals.tolist()) for p in problems],
    )


def _bodies(problem: Problem) -> list[Body]:
    found = []
    for name, item in problem.world.objects.items():
        for i, shape in enumerate(item.shapes):
            if shape.kind not in KINDS:
                raise Absent(f"object {name} has a {shape.kind.name}, which peers do not support")
            placed = problem.world.states[name].world_T_object @ shape.object_T_shape
            found.append(
                Body(f"{name}_{i}", KINDS[shape.kind], shape.size.tolist(), placed.matrix().tolist())
            )
    return found


def _row(answer: Answer, problem: Problem, robot: SphereRobot, referee: Referee, limit_s: float) -> Row:
    late = "over the limit" if answer.plan_s > limit_s else ""
    path = motion = None
    duration_s = NAN
    if answer.path is not None and not late:
        points = np.array(answer.path)
        path = referee.path(points, problem.start, problem.goals, problem.world)
    if answer.motion is not None and not late:
        m = answer.motion
        timed = Trajectory(
            robot.robot.arm("").joint_names, np.array(m.t), np.array(m.q), np.array(m.qd), np.array(m.qdd)
        )
        motion = referee.timed(timed, problem.start, problem.goals, problem.world)
        duration_s = timed.duration_s
    return Row(
        problem.id,
        problem.scene,
        answer.plan_s,
        answer.simplified_s,
        answer.full_s,
        path,
        motion,
        duration_s,
        answer.why or late,
    )
