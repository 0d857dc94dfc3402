"""cuRobo's trajectory optimiser for several problems at once, or for several arms in one: arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from handiwork_core.model.geometry import Array
from planner_node.engines.curobo.device.cuda import Cuda, guarded
from planner_node.engines.curobo.model.buffers import BufferSizes
from planner_node.engines.curobo.model.lane_buffers import LaneScene, LaneSpheres, LaneWorlds

from .single_solvers import (
    ITERATIONS,
    MOMENTS,
    REACHED_M,
    REACHED_RAD,
    USUAL_SAMPLES,
    dt_scale,
    spline_settings,
)

MOST_THREADS = 2**31 - 1
"""The largest number of threads of a launch by warp, whose kernels count them in 32 bits."""


def has_threads(lanes: int, seeds: int, spheres: int, room: BufferSizes) -> bool:
    """Check whether one launch has enough threads. cuRobo takes one for each sphere and obstacle place.

    Args:
        lanes: Number of problems.
        seeds: Trajectories of each problem.
        spheres: Spheres of the robot, those for held objects included.
        room: Places for obstacles.
    """
    return lanes * seeds * MOMENTS * spheres * max(room.boxes, room.solids) <= MOST_THREADS


class WideSolvers:
    """Solvers for a batch; one thread at a time may use them. Every lane has one problem's spheres and world.

    Shapes on the GPU never change: a batch with fewer problems than lanes takes as long as a full one.

    Args:
        cuda: The loaded libraries.
        config: cuRobo's configuration of the robot.
        joint_names: Order of the joints in all arrays.
        frames: Names of the tool links whose poses are goals.
        room: Places for obstacles.
        lanes: Number of problems at a time.
        seeds: Trajectories that are optimised for each problem.
        iterations: Iterations of a first pass, a multiple of 25.
        samples: Moments of each piece of the spline at which costs are evaluated; fewer are faster.
    """

    def __init__(
        self,
        cuda: Cuda,
        config: dict[str, Any],
        joint_names: Sequence[str],
        frames: Sequence[str],
        room: BufferSizes,
        lanes: int,
        seeds: int,
        iterations: int = ITERATIONS,
        samples: int = USUAL_SAMPLES,
    ) -> None:
        self._cuda, self._names, self._frames = cuda, list(joint_names), list(frames)
        self.room, self.lanes, self._seeds, self._iterations = room, lanes, seeds, iterations
        with guarded("building its solvers"):
            robot = cuda.RobotCfg.create(config, cuda.device, num_envs=lanes)
            made = cuda.MotionPlannerCfg.create(
                robot=robot,
                trajopt_transition_model=spline_settings(samples),
                collision_cache=room.cache,
                num_trajopt_seeds=seeds,
                position_tolerance=REACHED_M,
                orientation_tolerance=REACHED_RAD,
                max_batch_size=lanes,
                multi_env=lanes > 1,
            )
            of_paths = made.trajopt_solver_config
            of_paths.interpolation_buffer_size = MOMENTS
            of_paths.minimum_trajectory_dt *= USUAL_SAMPLES / samples
            of_paths.maximum_trajectory_dt *= USUAL_SAMPLES / samples
            made.scene_collision_cfg.num_envs = lanes
            scene = cuda.create_scene_collision(made.scene_collision_cfg)
            self._optimiser = cuda.TrajectoryOptimizer(made.trajopt_solver_config, scene)
            if lanes > 1:
                _interpolate_in_lanes(self._optimiser)
        self._theirs = list(self._optimiser.joint_names)
        self._order = [self._names.index(name) for name in self._theirs]
        params = self._optimiser.kinematics.config.kinematics_config
        self._spheres, self._worlds = LaneSpheres(cuda, params), LaneWorlds(cuda, scene.data)

    @property
    def knots(self) -> int:
        """Control points of a seed trajectory."""
        return int(self._optimiser.action_horizon)

    def update(self, scenes: Sequence[LaneScene]) -> None:
        """Write the spheres and the worlds of some lanes.

        Args:
            scenes: What the lanes are given; there must be ``room`` for their obstacles.
        """
        with guarded("writing scenes"):
            self._spheres.write(scenes)
            self._worlds.write(scenes)

    def free_paths(self) -> None:
        """Let the tools move freely on their paths: cuRobo then constrains their poses at the goals only."""
        with guarded("setting pose criteria"):
            free = self._cuda.ToolPoseCriteria(non_terminal_pose_axes_weight_factor=[0.0] * 6)
            self._optimiser.update_tool_pose_criteria(dict.fromkeys(self._frames, free))

    def optimise(
        self,
        lanes: Sequence[int],
        starts: Array,
        ends: Array,
        base_T_ee: Array,
        seeds: Array | None,
        finetunes: int,
    ) -> list[list[Array]]:
        """Optimise trajectories of several problems.

        Args:
            lanes: Lane of each problem, (b,).
            starts: Joint positions at the starts, (b, n), rad or m.
            ends: Joint positions at the ends, (b, seeds, n), rad or m.
            base_T_ee: Poses of the tools at all of a problem's ends, (b, frames, 7): x, y, z in m and wxyz.
            seeds: Seed paths, (b, s, knots, n), rad or m; None for straight ones.
            finetunes: Further passes of cuRobo that shorten a trajectory; each takes as long as the first.

        Returns:
            For each problem its trajectories, (m, n) each, rad or m: the cubic spline's values at its knots, evenly
            spaced in time.
        """
        rows = np.zeros(self.lanes, dtype=np.int64)
        rows[list(lanes)] = np.arange(len(starts))
        with guarded("optimising trajectories"):
            result = self._optimiser.solve_pose(
                self._goal(base_T_ee[rows]),
                self._state(starts[rows]),
                seed_config=self._joints(ends[rows]),
                seed_traj=None if seeds is None else self._joints(seeds[rows]),
                return_seeds=self._seeds,
                use_implicit_goal=True,
                finetune_attempts=finetunes,
                finetune_dt_scale=dt_scale(finetunes),
                initial_iters=self._iterations,
            )
            good = result.success.view(self.lanes, -1).cpu().numpy().astype(bool)
            moved = result.js_solution
            columns = [list(moved.joint_names).index(name) for name in self._names]
            points = moved.position.view(*good.shape, -1, moved.position.shape[-1])
            points = points[:, :, :: self._optimiser.interpolation_steps].double().cpu().numpy()[..., columns]
        return [[points[lane, i] for i in np.flatnonzero(good[lane])] for lane in lanes]

    def close(self) -> None:
        """Free CUDA graphs and memory."""
        self._optimiser.destroy()
        self._cuda.torch.cuda.empty_cache()

    def _tensor(self, values: Array) -> Any:  # noqa: ANN401
        return self._cuda.device.to_device(np.ascontiguousarray(values))

    def _joints(self, q: Array) -> Any:  # noqa: ANN401
        """Copy joint values to the GPU with the last axis in cuRobo's order."""
        return self._tensor(q[..., self._order])

    def _state(self, q: Array) -> Any:  # noqa: ANN401
        return self._cuda.JointState.from_position(self._joints(q), joint_names=list(self._theirs))

    def _goal(self, poses: Array) -> Any:  # noqa: ANN401
        """Convert poses (b, frames, 7) to cuRobo's (b, horizon 1, link, goal 1, 3 and 4), in its order of links."""
        order = list(self._optimiser.tool_frames)
        rows = self._tensor(poses[:, [self._frames.index(name) for name in order]])[:, None, :, None]
        return self._cuda.GoalToolPose(
            tool_frames=order,
            position=rows[..., :3].contiguous(),
            quaternion=rows[..., 3:].contiguous(),
        )


def _interpolate_in_lanes(optimiser: Any) -> None:  # noqa: ANN401
    """Make cuRobo judge its interpolated trajectories with each lane's spheres.

    At the measured commit it takes the first lane's for all of them (``TrajOptSolver._interpolate_and_compute_metrics``
    passes no environment), and so refuses free motions or accepts colliding ones.
    """
    model = optimiser.additional_metrics_rollouts["interpolated_rollout"].transition_model
    plain = model.compute_augmented_state

    def in_lanes(states: Any, idxs_env: Any = None) -> Any:  # noqa: ANN401
        if idxs_env is None:
            idxs_env = optimiser.core._goal_buffer.idxs_env
        return plain(states, idxs_env=idxs_env)

    model.compute_augmented_state = in_lanes
