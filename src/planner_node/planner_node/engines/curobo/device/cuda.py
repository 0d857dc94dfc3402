"""The only file that imports torch and cuRobo, in ``load``, and the texts for errors of a GPU."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handiwork_core.process.writable_folders import cache_folder
from handiwork_planning.fallback_engine import EngineLost

BROKEN = (
    "illegal memory access",
    "device-side assert",
    "unspecified launch failure",
    "device lost",
    "device is lost",
    "uncorrectable ECC",
    "GPU is lost",
    "misaligned address",
    "illegal instruction",
    "ILLEGAL_ADDRESS",
    "LAUNCH_FAILED",
    "ERROR_ASSERT",
    "cudaErrorAssert",
    "cudaErrorIllegalAddress",
    "cudaErrorLaunchFailure",
    "DEVICE_UNAVAILABLE",
    "no CUDA-capable device",
    "inconsistent state",
    "context cannot be used",
    "driver shutting down",
    "unknown error",
)
"""Texts of errors after which the process cannot use its CUDA context any more."""

CUDA_KINDS = {"AcceleratorError", "CUDAError", "NVRTCError"}
"""Names of exceptions that only CUDA causes: those of torch and of cuda-core."""
CUDA_SIGNS = ("CUDA error", "CUDA_ERROR", "CUresult", "cudaError", "CUDA driver")
"""Parts of the texts by which other exceptions name CUDA."""
SHOWN = 160


@dataclass(frozen=True, slots=True)
class Cuda:
    """The loaded modules and classes. Their types are unknown where they are not installed."""

    torch: Any
    warp: Any
    device: Any
    RobotCfg: Any
    MotionPlanner: Any
    MotionPlannerCfg: Any
    TrajectoryOptimizer: Any
    PRMGraphPlanner: Any
    create_scene_collision: Any
    RobotCollisionChecker: Any
    RobotCollisionCheckerCfg: Any
    JointState: Any
    GoalToolPose: Any
    ToolPoseCriteria: Any
    Mesh: Any
    SceneCollisionCfg: Any
    SeedIKSolver: Any
    SeedIKSolverCfg: Any


def load() -> Cuda:
    """Import torch and cuRobo.

    Returns:
        Their modules and classes.

    Raises:
        EngineLost: An import fails, or torch finds no CUDA device; the text says which.
    """
    os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:False")
    try:
        import torch
        import warp
    except ImportError as error:
        raise EngineLost(f"torch or warp cannot be imported: {error}") from error
    if not torch.cuda.is_available():
        raise EngineLost(
            f"torch {torch.__version__} (CUDA {torch.version.cuda}) sees no CUDA device; update the driver "
            "or install the torch built for it"
        )
    warp.config.quiet = True
    try:
        return _classes(torch, warp)
    except ImportError as error:
        raise EngineLost(f"cuRobo cannot be imported: {error}; see docs/how-to/gpu.md") from error


def _classes(torch: Any, warp: Any) -> Cuda:  # noqa: ANN401 - modules
    from curobo._src.collision.collision_robot_scene import RobotSceneCollision
    from curobo._src.collision.collision_robot_scene_cfg import RobotSceneCollisionCfg
    from curobo._src.geom.collision.collision_scene import SceneCollisionCfg, create_scene_collision
    from curobo._src.graph_planner.graph_planner_prm import PRMGraphPlanner
    from curobo._src.solver.seed_ik.seed_ik_solver import SeedIKSolver
    from curobo._src.solver.seed_ik.seed_ik_solver_cfg import SeedIKSolverCfg
    from curobo._src.types.robot import RobotCfg
    from curobo.motion_planner import MotionPlanner, MotionPlannerCfg
    from curobo.scene import Mesh
    from curobo.trajectory_optimizer import TrajectoryOptimizer
    from curobo.types import DeviceCfg, GoalToolPose, JointState, ToolPoseCriteria

    from .kernel_store import keep_kernels

    logging.getLogger("curobo").setLevel(logging.ERROR)
    keep_kernels(cache_dir())
    return Cuda(
        torch,
        warp,
        DeviceCfg(),
        RobotCfg,
        MotionPlanner,
        MotionPlannerCfg,
        TrajectoryOptimizer,
        PRMGraphPlanner,
        create_scene_collision,
        RobotSceneCollision,
        RobotSceneCollisionCfg,
        JointState,
        GoalToolPose,
        ToolPoseCriteria,
        Mesh,
        SceneCollisionCfg,
        SeedIKSolver,
        SeedIKSolverCfg,
    )


def cache_dir() -> Path:
    """Return the folder of compiled kernels; without any writable folder, a temporary one for this process."""
    root = cache_folder(os.environ)
    return Path(tempfile.mkdtemp(prefix="handiwork-")) / "curobo" if root is None else root / "curobo"


@contextmanager
def guarded(what: str) -> Iterator[None]:
    """Turn errors of CUDA into EngineLost with the cause as text; other errors pass.

    Torch and warp raise RuntimeErrors, cuda-core a CUDAError that is none, and cuRobo ValueErrors around both.

    Args:
        what: The work that is done in the context, such as "writing a scene", for the error text.

    Raises:
        EngineLost: CUDA failed.
    """
    try:
        yield
    except EngineLost:
        raise
    except Exception as error:
        cause = cause_of(error)
        if cause is None:
            raise
        text, is_fatal = cause
        raise EngineLost(f"{text} while {what}", is_fatal=is_fatal) from error


def cause_of(error: Exception) -> tuple[str, bool] | None:
    """Return the text for a CUDA error.

    Args:
        error: The exception that was raised.

    Returns:
        The text, and whether the process has lost the device; None for errors that are not from CUDA.
    """
    kinds = {kind.__name__ for kind in type(error).__mro__}
    text = " ".join(str(error).split()) or type(error).__name__
    if "OutOfMemoryError" in kinds or "out of memory" in text.lower() or "ERROR_OUT_OF_MEMORY" in text:
        return f"the GPU is out of memory ({text[:SHOWN]})", False
    if not kinds & CUDA_KINDS and not any(sign in text for sign in CUDA_SIGNS):
        return None
    return f"CUDA failed ({text[:SHOWN]})", any(word.lower() in text.lower() for word in BROKEN)
