"""Block tests of sixteen float32 lanes against distances in float64, written here from the definitions."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.contracts.planning import Attachment, SceneQuery
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import BodyPair
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_planning.collision import motion_check
from handiwork_planning.collision.batch_check import FINEST_M
from handiwork_planning.collision.batch_checker import checker_of
from handiwork_planning.kernels import simd_kinematics
from handiwork_planning.kernels.arrays import OFF
from handiwork_planning.kernels.jit import inlined
from handiwork_planning.kernels.rng import new_state
from handiwork_planning.kernels.simd import load, save
from handiwork_planning.scene.other_arms import ARM_GAP_M
from handiwork_planning.search import free_motion, rrt_connect
from handiwork_planning.search.requests import Deadline
from support.planning.block_cases import (
    Case,
    along,
    armed,
    case_of,
    least,
    moving,
    room_of,
    shapes_near,
    slow_rooms,
    some_q,
)
from support.planning.demo_world import box
from support.planning.serial_arms import limits

NOISE_M = 2.0e-5


def cases(fr3: Robot) -> dict[str, Case]:
    rng = np.random.default_rng(7)
    hand, tcp = fr3.arm("").ee_link, Pose.of((0.0, 0.0, 0.13), Rotation.from_rpy(0.3, 0.4, 0.0))
    elbow = next(s.link for s in fr3.spheres if moving(fr3)[s.link] == 4)
    both = (Attachment("rod", hand, tcp), Attachment("brick", elbow, Pose.of((0.0, 0.12, 0.0))))
    link = next(s.link for s in fr3.spheres if moving(fr3)[s.link] == 7)
    allowed = frozenset({BodyPair("solid 1", f"{fr3.name}/{link}"), BodyPair("rod", "solid 3")})
    scene = SceneQuery(frozenset({"solid 0", "solid 6"}), both, allowed)
    return {
        "margins": case_of(fr3, rng, SceneQuery(), 10, 0.0, 0.02),
        "touching allowed": case_of(fr3, rng, SceneQuery(), 15, -0.06, 0.0),
        "held": case_of(fr3, rng, scene, 12, -0.03, 0.01),
        "sliding": case_of(armed(rng, 6, 2), rng, SceneQuery(), 10, -0.02, 0.01),
        "four joints": case_of(armed(rng, 4, 0), rng, SceneQuery(), 12, -0.02, 0.02),
        "no shapes": case_of(armed(rng, 7, 1), rng, SceneQuery(), 0, -0.02, 0.01),
    }


NAMES = ("margins", "touching allowed", "held", "sliding", "four joints", "no shapes")


@pytest.fixture(scope="module")
def all_cases(robot: Robot) -> dict[str, Case]:
    return cases(robot)


def new_hit() -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.full(2, -1, dtype=np.int64)


@inlined
def sines_and_cosines(
    x: simd_kinematics.Floats, sines: simd_kinematics.Floats, cosines: simd_kinematics.Floats
) -> None:
    for i in range(len(x)):
        s, c = simd_kinematics.sine_and_cosine(load(x, i))
        save(sines, i, s)
        save(cosines, i, c)


def test_sine_and_cosine_are_right_to_float32_within_four_pi() -> None:
    x = (
        np.linspace(-4.0 * np.pi, 4.0 * np.pi, 1250 * simd_kinematics.LANES)
        .astype(np.float32)
        .reshape(-1, simd_kinematics.LANES)
    )
    sines, cosines = np.empty_like(x), np.empty_like(x)
    sines_and_cosines(x, sines, cosines)
    np.testing.assert_allclose(sines, np.sin(x.astype(np.float64)), atol=1.0e-6)
    np.testing.assert_allclose(cosines, np.cos(x.astype(np.float64)), atol=1.0e-6)


@pytest.mark.parametrize("name", NAMES)
def test_lanes_put_every_sphere_where_link_poses_does(all_cases: dict[str, Case], name: str) -> None:
    case, rng = all_cases[name], np.random.default_rng(1)
    query = case.query()
    for q in some_q(case, rng, 20):
        motion_check.touches(query.checker, q, new_hit())
        poses = link_poses(case.robot, dict(zip(case.robot.arm("").joint_names, q.tolist(), strict=True)))
        frames = query.checker.frames.astype(np.float64)
        places = zip(query.robot.group_start, query.robot.group_body, strict=False)
        groups = dict(zip(query.bodies, places, strict=True))
        for s in case.robot.spheres:
            if not len(s.radii):
                continue
            first, body = groups[f"{case.robot.name}/{s.link}"]
            local = query.robot.spheres[first : first + len(s.radii), :3]
            for k in (0, simd_kinematics.LANES - 1):
                m = frames[12 * body : 12 * body + 12, k]
                np.testing.assert_allclose(
                    local @ m[:9].reshape(3, 3).T + m[9:], poses[s.link].apply(s.centers), atol=1.0e-5
                )


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_verdicts_on_configurations_match_distances(all_cases: dict[str, Case], name: str) -> None:
    case, rng = all_cases[name], np.random.default_rng(2)
    query, seen = case.query(), {True: 0, False: 0}
    configurations = some_q(case, rng, 100)
    rooms = slow_rooms(case, configurations)
    for i, q in enumerate(configurations):
        hit = new_hit()
        touching = bool(motion_check.touches(query.checker, q, hit))
        seen[touching] += 1
        if touching:
            a, b = query.bodies[hit[0]], query.columns[hit[1]]
            assert min(rooms[pair][i] for pair in ((a, b), (b, a)) if pair in rooms) < NOISE_M
        else:
            assert min((room[i] for room in rooms.values()), default=np.inf) > -NOISE_M
        assert query.touches(q) == touching
    assert min(seen.values()) > 0, seen


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_verdicts_on_edges_match_fine_sampling(all_cases: dict[str, Case], name: str) -> None:
    case, rng = all_cases[name], np.random.default_rng(3)
    query, free, seen = case.query(), list[Array](), {True: 0, False: 0}
    lower, upper = limits(case.robot)
    starts = [q for q in some_q(case, rng, 400) if not query.touches(q)]
    for q in starts[:30]:
        reach = rng.choice([0.0, 0.02, 0.3, 1.0, 6.0])
        path = np.array([q, np.clip(q + rng.uniform(-reach, reach, len(q)), lower, upper)])
        hit = new_hit()
        place = motion_check.blocked_at(query.checker, path, hit)
        seen[place >= 0.0] += 1
        assert bool(motion_check.edge_is_free(query.checker, path[0], path[1], new_hit())) == (place < 0.0)
        if place < 0.0:
            free.append(along(path, 250))
        else:
            assert place <= 1.0
            there = path[0] + place * (path[1] - path[0])
            assert room_of(case, query, hit, there) < NOISE_M
    assert min(seen.values()) > 0, seen
    assert least(case, np.concatenate(free)) > -FINEST_M - NOISE_M


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 2, 3, 16, 17, 150])
@pytest.mark.parametrize("name", ["margins", "held", "sliding"])
def test_the_first_blocked_row_of_a_path(all_cases: dict[str, Case], name: str, rows: int) -> None:
    case, rng = all_cases[name], np.random.default_rng(rows)
    query, seen = case.query(), {True: 0, False: 0}
    lower, upper = limits(case.robot)
    starts = [q for q in some_q(case, rng, 200) if not query.touches(q)]
    for q in starts[:30]:
        if min(seen.values()) > 0 and sum(seen.values()) >= 12:
            break
        steps = rng.normal(size=(rows, len(q))) * rng.choice([0.1, 0.8]) / np.sqrt(rows)
        steps *= rng.uniform(size=(rows, 1)) < 0.7  # the others repeat the row before
        path = np.clip(q + np.cumsum(steps, axis=0) - steps[0], lower, upper)
        hit = new_hit()
        bad = int(motion_check.first_blocked(query.checker, path, hit))
        seen[bad >= 0] += 1
        good = path if bad < 0 else path[:bad]
        assert least(case, along(good, max(4, 250 // rows))) > -FINEST_M - NOISE_M
        if bad >= 0:
            assert 1 <= bad < rows
            # The pair that touches there touches in a tested piece; samples may just miss its deepest place.
            assert room_of(case, query, hit, along(path[bad - 1 : bad + 1], 1000)) < 1.0e-4
    assert seen[False] > 0 and (rows < 2 or seen[True] > 0), seen


def test_a_blocked_row_is_found_alone(all_cases: dict[str, Case]) -> None:
    case, rng = all_cases["margins"], np.random.default_rng(4)
    query = case.query()
    touching = next(q for q in some_q(case, rng, 100) if query.touches(q))
    for rows in (1, 2, 5, 50):
        assert motion_check.first_blocked(query.checker, np.tile(touching, (rows, 1)), new_hit()) == 1


@pytest.mark.parametrize("thick", [0.0005, 1.0e-6])
def test_no_edge_passes_a_thin_plate(robot: Robot, thick: float) -> None:
    a, b = np.array(robot.arm("").home_q), np.array(robot.arm("").home_q)
    a[0], b[0] = -1.2, 1.2
    shapes = {"plate": (box((2.0, thick, 2.0)), Pose.of((1.25, 0.0, 0.0), Rotation.from_rpy(0.0, 0.0, 0.01)))}
    margins = {(f"{robot.name}/{s.link}", "plate"): 0.0007 for s in robot.spheres if moving(robot)[s.link]}
    case = Case(robot, shapes, SceneQuery(), margins)
    query = case.query()
    assert not query.touches(a) and not query.touches(b)
    for rows in (2, 3, 7, 60):
        path, hit = np.linspace(a, b, rows), new_hit()
        bad = motion_check.first_blocked(query.checker, path, hit)
        assert bad >= 1 and query.columns[hit[1]] == "plate"
        assert room_of(case, query, hit, along(path[bad - 1 : bad + 1], 2000)) < 1.0e-4


@pytest.mark.parametrize("solids", [0, 10])
def test_with_all_margins_off_everything_is_free(robot: Robot, solids: int) -> None:
    case = Case(robot, shapes_near(np.random.default_rng(5), solids), SceneQuery(), {})
    query = case.query()
    assert len(query.checker.pairs) == 0
    q = some_q(case, np.random.default_rng(6), 40)
    for rows in (1, 2, 3, 40):
        assert motion_check.first_blocked(query.checker, q[:rows], new_hit()) == -1
    assert not motion_check.touches(query.checker, q[0], new_hit())
    assert motion_check.edge_is_free(query.checker, q[0], q[1], new_hit())


def test_checkers_do_not_disturb_each_other(all_cases: dict[str, Case]) -> None:
    case, rng = all_cases["held"], np.random.default_rng(8)
    query = case.query()
    shared = [checker_of(query.robot, query.scene, query.margins) for _ in range(2)]
    looser = checker_of(query.robot, query.scene, query.margins - 0.02)
    for q in some_q(case, rng, 60):
        path = np.array([q, q + rng.normal(size=len(q)) * 0.2])
        hits = new_hit(), new_hit()
        first = motion_check.blocked_at(shared[0], path, hits[0])
        motion_check.blocked_at(looser, path, new_hit())
        assert motion_check.blocked_at(shared[1], path, hits[1]) == first
        np.testing.assert_array_equal(*hits)


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["columns", "every other row", "read-only"])
def test_rows_in_any_layout(all_cases: dict[str, Case], layout: str) -> None:
    case, rng = all_cases["margins"], np.random.default_rng(9)
    query = case.query()
    for q in some_q(case, rng, 20):
        path = q + np.cumsum(rng.normal(size=(12, len(q))) * 0.1, axis=0)
        other = {"columns": np.asfortranarray(path), "every other row": np.repeat(path, 2, axis=0)[::2]}
        given = other.get(layout, path.copy())
        given.flags.writeable = layout != "read-only"
        fresh = [checker_of(query.robot, query.scene, query.margins) for _ in range(2)]
        assert motion_check.first_blocked(fresh[0], path, new_hit()) == motion_check.first_blocked(
            fresh[1], given, new_hit()
        )


@pytest.mark.slow
def test_the_same_request_gives_the_same_path(all_cases: dict[str, Case]) -> None:
    case, rng = all_cases["margins"], np.random.default_rng(10)
    query = case.query()
    free = np.array([q for q in some_q(case, rng, 200) if not query.touches(q)])[:6]
    paths = []
    for _ in range(2):
        deadline = Deadline.start(lambda: False, 60.0)
        paths.append(free_motion.find(case.query(), free[0], free[1:], 3, deadline))
    np.testing.assert_array_equal(paths[0].points, paths[1].points)
    assert paths[0].goal == paths[1].goal
    assert least(case, along(paths[0].points, 400)) > -FINEST_M - NOISE_M


@pytest.mark.parametrize("target", [1000.0, np.nan])
def test_a_tree_never_grows_beyond_its_room(robot: Robot, target: float) -> None:
    query = Case(robot, {}, SceneQuery(), {}).query()
    start, far, full = np.zeros(7), np.full(7, target), 64
    trees = rrt_connect.plant(start, start[None], query.margins.shape, 3)
    assert trees.nodes.shape[1] == full
    assert rrt_connect.connect(trees, 0, far, query.checker, new_hit()) == -1
    assert trees.counts[0] == full
    assert rrt_connect.grow(trees, 10, query.checker, new_state(0)) == -1


@pytest.mark.parametrize("name", ["margins", "sliding"])
def test_what_only_float32_finds_touching_is_no_obstacle_to_start_or_goal(
    all_cases: dict[str, Case], name: str
) -> None:
    case, rng, seen = all_cases[name], np.random.default_rng(11), 0
    query = case.query()
    for q in some_q(case, rng, 60):
        d = query.distances(q)
        pair = np.unravel_index(int(np.where(d > 0.0, d, 1.0e9).argmin()), d.shape)
        if d[pair] > 0.9 * ARM_GAP_M:  # a margin as wide as those of other arms is not loosened
            continue
        margins = np.full_like(d, OFF)
        margins[pair] = d[pair] - 1.0e-9
        tight = query.with_margins(margins)
        seen += tight.touches(q)
        assert not tight.grazing_at(q[None]).touches(q)
        assert not tight.touching_at(q).touches(q)
    assert seen > 0
