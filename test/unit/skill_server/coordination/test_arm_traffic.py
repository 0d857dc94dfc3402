"""An arm among others: it waits for an arm that will go away, reports the wait, and gives up on one that stays."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from handiwork_core.contracts.planning import (
    CandidatesRequest,
    CandidatesResult,
    CandidateVerdict,
    JointGoals,
    OtherArm,
    PathRest,
    PlanRequest,
    PlanResult,
    SceneQuery,
    ShouldStop,
    Verdict,
)
from handiwork_core.contracts.skill import Progress
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import BodyPair, Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import JointState, World
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from skill_server.coordination import arm_coordinator
from skill_server.coordination.arm_coordinator import ArmTraffic
from skill_server.coordination.coordinated_ports import SHARED_BUDGET_S, CoordinatedPlanner, TrafficArm
from skill_server.coordination.reservations import MotionReservations
from support.cells.dual_fr3 import write_dual_fr3

PAIR = BodyPair("dual_fr3/right_hand", "dual_fr3/left_hand")
LEFT, RIGHT = "left_arm", "right_arm"
LIMIT_S = 60.0


@pytest.fixture(scope="module")
def dual(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return load_robot(write_dual_fr3(tmp_path_factory.mktemp("dual_fr3")))


def never() -> bool:
    return False


def motion(start: float, end: float) -> Trajectory:
    q = np.tile(np.linspace(start, end, 41)[:, None], (1, 7))
    return Trajectory(tuple(map(str, range(7))), np.linspace(0.0, 1.0, 41), q, 0.0 * q, 0.0 * q)


@dataclass
class Cell:
    """Both arms by the one number that all their joints have; an arm is in the way when its number is above 0.5."""

    robot: Robot
    at: dict[str, float] = field(default_factory=lambda: {LEFT: 0.0, RIGHT: 0.0})
    now: float = 0.0
    before_verdict: Callable[[], None] = lambda: None
    asked: int = 0
    judged: int = 0
    budgets_s: list[float] = field(default_factory=list)
    rests: list[SceneQuery] = field(default_factory=list)

    def snapshot(self) -> World:
        position = {name: self.at[arm] for arm, spec in self.robot.arms.items() for name in spec.joint_names}
        return World(0.0, 1, joints=JointState(0.0, position))

    def world_T_base(self) -> Pose:
        return Pose.identity()

    def now_s(self) -> float:
        return self.now

    def sleep(self, seconds: float, *, should_stop: ShouldStop) -> None:
        self.now += seconds

    @staticmethod
    def is_blocked(scene: SceneQuery) -> bool:
        return any(bool((other.q > 0.5).any()) for other in scene.others)

    def plan(self, request: PlanRequest, *, should_stop: ShouldStop) -> PlanResult:
        self.asked += 1
        self.budgets_s.append(request.budget_s)
        if self.is_blocked(request.scene):
            return PlanResult(Code.GOAL_IN_COLLISION, "in the way", blocking=PAIR)
        return PlanResult(Code.OK, trajectory=motion(0.0, 0.1))

    def check_candidates(self, request: CandidatesRequest, *, should_stop: ShouldStop) -> CandidatesResult:
        self.judged += 1
        code = Code.NO_IK if self.is_blocked(request.scenes[0]) else Code.OK
        return CandidatesResult(Code.OK, "", (CandidateVerdict(code, np.zeros((1, 7)), 0.0, PAIR),))

    def validate(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, *, should_stop: ShouldStop
    ) -> Verdict:
        self.before_verdict()
        if self.is_blocked(scene):
            return Verdict(Code.TRAJECTORY_REFUSED, "too near", PAIR)
        return Verdict(Code.OK)

    def validate_rest(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, rest: PathRest, *, should_stop: ShouldStop
    ) -> Verdict:
        self.rests.append(scene)
        return self.validate(arm, trajectory, scene, should_stop=should_stop)


@dataclass
class Side:
    traffic: ArmTraffic
    planner: CoordinatedPlanner
    stages: list[str]

    def plan(self, should_stop: ShouldStop = never) -> PlanResult:
        request = PlanRequest(self.traffic.arm.name, np.zeros(7), JointGoals(np.zeros((1, 7))))
        return self.planner.plan(request, should_stop=should_stop)


def sides(robot: Robot, patience_s: float = 30.0) -> tuple[Cell, Side, Side]:
    cell, board, made = Cell(robot), MotionReservations(tuple(robot.arms)), list[Side]()
    for spec in robot.arms.values():
        traffic = ArmTraffic(board, robot, spec, cell, cell, lambda _arm: {}, patience_s)
        stages: list[str] = []
        traffic.enter(lambda progress, stages=stages: stages.append(progress.stage))(
            Progress("approach", 0, 1, 0.0)
        )  # type: ignore[misc]
        made.append(Side(traffic, CoordinatedPlanner(cell, traffic), stages))
    return cell, made[0], made[1]


def until(true: Callable[[], bool]) -> None:
    for _ in range(int(LIMIT_S / 0.01)):
        if true():
            return
        threading.Event().wait(0.01)
    raise AssertionError("nothing happened")


def in_thread(run: Callable[[], PlanResult]) -> tuple[threading.Thread, list[PlanResult]]:
    results: list[PlanResult] = []
    thread = threading.Thread(target=lambda: results.append(run()))
    thread.start()
    return thread, results


def test_a_goal_waits_for_a_motion_to_end_and_says_so(dual: Robot) -> None:
    cell, left, right = sides(dual)
    board, way = left.traffic.board, motion(0.0, 1.0)
    assert right.planner.validate(RIGHT, way, SceneQuery(), should_stop=never).code is Code.OK
    thread, results = in_thread(left.plan)
    until(lambda: len(left.stages) > 1)
    assert not results and left.stages[1].startswith("waiting for right_arm: it moves in the way")
    assert "right_hand" in left.stages[1]
    arm = TrafficArm(Follower(cell, RIGHT), right.traffic)
    assert arm.follow(way, should_stop=never).ok
    cell.at[RIGHT] = 0.0  # it moved on between two checks of the other
    board.end(RIGHT)
    thread.join(LIMIT_S)
    assert results[0].code is Code.OK and left.stages[-1] == "approach"


@dataclass
class Follower:
    cell: Cell
    name: str

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop):  # type: ignore[no-untyped-def]
        from handiwork_core.model.outcome import OK

        self.cell.at[self.name] = float(trajectory.q[-1, 0])
        return OK

    def stop(self):  # type: ignore[no-untyped-def]
        raise AssertionError


def test_what_fails_without_the_others_too_is_told_at_once(dual: Robot) -> None:
    cell, left, _ = sides(dual)
    cell.is_blocked = lambda _scene: True  # type: ignore[method-assign]
    assert left.plan().code is Code.GOAL_IN_COLLISION
    assert left.stages == ["approach"] and cell.asked == 2


def test_an_idle_arm_in_the_way_is_named_with_the_mend(dual: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arm_coordinator, "IDLE_S", 0.1)
    cell, left, right = sides(dual)
    cell.at[RIGHT] = 1.0
    right.traffic.leave()
    result = left.plan()
    assert result.code is Code.ARM_IN_THE_WAY
    assert "right_arm stands in the way" in result.message and "home" in result.message
    assert not left.traffic.should_yield()


def test_patience_ends(dual: Robot) -> None:
    cell, left, _ = sides(dual, patience_s=0.2)
    cell.at[RIGHT] = 1.0
    result = left.plan()
    assert result.code is Code.ARM_IN_THE_WAY and "0.2 s" in result.message


def test_patience_ends_also_where_the_other_arm_moves_on_during_every_new_try(dual: Robot) -> None:
    """Every event makes another try worth it; an arm that never rests must not keep the goal for ever."""
    cell, left, right = sides(dual, patience_s=0.2)
    cell.at[RIGHT] = 1.0

    def busy(scene: SceneQuery) -> bool:
        threading.Event().wait(0.01)
        right.traffic.board.end(RIGHT)
        return Cell.is_blocked(scene)

    cell.is_blocked = busy  # type: ignore[method-assign]
    result = left.plan(lambda: cell.asked > 1000)
    assert result.code is Code.ARM_IN_THE_WAY and "0.2 s" in result.message


def test_all_requests_of_a_search_wait_no_longer_than_the_patience_of_the_run(
    dual: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search asks about one candidate after the other; an arm in the way of all of them is waited for once."""
    patience_s = 0.4
    cell, left, _ = sides(dual, patience_s=patience_s)
    cell.at[RIGHT] = 1.0
    board, looks_s = left.traffic.board, list[float]()
    wait = board.wait

    def noted(arm: str, blocking_arm: str, seen: int, timeout_s: float, visit: int | None = None) -> bool:
        looks_s.append(timeout_s)
        return wait(arm, blocking_arm, seen, timeout_s, visit)

    monkeypatch.setattr(board, "wait", noted)
    results = [left.plan() for _ in range(30)]
    assert {one.code for one in results} == {Code.ARM_IN_THE_WAY}
    assert all(f"{patience_s:g} s" in one.message for one in results)
    assert sum(looks_s) <= patience_s + 2.0 * arm_coordinator.LOOK_S


def test_a_cancel_ends_the_wait_at_once(dual: Robot) -> None:
    cell, left, _ = sides(dual)
    cell.at[RIGHT] = 1.0
    stop = threading.Event()
    thread, results = in_thread(lambda: left.plan(stop.is_set))
    until(lambda: len(left.stages) > 1)
    stop.set()
    thread.join(1.0)
    assert not thread.is_alive() and results[0].code is Code.CANCELED


def test_candidates_wait_as_well(dual: Robot) -> None:
    cell, left, _ = sides(dual)
    cell.at[RIGHT] = 1.0
    request = CandidatesRequest(LEFT, np.zeros(7), (), (SceneQuery(),))
    results: list[CandidatesResult] = []
    thread = threading.Thread(
        target=lambda: results.append(left.planner.check_candidates(request, should_stop=never))
    )
    thread.start()
    until(lambda: len(left.stages) > 1)
    cell.at[RIGHT] = 0.0
    left.traffic.board.end(RIGHT)
    thread.join(LIMIT_S)
    assert results[0].verdicts[0].code is Code.OK


def test_a_motion_posted_while_another_was_judged_is_seen_in_a_second_look(dual: Robot) -> None:
    cell, left, right = sides(dual)
    looks = []

    def slip_in() -> None:
        looks.append(1)
        if len(looks) == 1:
            board = right.traffic.board
            assert board.post(RIGHT, motion(0.0, 1.0), board.ways(RIGHT)[0])

    cell.before_verdict = slip_in
    verdict = left.planner.validate(LEFT, motion(0.0, 0.1), SceneQuery(), should_stop=never)
    assert verdict.code is Code.ARM_IN_THE_WAY and len(looks) == 2
    assert not left.traffic.board.moves(LEFT)
    assert left.traffic.may_try_again(1, never)


def test_of_two_that_wait_for_each_other_the_second_makes_room(
    dual: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arm_coordinator, "STUCK_S", 0.2)
    cell, left, right = sides(dual)
    cell.at = {LEFT: 1.0, RIGHT: 1.0}
    first, firsts = in_thread(left.plan)
    second, seconds = in_thread(right.plan)
    second.join(LIMIT_S)
    assert seconds[0].code is Code.ARM_IN_THE_WAY and "right_arm makes room" in seconds[0].message
    assert right.traffic.should_yield() and not left.traffic.should_yield() and not firsts
    cell.at[RIGHT] = 0.0  # it goes home
    right.traffic.board.end(RIGHT)
    right.traffic.yield_until_clear(never)
    first.join(LIMIT_S)
    assert firsts[0].code is Code.OK


def test_an_arm_knows_where_the_others_are_going(dual: Robot) -> None:
    cell, left, right = sides(dual)
    cell.at[RIGHT] = 0.2
    seen, (other,) = left.traffic.others()
    assert other.arm == RIGHT and other.q == pytest.approx(np.full((1, 7), 0.2))
    assert right.planner.validate(RIGHT, motion(0.2, 0.4), SceneQuery(), should_stop=never).code is Code.OK
    (other,) = left.traffic.others()[1]
    assert other.q[0] == pytest.approx(0.2) and other.q[-1] == pytest.approx(0.4)
    assert not left.traffic.board.post(LEFT, motion(0.0, 0.1), seen)
    assert replace(other, q=other.q[:0]).q.shape == (0, 7)


def test_the_rest_of_a_motion_is_judged_without_the_other_arms_and_posts_nothing(dual: Robot) -> None:
    cell, left, right = sides(dual)
    cell.at[RIGHT] = 1.0  # in the way, but its own motion was judged against this one
    posted = left.traffic.board.ways(RIGHT)[0]
    verdict = left.planner.validate_rest(
        LEFT, motion(0.0, 0.1), SceneQuery(), PathRest(0.05), should_stop=never
    )
    assert verdict.code is Code.OK
    (scene,) = cell.rests
    assert [(other.arm, len(other.q)) for other in scene.others] == [(RIGHT, 0)]
    assert right.traffic.board.ways(RIGHT)[0] == posted


def test_an_arm_of_the_same_goal_is_not_waited_for(dual: Robot) -> None:
    cell, left, _ = sides(dual, patience_s=LIMIT_S)
    cell.at[RIGHT] = 1.0
    left.traffic.together = frozenset({RIGHT})
    result = left.plan()
    assert result.code is Code.ARM_IN_THE_WAY
    assert "right_arm, which has a part in this goal, stands in the way" in result.message
    assert left.traffic.may_try_again(1, never)
    assert not left.traffic.may_try_again(2, never)


def test_an_arm_is_where_a_request_says_that_it_will_be(dual: Robot) -> None:
    cell, left, _ = sides(dual)
    cell.at[RIGHT] = 1.0
    away = SceneQuery(others=(OtherArm(RIGHT, np.zeros((1, 7))),))
    request = CandidatesRequest(LEFT, np.zeros(7), (), (away,))
    assert left.planner.check_candidates(request, should_stop=never).verdicts[0].code is Code.OK
    cell.at[RIGHT] = 0.0
    there = SceneQuery(others=(OtherArm(RIGHT, np.ones((1, 7))),))
    refused = left.planner.check_candidates(replace(request, scenes=(there,)), should_stop=never)
    assert refused.verdicts[0].code is Code.NO_IK
    assert left.stages == ["approach"]
    # Without the others the second scene is the same, and is not judged once more.
    assert cell.judged == 2


def test_an_arm_of_the_same_goal_takes_no_planning_time_from_it(dual: Robot) -> None:
    cell, left, _ = sides(dual)
    assert left.plan().code is Code.OK
    left.traffic.together = frozenset({RIGHT})
    assert left.plan().code is Code.OK
    whole_s = PlanRequest(LEFT, np.zeros(7), JointGoals(np.zeros((1, 7)))).budget_s
    assert cell.budgets_s == [SHARED_BUDGET_S, whole_s]
    assert whole_s > SHARED_BUDGET_S
