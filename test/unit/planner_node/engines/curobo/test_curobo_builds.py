"""Builds of solvers beside planning, the two sets of spheres, and many configurations, without a GPU."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import numpy as np
import pytest

from handiwork_core.contracts.planning import Attachment, IkRequest, IkResult, SceneQuery
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import BodyPair, Code
from handiwork_core.robot.kinematics import forward
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from planner_node.engines import CpuEngine
from planner_node.engines.curobo.batch_configurations import (
    LEAST_POSES,
    base_rows,
    is_for_gpu,
    solve_many,
    solved_share,
)
from planner_node.engines.curobo.device.builds import Builds
from planner_node.engines.curobo.model.bounding_spheres import BoundingSpheres
from planner_node.engines.curobo.solvers.configurations import STARTS, Solutions
from planner_node.engines.curobo.sphere_set import SphereSet
from support.paths import ROBOTS
from support.planning.demo_world import demo_items, world_of

FOLDERS = sorted(path.parent for path in ROBOTS.glob("*/robot.yaml"))


def test_a_build_runs_beside_its_caller_and_its_error_is_raised_once() -> None:
    builds, go = Builds(waits=False), Event()

    def work() -> None:
        go.wait(60.0)
        raise OSError("no device")

    builds.start(work)
    assert builds.is_busy()
    with pytest.raises(RuntimeError, match="another build"):
        builds.start(work)
    go.set()
    with pytest.raises(OSError, match="no device"):
        builds.wait()
    assert not builds.is_busy()
    done = []
    waiting = Builds(waits=True)
    waiting.start(lambda: done.append(Event().wait(0.05)))
    assert done == [False] and waiting.waited_s >= 0.05 and builds.waited_s == 0.0


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_robot_has_a_coarse_set_that_is_free_at_home(folder: Path) -> None:
    robot = load_robot(folder)
    coarse, fine = (SphereSet(robot, Pose.identity(), is_fine=is_fine) for is_fine in (False, True))
    assert not coarse.is_fine and fine.is_fine and coarse.count < 0.45 * fine.count
    assert {s.link for s in coarse.robot.spheres} == {s.link for s in robot.spheres if len(s.radii)}
    for arm in robot.arms.values():
        engine = CpuEngine(coarse.robot, Pose.identity(), lambda _share, _text: None)
        verdict = engine.explain(arm.name, np.array(arm.home_q), SceneQuery())
        assert verdict.code is Code.OK, verdict.message


def test_coarse_spheres_that_overlap_at_an_end_are_smaller_there(robot: Robot) -> None:
    arm, chosen = robot.arm(""), SphereSet(robot, Pose.identity(), is_fine=False)
    engine = CpuEngine(robot, Pose.identity(), lambda _share, _text: None)
    engine.update_world(world_of(*demo_items()))
    rng, seen = np.random.default_rng(0), 0
    core, query = engine._core, engine._core.read(arm, SceneQuery())
    home = chosen.rows(arm, SceneQuery(), core.scene, np.zeros((0, len(arm.home_q))))
    while seen < 5:
        q = rng.uniform(query.robot.lower, query.robot.upper)
        if query.touches(q):
            continue
        here = chosen.rows(arm, SceneQuery(), core.scene, q[None])
        for link, rows in here.items():
            assert (rows[:, 3] <= home[link][:, 3]).all()
        seen += any((rows[:, 3] < home[link][:, 3]).any() for link, rows in here.items())


def test_the_gpu_is_chosen_for_many_poses_of_which_not_all_can_be_reached() -> None:
    assert not is_for_gpu(LEAST_POSES - 1, 0.0)
    assert is_for_gpu(LEAST_POSES, 0.4)
    assert not is_for_gpu(5_000, 1.0), "the CPU engine takes 50 ms"
    poses = tuple(Pose.of((float(i), 0.0, 0.0)) for i in range(3000))
    request, asked = IkRequest("", poses, np.zeros(7)), []

    def solve(some: IkRequest, missed: int) -> IkResult:
        count = len(some.world_T_ee)
        asked.append(count)
        assert some.world_T_ee[0] is poses[0] and some.world_T_ee[-1] is poses[-1]
        codes = (Code.NO_IK,) * missed + (Code.OK,) * (count - missed)
        return IkResult(codes, np.zeros((count, 7)), np.zeros(count), np.zeros(count), 0.0)

    assert solved_share(request, lambda some: solve(some, 16)) == 0.75
    assert asked == [64], "one in four is missed: more poses would only take time"
    assert solved_share(request, lambda some: solve(some, 1)) == 255 / 256
    assert asked == [64, 64, 256]


class NearSolutions:
    """Answers with the configurations that made the poses, some millimetres off; it takes some for touching."""

    def __init__(self, q: Array, rows: Array) -> None:
        self._q, self._rows, self.calls = q, rows, 0

    def solve(self, base_T_ee: Array, starts: Array, *, is_free: bool) -> Solutions:
        assert starts.shape == (STARTS, self._q.shape[1]) and is_free
        self.calls += 1
        index = [int(np.abs(self._rows - row).sum(axis=1).argmin()) for row in base_T_ee]
        q = np.repeat(self._q[index][:, None], STARTS, axis=1) + 0.002
        near = np.zeros((len(q), STARTS), dtype=bool)
        near[:, 1] = np.array(index) % 7 != 0
        errors = np.full((len(q), STARTS, 2), 0.002, dtype=np.float32)
        return Solutions(q.astype(np.float32), near, near, errors)


def test_near_solutions_are_finished_and_those_that_touch_are_refused(robot: Robot) -> None:
    world_T_base = Pose.of((0.3, -0.2, 0.1), Rotation.from_rpy(0.0, 0.0, 0.8))
    engine = CpuEngine(robot, world_T_base, lambda _share, _text: None)
    engine.update_world(world_of(*demo_items()))
    query = engine._core.read(robot.arm(""), SceneQuery())
    q = np.random.default_rng(2).uniform(query.robot.lower + 0.1, query.robot.upper - 0.1, (300, 7))
    poses = tuple(world_T_base @ forward(robot, "", row) for row in q)
    rows = base_rows(poses, world_T_base)
    there = forward(robot, "", q[5])
    np.testing.assert_allclose(rows[5, :3], there.translation_m, atol=1e-9)
    assert abs(rows[5, 3:] @ there.rotation.wxyz) == pytest.approx(1.0)
    solvers = NearSolutions(q, rows)
    request = IkRequest("", poses, np.array(robot.arm("").home_q))
    found = solve_many(engine._core, request, lambda: solvers, lambda: False)
    assert solvers.calls == 3, "those that are left get other starts"
    for i, code in enumerate(found.codes):
        if i % 7 == 0:
            assert code is Code.NO_IK and np.isnan(found.q[i]).all()
        elif query.touches(q[i]):
            assert code in (Code.GOAL_IN_COLLISION, Code.OK)
        if code is Code.OK:
            assert not query.touches(found.q[i])
            reached = world_T_base @ forward(robot, "", found.q[i])
            assert reached.almost_equal(poses[i], within_m=1e-4, within_rad=1e-4)
    assert sum(code is Code.OK for code in found.codes) > 150
    stopped = solve_many(engine._core, request, lambda: solvers, lambda: True)
    assert set(stopped.codes) == {Code.CANCELED}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_bounding_spheres_contain_the_fine_ones(folder: Path) -> None:
    """With an open gripper, a held object and a link that may touch it, for each arm."""
    robot = load_robot(folder)
    for arm in robot.arms.values():
        chosen, bounding = SphereSet(robot, Pose.identity(), is_fine=True), BoundingSpheres(robot, arm)
        engine = CpuEngine(robot, Pose.identity(), lambda _share, _text: None)
        engine.update_world(world_of(*demo_items()))
        held = Attachment("cube", arm.ee_link, Pose.of((0.0, 0.0, 0.1)))
        allowed = frozenset({BodyPair("cube", f"{robot.name}/{arm.ee_link}")})
        nowhere = np.zeros((0, len(arm.home_q)))
        for scene in (SceneQuery(), SceneQuery(attached=(held,), allowed=allowed)):
            fine = chosen.rows(arm, scene, engine._core.scene, nowhere)
            around = bounding.rows(fine)
            assert bounding.rows(fine) is around and set(around) == set(fine)
            assert sum(map(len, around.values())) < 0.35 * sum(map(len, fine.values()))
            for link, spheres in fine.items():
                for x, y, z, radius in spheres[spheres[:, 3] > -50.0]:
                    gaps = np.linalg.norm(around[link][:, :3] - (x, y, z), axis=1) + radius
                    assert (gaps <= around[link][:, 3] + 1e-9).any(), link
            with bounding.config() as config:
                made = config["robot_cfg"]["kinematics"]["collision_spheres"]
                assert {link: len(rows) for link, rows in made.items() if rows} == {
                    link: len(rows) for link, rows in around.items() if link in made
                }
