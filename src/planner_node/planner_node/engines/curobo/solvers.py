"""cuRobo's solvers for one arm, with arrays in and arrays out. Everything on the GPU is behind this class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handiwork_core.geometry import Array
from handiwork_core.planning import Report

from .buffers import BOXES, SOLIDS, SphereBuffer, WorldBuffer
from .cuda import Cuda, guarded
from .looking import look
from .scene_rows import Rows

SEEDS = 4
"""Trajectories that are optimised side by side."""
IK_SEEDS = 32
GOALS = 128
"""Poses of one goal set; larger sets are cut to the most promising."""
BATCH = 128
"""Poses of one batch of inverse kinematics; the last one is filled up."""
REACHED_M, REACHED_RAD = 0.001, 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Inverse kinematics: ``q`` (k, n) that are free, ``goal`` (k,) the pose of each, best first."""

    q: Array
    goal: NDArray[np.int64]


class Solvers:
    """One thread at a time. Shapes on the GPU never change, so that recorded CUDA graphs stay valid."""

    def __init__(
        self, cuda: Cuda, config: dict[str, Any], joint_names: Sequence[str], report: Report
    ) -> None:
        self._cuda, self._torch, self._names = cuda, cuda.torch, list(joint_names)
        with guarded("building its solvers"):
            report(0.1, "cuRobo: robot")
            self._robot = cuda.RobotCfg.create(config, cuda.device)
            report(0.15, "cuRobo: motion planner")
            self.planner = cuda.MotionPlanner(
                cuda.MotionPlannerCfg.create(
                    robot=self._robot,
                    collision_cache={"cuboid": BOXES, "mesh": SOLIDS},
                    num_ik_seeds=IK_SEEDS,
                    num_trajopt_seeds=SEEDS,
                    position_tolerance=REACHED_M,
                    orientation_tolerance=REACHED_RAD,
                )
            )
            self._scene = self.planner.scene_collision_checker
            report(0.25, "cuRobo: inverse kinematics")
            self._set_ik = self._ik(max_goalset=GOALS)
            self._batch_ik = self._ik(max_batch_size=BATCH)
            self._frame = self.planner.tool_frames[0]
            self._spheres = SphereBuffer(cuda, self.planner.kinematics.config.kinematics_config)
            self._world = WorldBuffer(cuda, self._scene.data)
            self._has_fresh_map = False

    def _ik(self, **sizes: int) -> Any:  # noqa: ANN401
        configured = self._cuda.InverseKinematicsCfg.create(
            robot=self._robot,
            optimizer_configs=["ik/lbfgs_ik.yml"],
            num_seeds=IK_SEEDS,
            position_tolerance=REACHED_M,
            orientation_tolerance=REACHED_RAD,
            **sizes,
        )
        return self._cuda.InverseKinematics(configured, self._scene)

    @property
    def knots(self) -> int:
        """Control points of a seed trajectory."""
        return int(self.planner.trajopt_solver.action_horizon)

    def update(self, spheres: Mapping[str, Array], rows: Rows) -> None:
        """Bring the arm's spheres, in link frames, and the world up to date.

        Raises:
            ValueError: the world has more solids than there is room for.
        """
        with guarded("writing the scene"):
            self._spheres.write(spheres)
            self._world.write(rows)

    def reset_seed(self) -> None:
        """Equal questions get equal random numbers.

        cuRobo's own ``reset_seed`` makes its tables anew, for 0.4 s; going back to their beginning does the same.
        """
        for solver in (self._set_ik, self._batch_ik):
            for samples in (
                solver.seed_ik_solver.act_sample_gen,
                solver.core.seed_manager.action_sample_generator,
            ):
                samples._int_gen.set_state(samples._generator_initial_state)
        self._has_fresh_map = False

    def reach_any(self, base_T_ee: Array, start: Array, most: int) -> Found:
        """Free configurations for any of up to GOALS poses (g, 7) (x, y, z, wxyz); at most ``most``."""
        with guarded("solving inverse kinematics"):
            result = self._set_ik.solve_pose(
                self._goal(base_T_ee[None]), current_state=self._state(start), return_seeds=most
            )
            good = result.success.view(-1).cpu().numpy().astype(bool)
            q = result.solution.view(len(good), -1).double().cpu().numpy()
            goal = result.goalset_index.view(len(good), -1)[:, 0].cpu().numpy().astype(np.int64)
        return Found(q[good], np.clip(goal[good], 0, len(base_T_ee) - 1))

    def reach_each(self, base_T_ee: Array, start: Array) -> tuple[Array, NDArray[np.bool_]]:
        """One configuration (b, n) for each of up to BATCH poses (b, 7), and whether it reaches and is free (b,)."""
        count, full = len(base_T_ee), np.repeat(base_T_ee[:1], BATCH, axis=0)
        full[:count] = base_T_ee
        with guarded("solving inverse kinematics"):
            starts = self._state(np.repeat(start[None], BATCH, axis=0))
            result = self._batch_ik.solve_pose(self._goal(full[:, None]), current_state=starts)
            good = result.success.view(-1).cpu().numpy().astype(bool)
            q = result.solution.view(BATCH, -1).double().cpu().numpy()
        return q[:count], good[:count]

    def optimise(
        self, start: Array, ends: Array, base_T_ee: Array, seeds: Array | None, patience: int
    ) -> list[Array]:
        """Trajectories from ``start`` (n,) to ``ends`` (SEEDS, n), all at the pose (7,), best first.

        Each is (m, n): the cubic spline's values at its knots, evenly spaced in time. ``seeds`` (s, knots, n).
        """
        with guarded("optimising trajectories"):
            solver = self.planner.trajopt_solver
            result = solver.solve_pose(
                self._goal(base_T_ee[None, None]),
                self._state(start),
                seed_config=self._tensor(ends)[None],
                seed_traj=None if seeds is None else self._tensor(seeds)[None],
                return_seeds=SEEDS,
                use_implicit_goal=True,
                finetune_attempts=patience,
                finetune_dt_scale=0.55 if patience == 1 else 0.75,
            )
            good = result.success.view(-1).cpu().numpy().astype(bool)
            moved = result.js_solution
            columns = [list(moved.joint_names).index(name) for name in self._names]
            points = moved.position.view(len(good), -1, moved.position.shape[-1])[
                :, :: solver.interpolation_steps
            ]
            points = points.double().cpu().numpy()[..., columns]
        return [points[i] for i in np.flatnonzero(good)]

    def graph_seeds(self, start: Array, ends: Array) -> Array | None:
        """Paths (s, knots, n) through cuRobo's road map to some of ``ends`` (SEEDS, n); None when there are none."""
        with guarded("searching a road map"):
            if not self._has_fresh_map:
                self.planner.graph_planner.reset_buffer()
                self.planner.graph_planner.reset_seed()
                self._has_fresh_map = True
            found = self.planner._get_graph_seed_trajectories(self._state(start), self._tensor(ends)[None])
            return None if found is None else found[0].double().cpu().numpy()

    def update_world(self, rows: Rows) -> None:
        """Bring the world alone up to date, ahead of a request."""
        with guarded("writing the scene"):
            self._world.write(rows)

    def set_path_weights(self, weights: tuple[float, ...]) -> None:
        """Weights of the tool's pose on the way (x, y, z, roll, pitch, yaw), in the base frame."""
        with guarded("setting pose criteria"):
            criteria = self._cuda.ToolPoseCriteria(non_terminal_pose_axes_weight_factor=list(weights))
            self.planner.trajopt_solver.update_tool_pose_criteria({self._frame: criteria})

    def warm_up(self, start: Array, base_T_ee: Array, report: Report) -> None:
        """Compile and record everything once; the largest shapes first, as smaller ones are filled up to them."""
        ends = np.repeat(start[None] + 0.05, SEEDS, axis=0)
        many = np.repeat(base_T_ee[None], GOALS, axis=0)
        steps: tuple[tuple[str, Callable[[], object]], ...] = (
            ("goal sets", lambda: self.reach_any(many, start, SEEDS)),
            ("batches", lambda: self.reach_each(many[:BATCH], start)),
            ("trajectories", lambda: self.optimise(start, ends, base_T_ee, None, 1)),
            ("road map", lambda: self.planner.graph_planner.warmup(num_warmup_iterations=4)),
            ("second round", lambda: self.optimise(start, ends, base_T_ee, None, 3)),
        )
        for i, (name, step) in enumerate(steps):
            report(0.3 + 0.14 * i, f"cuRobo: kernels for {name}")
            step()
        self.reset_seed()

    def look(self, q: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Tool poses (m, 7) at ``q`` (m, n), and whether cuRobo's spheres touch there (m,); see ``looking.py``."""
        with guarded("judging configurations"):
            return look(self._cuda, self._robot, self._scene, q)

    def memory_bytes(self) -> int:
        """What is taken of the GPU, other processes included."""
        free, total = self._torch.cuda.mem_get_info()
        return int(total - free)

    def close(self) -> None:
        """Give graphs and memory back."""
        self.planner.destroy()
        self._set_ik.destroy()
        self._batch_ik.destroy()
        self._torch.cuda.empty_cache()

    def _tensor(self, values: Array) -> Any:  # noqa: ANN401
        return self._cuda.device.to_device(np.ascontiguousarray(values))

    def _state(self, q: Array) -> Any:  # noqa: ANN401
        return self._cuda.JointState.from_position(self._tensor(np.atleast_2d(q)), joint_names=self._names)

    def _goal(self, poses: Array) -> Any:  # noqa: ANN401
        """From (b, g, 7) to cuRobo's (b, horizon 1, link 1, g, 3 and 4)."""
        rows = self._tensor(poses)[:, None, None]
        return self._cuda.GoalToolPose(
            tool_frames=[self._frame],
            position=rows[..., :3].contiguous(),
            quaternion=rows[..., 3:].contiguous(),
        )
