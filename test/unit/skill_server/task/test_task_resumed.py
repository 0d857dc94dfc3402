"""A task whose place fails goes on from the place that its result names, with the real skills and executor."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from handiwork_core.contracts.skill import Token
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.testing.fakes import Fakes
from skill_server.execution.run import ExecutionResult, run_skill
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams
from skill_server.state import gripper_state
from skill_server.task.model import Entry, Task, TaskStep
from skill_server.task.record import Report
from skill_server.task.run import TaskResult, run_task
from skill_server.task.scope import Ports
from skill_server.task.task_paths import starts
from unit.skill_server.execution.test_executor import made

PICK = Entry("a", "1.1", "arm", Pick(), PickParams(object="cube"))
PLACE = Entry("b", "1.1", "arm", Place(), PlaceParams(container="tray", follow_speed=0.0))
TASK = Task("tidy", 1, (TaskStep("1.1", {"arm": (PICK, PLACE)}),))


def run(f: Fakes, resume_from: str = "", fault: Callable[[Fakes], None] | None = None) -> TaskResult:
    def do(entry: Entry, token: Token, report: Report) -> ExecutionResult:
        if entry.path == PLACE.path and fault is not None:
            f.arm.on_tick = lambda t: fault(f) if t > 0.3 else None
        return run_skill(entry.skill, entry.params, f.context)

    def held(_arm: str) -> str:
        return gripper_state.held_by_measurement(
            f.context.world.snapshot(), f.context.robot, f.context.arm_spec
        )

    ports = Ports(do, f.context.clock, held)
    return run_task(TASK, starts(TASK, resume_from), ports, Token(), lambda _p: None)


def move_tray(f: Fakes) -> None:
    f.cell.poses["tray"] = Pose.of((0.3, -0.3, 0.01))


def drop(f: Fakes) -> None:
    f.cell.drop(0.045 / 2)


@pytest.mark.parametrize(
    ("fault", "code", "place"),
    [(move_tray, Code.OBJECT_MOVED, "arm=1.1.2"), (drop, Code.OBJECT_DROPPED, "1.1")],
)
def test_a_failed_place_succeeds_when_the_task_goes_on(
    fault: Callable[[Fakes], None], code: Code, place: str
) -> None:
    f = made()
    first = run(f, fault=fault)
    assert first.outcome.code is code, first.outcome
    assert [end.state.name for end in first.entries] == ["SUCCEEDED", "FAILED"]
    assert first.resume_from == place
    f.arm.on_tick = lambda _t: None
    again = run(f, first.resume_from)
    assert again.outcome.ok, again.outcome
    assert not f.context.held
