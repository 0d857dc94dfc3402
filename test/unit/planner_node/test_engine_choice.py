"""Which engine is taken, why, and what happens to one that loses its device."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from handiwork_core.config import ConfigError
from handiwork_core.geometry import Pose
from handiwork_core.outcome import Code
from handiwork_core.planning import IkRequest, JointGoals, PlanRequest, PlanResult, Report, ShouldStop
from handiwork_core.robot import Robot
from handiwork_core.world import World
from planner_node.engine_choice import choose, open_engine
from planner_node.engines import ENGINES, CpuEngine
from planner_node.engines.curobo import cuda
from planner_node.engines.curobo.probe import Machine, why_absent
from planner_node.engines.guarded import EngineLost, GuardedEngine

ALL = {kind.name: kind for kind in ENGINES}
GOOD = {"torch": "2.11.0+cu130", "warp-lang": "1.19.0", "cuda-core": "1.2.0", "nvidia-curobo": "0.8.1"}


class Fragile(CpuEngine):
    """Fails as often as the class is told to."""

    name = "fragile"
    here = True
    losses: list[EngineLost] = []  # noqa: RUF012
    made = 0

    def __init__(self, robot: Robot, world_T_base: Pose, report: Report) -> None:
        type(self).made += 1
        self.worlds: list[World] = []

    @classmethod
    def why_not(cls) -> str:
        return "" if cls.here else "it is not here"

    def update_world(self, world: World) -> None:
        self.worlds.append(world)

    def plan(self, request: PlanRequest, should_stop: ShouldStop) -> PlanResult:
        if self.losses:
            raise self.losses.pop()
        return PlanResult(Code.OK, self.name)

    def solve_ik(self, request: IkRequest, should_stop: ShouldStop) -> object:  # type: ignore[override]
        raise self.losses.pop()


class Spare(Fragile):
    name = "spare"
    losses: list[EngineLost] = []  # noqa: RUF012


@pytest.fixture(autouse=True)
def _fresh() -> None:
    Fragile.made, Fragile.here = 0, True
    Fragile.losses.clear()


def request(robot: Robot) -> PlanRequest:
    home = np.array(robot.arm("").home_q)
    return PlanRequest("", home, JointGoals(home[None]))


def opened(robot: Robot, spare: type[Fragile] | None) -> tuple[GuardedEngine, list[str], list[str]]:
    said: list[str] = []
    ended: list[str] = []
    engine = open_engine(
        Fragile, spare, (robot, Pose.identity()), lambda _s, _t: None, said.append, ended.append
    )
    assert isinstance(engine, GuardedEngine)
    return engine, said, ended


def test_auto_takes_the_first_that_can_run_and_says_why() -> None:
    engines = {"cpu": CpuEngine, "curobo": Fragile}
    assert choose("auto", engines) == (Fragile, "engine:=auto takes 'curobo'")
    Fragile.here = False
    kind, why = choose("auto", engines)
    assert kind is CpuEngine and "not 'curobo' because it is not here" in why
    assert choose("cpu", ALL)[0] is CpuEngine
    with pytest.raises(ConfigError, match="it is not here"):
        choose("curobo", engines)
    with pytest.raises(ConfigError, match="curbo"):
        choose("curbo", ALL)


def test_the_probe_names_what_is_missing_or_of_a_wrong_version() -> None:
    def on(versions: dict[str, str], *, driver: bool = True, missing: str = "") -> str:
        return why_absent(Machine(lambda: driver, versions.get, lambda name: name != missing))

    assert on(GOOD) == ""
    assert "no NVIDIA driver" in on(GOOD, driver=False)
    assert "'torch'" in on(GOOD, missing="torch") and "gpu.md" in on(GOOD, missing="torch")
    assert on({}) == "", "a source tree has no metadata, and is taken as it is"
    for name, bad in (
        ("torch", "2.8.1"),
        ("warp-lang", "1.2"),
        ("nvidia-curobo", "0.7.6"),
        ("torch", "2.12.0rc1"),
    ):
        told = on({**GOOD, name: bad})
        assert told.startswith(f"{name} is {bad}") and told.count(". ") == 0, told


def test_choosing_the_cpu_imports_no_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = sys.modules['curobo'] = None\n"
        "from planner_node.engine_choice import choose\n"
        "from planner_node.engines import ENGINES\n"
        "choose('auto', {k.name: k for k in ENGINES if k.name == 'cpu' or k.why_not()})"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, cwd=Path(__file__).parent)


def test_a_lost_engine_ends_the_goal_with_its_cause_and_is_built_anew(robot: Robot) -> None:
    engine, said, ended = opened(robot, None)
    world = World(0.0, 7)
    engine.update_world(world)
    Fragile.losses.append(EngineLost("the GPU is out of memory"))
    lost = engine.plan(request(robot), lambda: False)
    assert lost.code is Code.PLANNER_LOST and "out of memory" in lost.message and said == [lost.message]
    again = engine.plan(request(robot), lambda: False)
    assert again.code is Code.OK and Fragile.made == 2 and not ended
    assert isinstance(engine.engine, Fragile) and engine.engine.worlds == [world]
    Fragile.losses.append(EngineLost("x"))
    ik = engine.solve_ik(IkRequest("", (Pose.identity(),) * 2, np.zeros(7)), lambda: False)
    assert ik.codes == (Code.PLANNER_LOST,) * 2 and np.isnan(ik.q).all()


def test_a_spare_takes_over_for_good(robot: Robot) -> None:
    engine, said, ended = opened(robot, Spare)
    Fragile.losses.append(EngineLost("the device is lost", is_fatal=True))
    assert engine.plan(request(robot), lambda: False).code is Code.PLANNER_LOST
    assert "spare" in said[0] and not ended
    assert engine.plan(request(robot), lambda: False).message == "spare"
    assert engine.name == "spare"


def test_a_fatal_loss_without_a_spare_ends_the_process(robot: Robot) -> None:
    engine, _, ended = opened(robot, None)
    Fragile.losses.append(EngineLost("illegal memory access", is_fatal=True))
    result = engine.plan(request(robot), lambda: False)
    assert ended == [result.message] and "started again" in result.message


def test_an_engine_that_does_not_load_gives_way_or_is_refused(robot: Robot) -> None:
    class Broken(Fragile):
        name = "broken"

        def __init__(self, robot: Robot, world_T_base: Pose, report: Report) -> None:
            raise EngineLost("torch sees no CUDA device")

    said: list[str] = []
    given = (robot, Pose.identity())
    engine = open_engine(Broken, Spare, given, lambda _s, _t: None, said.append, said.append)
    assert isinstance(engine, Spare) and "sees no CUDA device" in said[0]
    with pytest.raises(ConfigError, match="sees no CUDA device"):
        open_engine(Broken, None, given, lambda _s, _t: None, said.append, said.append)


@pytest.mark.parametrize(
    ("text", "known", "fatal"),
    [
        ("CUDA out of memory. Tried to allocate 2 GiB", True, False),
        ("CUDA error: an illegal memory access was encountered", True, True),
        ("CUDA error: invalid argument", True, False),
        ("shapes do not match", False, False),
    ],
)
def test_cuda_errors_have_words(text: str, known: bool, fatal: bool) -> None:
    with pytest.raises((EngineLost, RuntimeError)) as caught, cuda.guarded("planning"):
        raise RuntimeError(text)
    assert isinstance(caught.value, EngineLost) is known
    if isinstance(caught.value, EngineLost):
        assert caught.value.is_fatal is fatal and caught.value.cause.endswith("while planning")
