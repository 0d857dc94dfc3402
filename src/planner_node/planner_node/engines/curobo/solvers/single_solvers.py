"""cuRobo's solvers for one arm, with arrays in and arrays out. This class contains all that is on the GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from handiwork_core.contracts.planning import Report
from handiwork_core.model.geometry import Array
from planner_node.engines.curobo.device.cuda import Cuda, guarded
from planner_node.engines.curobo.model.buffers import BufferSizes, SphereBuffer, WorldBuffer
from planner_node.engines.curobo.model.scene_rows import Rows

SEEDS = 4
"""The number of trajectories that are optimised at the same time."""
MOMENTS = 1000
"""The length of an interpolated trajectory's buffer. cuRobo evaluates all of it, also unused entries. Its spline of 20
pieces of at most 0.8 s, sampled every 25 ms, takes 661; cuRobo's default is 5000."""
ITERATIONS = 50
"""Iterations of a first pass; cuRobo's default is 100."""
USUAL_SAMPLES = 4
"""Moments of each piece of a spline at which cuRobo evaluates costs by default."""
SAMPLES = 4
"""The same for the engine."""
REACHED_M, REACHED_RAD = 0.001, 0.01
"""Tolerances of goals. Ours are exact, and trajectories end at them: these only exceed the errors of float32."""


def dt_scale(finetunes: int) -> float:
    """Return the share of the last time step at which cuRobo begins each pass.

    Args:
        finetunes: Number of passes after the first.
    """
    return 0.55 if finetunes < 2 else 0.75


def spline_settings(samples: int) -> dict[str, Any]:
    """Return cuRobo's settings of trajectories, of 16 knots, with another number of samples in each piece.

    Args:
        samples: Moments of each piece at which costs are evaluated.
    """
    step_s = 0.6 / samples
    return {
        "transition_model_cfg": {
            "control_space": "BSPLINE_3",
            "dt_traj_params": {"base_dt": step_s, "base_ratio": 1.0, "max_dt": step_s},
            "horizon": 1,
            "interpolation_steps": samples,
            "n_knots": 16,
            "state_filter_cfg": {
                "enable": False,
                "filter_coeff": {"acceleration": 0.0, "position": 1.0, "velocity": 1.0},
            },
            "teleport_mode": False,
            "vel_scale": 1.0,
            "return_full_act_buffer": True,
        }
    }


class Solvers:
    """The solvers of one arm. One thread at a time may use them.

    Shapes on the GPU never change, so that recorded CUDA graphs stay valid.

    Args:
        cuda: The loaded libraries.
        config: cuRobo's configuration of the robot.
        joint_names: Order of the joints in all arrays.
        room: Places for obstacles.
        report: Receives the progress of loading.
    """

    def __init__(
        self,
        cuda: Cuda,
        config: dict[str, Any],
        joint_names: Sequence[str],
        room: BufferSizes,
        report: Report,
    ) -> None:
        self._cuda, self._names, self.room = cuda, list(joint_names), room
        with guarded("building its solvers"):
            report(0.1, "cuRobo: robot")
            self.robot = cuda.RobotCfg.create(config, cuda.device)
            made = cuda.MotionPlannerCfg.create(
                robot=self.robot,
                trajopt_transition_model=spline_settings(SAMPLES),
                collision_cache=room.cache,
                num_trajopt_seeds=SEEDS,
                position_tolerance=REACHED_M,
                orientation_tolerance=REACHED_RAD,
            )
            of_paths = made.trajopt_solver_config
            of_paths.interpolation_buffer_size = MOMENTS
            of_paths.minimum_trajectory_dt *= USUAL_SAMPLES / SAMPLES
            of_paths.maximum_trajectory_dt *= USUAL_SAMPLES / SAMPLES
            report(0.2, "cuRobo: solvers")
            self.scene = cuda.create_scene_collision(made.scene_collision_cfg)
            self._optimiser = cuda.TrajectoryOptimizer(made.trajopt_solver_config, self.scene)
            self._graph = cuda.PRMGraphPlanner(made.graph_planner_config, self.scene)
        self._frame = self._optimiser.tool_frames[0]
        self._spheres = SphereBuffer(cuda, self._optimiser.kinematics.config.kinematics_config)
        self._world = WorldBuffer(cuda, self.scene.data)
        self._path_weights: tuple[float, ...] | None = None
        self._has_fresh_map = False

    @property
    def knots(self) -> int:
        """Control points of a seed trajectory."""
        return int(self._optimiser.action_horizon)

    def update(self, spheres: Mapping[str, Array], rows: Rows) -> None:
        """Write the arm's spheres and the world.

        Args:
            spheres: Link -> centres and radii in the link's frame, (s, 4), m.
            rows: The obstacles; there must be ``room`` for them.
        """
        with guarded("writing the scene"):
            self._spheres.write(spheres)
            self._world.write(rows)

    def begin(self) -> None:
        """Discard the road map of the former request: its world was another, and equal requests get equal answers."""
        self._has_fresh_map = False

    def optimise(
        self, start: Array, ends: Array, base_T_ee: Array, seeds: Array | None, finetunes: int
    ) -> list[Array]:
        """Optimise trajectories to one tool pose.

        Args:
            start: Joint positions at the start, (n,), rad or m.
            ends: Joint positions at the ends, all at the tool pose, (SEEDS, n), rad or m.
            base_T_ee: The tool pose, (7,): x, y, z in m and wxyz.
            seeds: Seed paths, (s, knots, n), rad or m; None for straight ones.
            finetunes: Further passes of cuRobo that shorten a trajectory; each takes as long as the first.

        Returns:
            Trajectories, best first, (m, n) each, rad or m: the cubic spline's values at its knots, evenly spaced in
            time.
        """
        with guarded("optimising trajectories"):
            result = self._optimiser.solve_pose(
                self._goal(base_T_ee[None, None]),
                self._state(start),
                seed_config=self._tensor(ends)[None],
                seed_traj=None if seeds is None else self._tensor(seeds)[None],
                return_seeds=SEEDS,
                use_implicit_goal=True,
                finetune_attempts=finetunes,
                finetune_dt_scale=dt_scale(finetunes),
                initial_iters=ITERATIONS,
            )
            good = result.success.view(-1).cpu().numpy().astype(bool)
            moved = result.js_solution
            columns = [list(moved.joint_names).index(name) for name in self._names]
            points = moved.position.view(len(good), -1, moved.position.shape[-1])[
                :, :: self._optimiser.interpolation_steps
            ]
            points = points.double().cpu().numpy()[..., columns]
        return [points[i] for i in np.flatnonzero(good)]

    def graph_seeds(self, start: Array, ends: Array) -> Array | None:
        """Find paths through cuRobo's road map.

        Args:
            start: Joint positions at the start, (n,), rad or m.
            ends: Joint positions at the ends, (SEEDS, n), rad or m.

        Returns:
            Paths to some of the ends, (s, knots, n), rad or m; None when there are none.
        """
        with guarded("searching a road map"):
            if not self._has_fresh_map:
                self._graph.reset_buffer()
                self._graph.reset_seed()
                self._has_fresh_map = True
            found = self._graph.find_path(
                self._tensor(np.repeat(start[None], len(ends), axis=0)),
                self._tensor(ends),
                interpolation_steps=self.knots,
                validate_interpolated_trajectory=False,
            )
            good = found.success.view(-1).cpu().numpy().astype(bool)
            if not good.any():
                return None
            return np.asarray(found.interpolated_waypoints.double().cpu().numpy()[good])

    def update_world(self, rows: Rows) -> None:
        """Write the world alone, ahead of a request.

        Args:
            rows: The obstacles; there must be ``room`` for them.
        """
        with guarded("writing the scene"):
            self._world.write(rows)

    def set_path_weights(self, weights: tuple[float, ...]) -> None:
        """Set the weights of the tool's pose on the path.

        Args:
            weights: Weights of x, y, z, roll, pitch and yaw in the base frame.
        """
        if weights == self._path_weights:
            return
        with guarded("setting pose criteria"):
            criteria = self._cuda.ToolPoseCriteria(non_terminal_pose_axes_weight_factor=list(weights))
            self._optimiser.update_tool_pose_criteria({self._frame: criteria})
        self._path_weights = weights

    def warm_up(self, start: Array, base_T_ee: Array, report: Report) -> None:
        """Compile and record all kernels once.

        Args:
            start: A free configuration, (n,), rad or m.
            base_T_ee: The tool pose there, (7,): x, y, z in m and wxyz.
            report: Receives the progress.
        """
        ends = np.repeat(start[None] + 0.05, SEEDS, axis=0)
        steps: tuple[tuple[str, Callable[[], object]], ...] = (
            ("trajectories", lambda: self.optimise(start, ends, base_T_ee, None, 0)),
            ("road maps", lambda: self._graph.warmup(num_warmup_iterations=2)),
            ("finer trajectories", lambda: self.optimise(start, ends, base_T_ee, None, 1)),
        )
        for i, (name, step) in enumerate(steps):
            report(0.3 + 0.23 * i, f"cuRobo: kernels for {name}")
            with guarded("warming up"):
                step()
        self.begin()

    def close(self) -> None:
        """Free CUDA graphs and memory."""
        self._optimiser.destroy()
        self._graph.reset_cuda_graph()
        self._cuda.torch.cuda.empty_cache()

    def _tensor(self, values: Array) -> Any:  # noqa: ANN401
        return self._cuda.device.to_device(np.ascontiguousarray(values))

    def _state(self, q: Array) -> Any:  # noqa: ANN401
        return self._cuda.JointState.from_position(self._tensor(np.atleast_2d(q)), joint_names=self._names)

    def _goal(self, poses: Array) -> Any:  # noqa: ANN401
        """Convert poses (b, g, 7) to cuRobo's (b, horizon 1, link 1, g, 3 and 4)."""
        rows = self._tensor(poses)[:, None, None]
        return self._cuda.GoalToolPose(
            tool_frames=[self._frame],
            position=rows[..., :3].contiguous(),
            quaternion=rows[..., 3:].contiguous(),
        )
