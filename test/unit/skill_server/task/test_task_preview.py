"""Previews of tasks: all of a task whose way is known, and else up to the node that is decided on the way."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.contracts.skill import Progress, Token
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.testing.fakes import Cell, Fakes, fakes
from skill_server.preview.previewed_skill import execute_plan
from skill_server.preview.rehearsed_run import RehearsedRun
from skill_server.task.preview import preview_task
from skill_server.task.reading.entries import Site
from skill_server.task.reading.read import read_task
from skill_server.task.record import TaskEntryState
from skill_server.task.run import TaskResult
from skill_server.task.task_paths import starts

from .flow_support import Facts
from .test_task_file import CATALOG

EDGE_M = 0.045
PICK, PLACE = "{name: pick, object: cube}", "{name: place, container: tray}"
HOME, AWAY = "{name: home}", "{name: goto_pose, position: [0.2, 0.2, 0.3]}"


def box(name: str, size: tuple[float, float, float], *, static: bool = False) -> WorldObject:
    return WorldObject(name, (Shape(ShapeKind.BOX, np.array(size), Pose.identity()),), is_static=static)


@pytest.fixture
def made() -> Fakes:
    objects = {
        "cube": box("cube", (EDGE_M, EDGE_M, EDGE_M)),
        "tray": box("tray", (0.3, 0.3, 0.02), static=True),
    }
    poses = {"cube": Pose.of((0.3, 0.1, EDGE_M / 2)), "tray": Pose.of((-0.2, 0.1, 0.01))}
    return fakes(Cell(objects, poses, {"cube": EDGE_M}))


def ignored(_progress: Progress) -> None:
    return


def preview(
    made: Fakes, *steps: str, start: str = "", report: Callable[[Progress], None] = ignored
) -> TaskResult:
    text = "name: tidy\nseed: 5\nskills:\n- gantry:\n" + "\n".join(f"  - {line}" for line in steps)
    site = Site(CATALOG, made.context.robot, made.context.world.snapshot(), conditions=Facts())
    task = read_task(text, "tidy.yaml", site)
    run = RehearsedRun({made.context.arm_spec.name: made.context})
    before = made.cell.q.copy()
    result = preview_task(task, starts(task, start), run, lambda: ["cube"], Token(), report)
    assert np.array_equal(made.cell.q, before)
    assert not made.context.held
    return result


def labels(result: TaskResult) -> list[str]:
    assert result.plan is not None, result.outcome
    return [step.label for step in result.plan.steps]


def test_the_skills_of_a_task_are_planned_one_after_the_other_and_executed_as_previewed(made: Fakes) -> None:
    result = preview(made, f"left: [{PICK}, {PLACE}]", f"left: [{HOME}]")
    assert labels(result) == ["1.1 pick", "1.1 place", "1.2 home"]
    assert (result.resume_from, result.outcome.code) == ("", Code.OK)
    assert (
        "previewed 'tidy'" in result.outcome.message
        and "in 3 skills; nothing moved" in result.outcome.message
    )
    assert result.plan is not None
    ways = [motion.trajectory for motion in result.plan.motions]
    assert all(np.allclose(a.q[-1], b.q[0]) for a, b in itertools.pairwise(ways))
    ended = execute_plan(result.plan, made.context)
    assert ended.outcome.ok, ended.outcome
    assert ended.planning_time_s == 0.0
    assert ended.outcome.message == "the task was executed as previewed"
    assert made.cell.poses["cube"].translation_m[0] < 0.0


def test_a_skill_that_is_done_by_others_is_judged_within_a_task(made: Fakes) -> None:
    move = "{name: move_object, object: cube, container: tray}"
    result = preview(made, f"left: [{move}, {HOME}]")
    assert labels(result) == ["1.1 move_object", "1.1 home"]
    assert result.plan is not None
    assert "1.1 move_object: pick: lift" in [motion.stage for motion in result.plan.motions]
    ended = execute_plan(result.plan, made.context)
    assert ended.outcome.ok, ended.outcome
    stages = [stage.stage for stage in ended.stages]
    assert stages.index("1.1 move_object: place: release") < stages.index("1.1 home: home")


def test_loops_whose_turns_are_known_are_previewed(made: Fakes) -> None:
    turns = f"left: [{{repeat: {{times: 2, steps: [{AWAY}, {HOME}]}}}}]"
    assert labels(preview(made, turns)) == [
        "1.1.1[1] goto_pose",
        "1.1.1[1] home",
        "1.1.1[2] goto_pose",
        "1.1.1[2] home",
    ]
    each = "left: [{for_each: {as: it, among: [cube], max: 1, steps: [{name: pick, object: $it}]}}]"
    assert labels(preview(made, each)) == ["1.1.1[cube] pick"]


def test_a_condition_ends_the_preview_and_the_task_goes_on_there(made: Fakes) -> None:
    result = preview(
        made, f"left: [{PICK}, {{if: {{condition: on(cube), then: [{PLACE}], else: [{HOME}]}}}}]"
    )
    assert labels(result) == ["1.1 pick"]
    assert result.outcome.ok
    text = "up to step 1.1.2: condition 'on(cube)' is decided when the task is there; execute the plan, then go on"
    assert text in result.outcome.message
    assert result.resume_from and result.resume_from in result.outcome.message
    assert next(entry.state for entry in result.entries) is TaskEntryState.SUCCEEDED
    again = preview(made, f"left: [{PICK}, {{if: {{condition: on(cube), then: [{PLACE}], else: [{HOME}]}}}}]")
    assert again.resume_from == result.resume_from


def test_a_task_that_begins_with_a_condition_is_refused_by_name(made: Fakes) -> None:
    result = preview(made, f"left: [{{condition: on(cube)}}, {PICK}]")
    assert (result.outcome.code, result.plan) == (Code.UNSUPPORTED, None)
    assert "nothing can be previewed: step 1.1.1: condition 'on(cube)'" in result.outcome.message


def test_a_failure_is_that_of_the_execution_and_names_the_skill(made: Fakes) -> None:
    result = preview(made, f"left: [{HOME}, {PLACE}]")
    assert result.plan is None
    assert result.outcome.code is Code.CONTRADICTION
    assert "step 1.1, arm, place: the gripper holds nothing" in result.outcome.message


def test_a_preview_begins_where_it_is_told(made: Fakes) -> None:
    assert labels(preview(made, f"left: [{PICK}]", f"left: [{HOME}, {AWAY}]", start="1.2")) == [
        "1.2 home",
        "1.2 goto_pose",
    ]


def test_a_canceled_preview_has_no_plan(made: Fakes) -> None:
    token = Token()
    made.context = replace(made.context, token=token)
    made.cell.before = lambda call: token.set(Code.CANCELED) if call == "planner.plan" else None
    text = f"seed: 5\nskills:\n- gantry:\n  - left: [{AWAY}, {PICK}]"
    site = Site(CATALOG, made.context.robot, made.context.world.snapshot())
    task = read_task(text, "tidy.yaml", site)
    run = RehearsedRun({made.context.arm_spec.name: made.context})
    result = preview_task(task, starts(task, ""), run, tuple, token, ignored)
    assert (result.outcome.code, result.plan) == (Code.CANCELED, None)
