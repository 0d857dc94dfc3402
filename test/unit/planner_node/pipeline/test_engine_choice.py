"""The choice of the engine with its reason, and the behaviour of one that loses its device."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import (
    IkRequest,
    JointGoals,
    PlanRequest,
    PlanResult,
    Report,
    ShouldStop,
)
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from handiwork_planning.fallback_engine import EngineLost, FallbackEngine
from planner_node.engines import ENGINES, CpuEngine
from planner_node.engines.curobo.device import availability, cuda
from planner_node.engines.curobo.device.availability import Machine, why_absent
from planner_node.pipeline.engine_selection import choose, open_engine

ALL = {kind.name: kind for kind in ENGINES}
GOOD = {"torch": "2.11.0+cu130", "warp-lang": "1.19.0", "cuda-core": "1.2.0", "nvidia-curobo": "0.8.1"}


class Fragile(CpuEngine):
    """An engine that fails as often as the class attributes say."""

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
    """Return a request from home to home.

    Args:
        robot: The robot.
    """
    home = np.array(robot.arm("").home_q)
    return PlanRequest("", home, JointGoals(home[None]))


def opened(robot: Robot, spare: type[Fragile] | None) -> tuple[FallbackEngine, list[str], list[str]]:
    """Return a fragile engine with its lists of warnings and of fatal texts.

    Args:
        robot: The robot.
        spare: The engine after a loss; None for none.
    """
    warnings: list[str] = []
    ended: list[str] = []
    engine = open_engine(
        Fragile, spare, (robot, Pose.identity()), lambda _s, _t: None, warnings.append, ended.append
    )
    assert isinstance(engine, FallbackEngine)
    return engine, warnings, ended


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
        reason = on({**GOOD, name: bad})
        assert reason.startswith(f"{name} is {bad}") and reason.count(". ") == 0, reason


def test_an_old_driver_is_reported_with_all_versions_in_one_sentence() -> None:
    def on(driver: str, cuda_of_torch: str, versions: dict[str, str]) -> str:
        seen = Machine(lambda: True, versions.get, lambda _: True, lambda: driver, lambda: cuda_of_torch)
        return why_absent(seen)

    assert on("580.159.04", "13.0", GOOD) == on("", "13.0", GOOD) == on("470.1", "", GOOD) == ""
    reason = on("570.12", "13.0", GOOD)
    assert (
        reason.startswith("the NVIDIA driver is 570.12, and CUDA 13.0 needs 580") and reason.count(". ") == 0
    )
    for name, version in GOOD.items():
        assert f"{name} {version}" in reason
    wrong = on("580.1", "13.0", {**GOOD, "warp-lang": "1.2"})
    assert wrong.startswith("warp-lang is 1.2")
    for part in ("driver 580.1", "CUDA of torch 13.0", "torch 2.11.0+cu130", "nvidia-curobo 0.8.1"):
        assert part in wrong


def test_driver_and_cuda_are_read_from_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "version"
    file.write_text("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\n")
    monkeypatch.setattr(availability, "DRIVER_FILES", (file,))
    assert availability._driver() == "580.159.04"
    monkeypatch.setattr(availability, "DRIVER_FILES", (tmp_path / "none",))
    assert availability._driver() == ""
    folder = tmp_path / "torch"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise AssertionError('torch was imported')\n")
    (folder / "version.py").write_text("__version__ = '2.11.0'\ncuda: Optional[str] = '13.0'\nhip = None\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert availability._cuda_of_torch() == "13.0"
    (folder / "version.py").write_text("cuda: Optional[str] = None\n")
    assert availability._cuda_of_torch() == ""


@pytest.mark.processes
def test_choosing_the_cpu_imports_no_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = sys.modules['curobo'] = None\n"
        "from planner_node.pipeline.engine_selection import choose\n"
        "from planner_node.engines import ENGINES\n"
        "choose('auto', {k.name: k for k in ENGINES if k.name == 'cpu' or k.why_not()})"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, cwd=Path(__file__).parent)


def test_a_lost_engine_ends_the_goal_with_its_cause_and_is_built_anew(robot: Robot) -> None:
    engine, warnings, ended = opened(robot, None)
    world = World(0.0, 7)
    engine.update_world(world)
    Fragile.losses.append(EngineLost("the GPU is out of memory"))
    lost = engine.plan(request(robot), lambda: False)
    assert lost.code is Code.PLANNER_LOST and "out of memory" in lost.message and warnings == [lost.message]
    again = engine.plan(request(robot), lambda: False)
    assert again.code is Code.OK and Fragile.made == 2 and not ended
    assert isinstance(engine.engine, Fragile) and engine.engine.worlds == [world]
    Fragile.losses.append(EngineLost("x"))
    ik = engine.solve_ik(IkRequest("", (Pose.identity(),) * 2, np.zeros(7)), lambda: False)
    assert ik.codes == (Code.PLANNER_LOST,) * 2 and np.isnan(ik.q).all()


def test_a_spare_takes_over_for_good(robot: Robot) -> None:
    engine, warnings, ended = opened(robot, Spare)
    Fragile.losses.append(EngineLost("the device is lost", is_fatal=True))
    assert engine.plan(request(robot), lambda: False).code is Code.PLANNER_LOST
    assert "spare" in warnings[0] and not ended
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

    warnings: list[str] = []
    given = (robot, Pose.identity())
    engine = open_engine(Broken, Spare, given, lambda _s, _t: None, warnings.append, warnings.append)
    assert isinstance(engine, Spare) and "sees no CUDA device" in warnings[0]
    with pytest.raises(ConfigError, match="sees no CUDA device"):
        open_engine(Broken, None, given, lambda _s, _t: None, warnings.append, warnings.append)


class OutOfMemoryError(RuntimeError):
    """An error with the name of torch's."""


class AcceleratorError(RuntimeError):
    """An error with the name of torch's."""


class CUDAError(Exception):
    """An error with the name of cuda-core's, which is no RuntimeError."""


def real(module: str, name: str, stand_in: type[Exception]) -> type[Exception]:
    """Return the library's own class where it is installed.

    Args:
        module: Name of the module.
        name: Name of the class.
        stand_in: The class that is returned otherwise.
    """
    try:
        return getattr(importlib.import_module(module), name, stand_in)
    except ImportError:
        return stand_in


@pytest.mark.parametrize(
    ("kind", "text", "fatal"),
    [
        (real("torch", "OutOfMemoryError", OutOfMemoryError), "CUDA out of memory. Tried to allocate", False),
        (
            real("torch", "AcceleratorError", AcceleratorError),
            "CUDA error: device-side assert triggered",
            True,
        ),
        (
            real("cuda.core._utils.cuda_utils", "CUDAError", CUDAError),
            "CUDA_ERROR_ILLEGAL_ADDRESS: While executing a kernel, the device encountered a load or store "
            "instruction on an invalid memory address. This leaves the process in an inconsistent state",
            True,
        ),
        (real("cuda.core._utils.cuda_utils", "CUDAError", CUDAError), "CUDA_ERROR_OUT_OF_MEMORY: x", False),
        (real("cuda.core._utils.cuda_utils", "CUDAError", CUDAError), "CUDA_ERROR_INVALID_VALUE: x", False),
        (
            ValueError,
            "Failed to launch kernel: step. CUDA error: (<cudaError_t.cudaErrorAssert: 710>,)",
            True,
        ),
        (RuntimeError, "Warp CUDA error 719: unspecified launch failure", True),
    ],
)
@pytest.mark.parametrize("with_spare", [True, False])
def test_what_gpu_libraries_raise_ends_the_goal_and_falls_back(
    robot: Robot, kind: type[Exception], text: str, fatal: bool, with_spare: bool
) -> None:
    class Raising(Fragile):
        def plan(self, request: PlanRequest, should_stop: ShouldStop) -> PlanResult:
            with cuda.guarded("optimising trajectories"):
                raise kind(text)

    warnings: list[str] = []
    ended: list[str] = []
    given = (robot, Pose.identity())
    spare = Spare if with_spare else None
    engine = open_engine(Raising, spare, given, lambda _s, _t: None, warnings.append, ended.append)
    lost = engine.plan(request(robot), lambda: False)
    assert lost.code is Code.PLANNER_LOST and "while optimising trajectories" in lost.message
    assert ("out of memory" if "memory." in text or "MEMORY" in text else "CUDA failed") in lost.message
    if with_spare:
        assert engine.plan(request(robot), lambda: False).message == "spare" and not ended
    else:
        assert bool(ended) is fatal and warnings == [lost.message]


@pytest.mark.parametrize("error", [ValueError("wrong shape"), KeyError("q"), RuntimeError("no such joint")])
def test_faults_that_are_not_the_gpus_pass(error: Exception) -> None:
    with pytest.raises(type(error)), cuda.guarded("planning"):
        raise error


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


class Wide(Fragile):
    """Plans a batch at once, and loses its device as often as ``losses`` says."""

    name = "wide"
    losses: list[EngineLost] = []  # noqa: RUF012

    def plan_batch(self, requests: Sequence[PlanRequest], should_stop: ShouldStop) -> list[PlanResult]:
        if self.losses:
            raise self.losses.pop()
        return [PlanResult(Code.OK, self.name)] * len(requests)


def test_a_loss_costs_one_problem_of_a_batch_that_is_planned_in_turn(robot: Robot) -> None:
    engine, warnings, _ended = opened(robot, Spare)
    Fragile.losses.append(EngineLost("out of memory"))
    results = engine.plan_batch([request(robot)] * 3, lambda: False)
    assert [(r.code, r.message) for r in results[1:]] == [(Code.OK, "spare")] * 2
    assert results[0].code is Code.PLANNER_LOST and "out of memory" in results[0].message
    assert len(warnings) == 1
    stopped = engine.plan_batch([request(robot)] * 2, lambda: True)
    assert [r.code for r in stopped] == [Code.CANCELED] * 2


def test_a_loss_costs_the_whole_batch_of_an_engine_that_plans_it_at_once(robot: Robot) -> None:
    engine = FallbackEngine(
        lambda: Wide(robot, Pose.identity(), lambda _s, _t: None), None, lambda _t: None, lambda _t: None
    )
    Wide.losses.append(EngineLost("out of memory"))
    lost = engine.plan_batch([request(robot)] * 2, lambda: False)
    assert [r.code for r in lost] == [Code.PLANNER_LOST] * 2
    engine.update_world(World(0.0))
    assert engine.plan(request(robot), lambda: False).code is Code.OK, "it is built again"
    assert [r.message for r in engine.plan_batch([request(robot)] * 2, lambda: False)] == ["wide"] * 2
