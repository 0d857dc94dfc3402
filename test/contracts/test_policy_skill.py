"""The skill that runs a policy keeps the contract, with a real server and the real guard on the gantry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.contracts.predicate import Truth
from handiwork_core.contracts.reactive import ConditionTable, WatchedCondition
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_core.testing.fakes import Cell, Fakes, fakes
from handiwork_core.testing.skill_contract import SkillContract
from handiwork_policy.actions.spec import GripperSpace
from handiwork_policy.guard.settings import GuardSettings
from handiwork_policy.protocol.server import FunctionPolicy, PolicyServer
from handiwork_policy.verdicts.result import policy_result
from skill_server.execution.run import run_skill
from skill_server.policies.params import RunPolicyParams
from skill_server.skills.policy.run_policy import RunPolicy

STEP_M, WAY_M = 0.002, 0.005


def act(observation: dict[str, Any]) -> Array:
    q = np.asarray(observation["observation/state"], dtype=np.float64)
    rows = np.repeat([q], 12, axis=0)
    rows[:, 0] += STEP_M * np.arange(1, 13)
    return rows


SERVER = PolicyServer(FunctionPolicy(act)).start()


@dataclass
class Topic:
    """Brings the arm to the end of each schedule at once."""

    cell: Cell

    def fault(self) -> str:
        return ""

    def send(self, q: Array, v: Array, stamp_s: float, due_s: Array) -> None:
        self.cell.call("reactive.send")
        self.cell.q = q[-1].copy()


@dataclass
class Monitor:
    """Watches whether the first joint has moved."""

    cell: Cell
    start: float

    def find(self, text: str, *, should_stop: ShouldStop) -> tuple[str, str]:
        self.cell.call("conditions.find")
        return (text, "") if text == "moved" else ("", "the monitor does not watch it")

    def table(self) -> ConditionTable:
        is_true = bool(self.cell.q[0] - self.start >= WAY_M)
        truth = Truth.TRUE if is_true else Truth.FALSE
        return ConditionTable(0.0, {"moved": WatchedCondition(truth, self.cell.now_s, is_true, "seen", 0.0)})


def params(**changes: Any) -> RunPolicyParams:
    keys: dict[str, Any] = {"state": ("joint_position",), "gripper": GripperSpace.NONE, "until": "moved"}
    return RunPolicyParams(server=SERVER.address, **{**keys, **changes})


class TestRunPolicy(SkillContract[RunPolicyParams]):
    run = staticmethod(run_skill)

    def skill(self) -> RunPolicy:
        return RunPolicy()

    def params(self) -> RunPolicyParams:
        return params()

    def unknown(self) -> RunPolicyParams:
        return params(guard=GuardSettings(may_touch=("cub",)))

    def fakes(self, seed: int = 0) -> Fakes:
        made = fakes(Cell({}, {}), seed)
        made.context.reactive = Topic(made.cell)
        made.context.conditions = Monitor(made.cell, float(made.cell.q[0]))
        return made


def test_the_result_has_the_verdict() -> None:
    made = TestRunPolicy().fakes()
    outcome = run_skill(RunPolicy(), params(), made.context).outcome
    found = policy_result(outcome.message)
    assert outcome.ok
    assert found is not None and found["success"] and found["verdict"] == "seen"
    p50, p95, p99 = found["step_ms"]
    assert 0.0 < p50 <= p95 <= p99
    assert policy_result("a sentence") is None and policy_result("a; result: {") is None


@pytest.mark.parametrize(
    ("changes", "field"), [({"until": "grasped"}, "until"), ({"subtasks": ("moved", "b")}, "subtasks[1]")]
)
def test_what_is_not_watched_is_refused_with_its_field(changes: dict[str, Any], field: str) -> None:
    made = TestRunPolicy().fakes()
    outcome = run_skill(RunPolicy(), params(**changes), made.context).outcome
    assert (outcome.code, outcome.field_name) == (Code.BAD_GOAL, field)
    assert "reactive.send" not in made.cell.calls


def test_a_run_that_is_not_confirmed_ends_with_its_time() -> None:
    made = TestRunPolicy().fakes()
    made.context.conditions.start = 1e9  # type: ignore[union-attr]
    outcome = run_skill(RunPolicy(), params(time_limit=1.0), made.context).outcome
    assert outcome.code is Code.CONDITION_FALSE and "not confirmed within 1 s" in outcome.message


@pytest.mark.parametrize("port", ["reactive", "conditions"])
def test_a_robot_without_a_port_is_refused(port: str) -> None:
    made = TestRunPolicy().fakes()
    setattr(made.context, port, None)
    outcome = run_skill(RunPolicy(), params(), made.context).outcome
    assert (outcome.code, outcome.field_name) == (Code.BAD_GOAL, "arm")
