"""cuRobo's kinematics for many configurations at once: which of them are free, and inverse kinematics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array
from planner_node.engines.curobo.device.cuda import Cuda, guarded
from planner_node.engines.curobo.model.buffers import BufferSizes, SphereBuffer, WorldBuffer
from planner_node.engines.curobo.model.scene_rows import Rows

STARTS = 8
"""Starts of inverse kinematics for each pose."""
MOST_STARTS = 64_000
"""The largest number of poses times starts in one call: at 128,000 cuRobo reads memory that is not its own."""
POSES = MOST_STARTS // STARTS
"""Poses in one call; the recorded graphs have this size, and fewer take as long."""
AT_ONCE = 32_768
"""Configurations in one check; the buffers have this size."""
ITERATIONS = 16
REACHED_M, REACHED_RAD = 0.005, 0.05
"""Errors below which the CPU's inverse kinematics finishes a solution in a few steps."""
TOGETHER = 1 << 20
"""Configurations that are sent to the GPU together; the results of all of them come back in one copy."""
Flags = NDArray[np.bool_]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Solutions:
    """Near solutions of inverse kinematics, best first for each pose.

    Attributes:
        q: Joint positions, (p, STARTS, n), rad or m.
        near: Whether each is near its pose and within limits, (p, STARTS).
        free: Whether it is near and, where that was asked for, touches nothing, (p, STARTS).
        errors: Errors, (p, STARTS, 2), m and rad.
    """

    q: Floats
    near: Flags
    free: Flags
    errors: Floats


class ConfigurationSolvers:
    """Checks and inverse kinematics of one arm, with one set of spheres and one world; for one thread at a time.

    A configuration is checked with the bounding spheres first, and with the spheres themselves only when these touch.

    Args:
        cuda: The loaded libraries.
        config: cuRobo's configuration of the robot.
        bounds: The same of the robot with few spheres that contain the others.
        joint_names: Order of the joints in all arrays.
        room: Places for obstacles.
    """

    def __init__(
        self,
        cuda: Cuda,
        config: dict[str, Any],
        bounds: dict[str, Any],
        joint_names: Sequence[str],
        room: BufferSizes,
    ) -> None:
        self._cuda, self._names, self.room = cuda, list(joint_names), room
        with guarded("building its checks of configurations"):
            self._robot = cuda.RobotCfg.create(config, cuda.device)
            self._scene = cuda.create_scene_collision(
                cuda.SceneCollisionCfg(device_cfg=cuda.device, scene_model=None, cache=room.cache)
            )
            self._checker = self._opened(self._robot)
            self._bounds = self._opened(cuda.RobotCfg.create(bounds, cuda.device))
        self._ik: Any = None
        self._order = [self._names.index(name) for name in self._checker.kinematics.joint_names]
        self._spheres = SphereBuffer(cuda, self._checker.kinematics.config.kinematics_config)
        self._bounding = SphereBuffer(cuda, self._bounds.kinematics.config.kinematics_config)
        self._world = WorldBuffer(cuda, self._scene.data)

    def update(self, spheres: Mapping[str, Array], bounds: Mapping[str, Array], rows: Rows) -> None:
        """Write the arm's spheres and the world.

        Args:
            spheres: Link -> centres and radii in the link's frame, (s, 4), m.
            bounds: The same of the spheres that contain them.
            rows: The obstacles; there must be ``room`` for them.
        """
        with guarded("writing the scene"):
            self._spheres.write(spheres)
            self._bounding.write(bounds)
            self._world.write(rows)

    def free(self, q: Array) -> Flags:
        """Check configurations with the spheres and the world that were written.

        Args:
            q: Joint positions, (m, n), rad or m.

        Returns:
            Whether nothing touches, (m,).
        """
        found = np.zeros(len(q), dtype=bool)
        with guarded("checking configurations"):
            for first in range(0, len(q), TOGETHER):
                some = self._tensor(q[first : first + TOGETHER].astype(np.float32))[:, self._order]
                found[first : first + TOGETHER] = (~self._touching(some)).cpu().numpy()
        return found

    def tool_poses(self, q: Array) -> Array:
        """Return the poses of the tool in the base frame, (m, 7): x, y, z in m and wxyz.

        Args:
            q: Joint positions, (m, n), rad or m.
        """
        with guarded("computing tool poses"):
            tools = self._checker.get_kinematics(self._tensor(q[:, self._order])[:, None]).tool_poses
            rows = [tools.position.reshape(-1, 3), tools.quaternion.reshape(-1, 4)]
            return np.asarray(self._cuda.torch.cat(rows, dim=1).double().cpu().numpy())

    def solve(self, base_T_ee: Array, starts: Array, *, is_free: bool) -> Solutions:
        """Solve inverse kinematics by Levenberg-Marquardt from each start.

        Args:
            base_T_ee: Poses, (p, 7): x, y, z in m and wxyz; at least one, at most POSES.
            starts: Joint positions, the same for all poses, (STARTS, n), rad or m.
            is_free: Whether near solutions are checked for collision.

        Returns:
            The solutions.

        Raises:
            ValueError: There are more than POSES poses, or the starts have another shape.
        """
        count, dof = len(base_T_ee), len(self._names)
        if count > POSES or starts.shape != (STARTS, dof):
            raise ValueError(
                f"{count} poses and starts {starts.shape}; give at most {POSES} poses and {STARTS} starts of {dof}"
            )
        rows = np.minimum(np.arange(POSES), count - 1)
        with guarded("solving inverse kinematics"):
            solver = self._solver()
            goal = self._tensor(base_T_ee.astype(np.float32)[rows])[:, None, None, None]
            found = solver.solve_batch(
                self._cuda.GoalToolPose(
                    tool_frames=list(solver.tool_frames),
                    position=goal[..., :3].contiguous(),
                    quaternion=goal[..., 3:].contiguous(),
                ),
                seed_config=self._tensor(starts[:, self._order]).repeat(POSES, 1, 1),
                return_seeds=STARTS,
            )
            q = found.js_solution.position.view(POSES, STARTS, dof)[:count]
            near = found.success.view(POSES, STARTS)[:count].bool()
            free = near.clone()
            if is_free:
                free[near] = ~self._touching(q[near])
            errors = self._cuda.torch.stack([found.position_error, found.rotation_error], dim=-1)
            back = np.argsort(self._order)
            return Solutions(
                q.cpu().numpy()[..., back],
                near.cpu().numpy(),
                free.cpu().numpy(),
                errors.view(POSES, STARTS, 2)[:count].cpu().numpy(),
            )

    def close(self) -> None:
        """Free CUDA graphs and memory."""
        if self._ik is not None:
            self._ik.destroy()
        self._cuda.torch.cuda.empty_cache()

    def _solver(self) -> Any:  # noqa: ANN401
        if self._ik is None:
            self._ik = self._cuda.SeedIKSolver(
                self._cuda.SeedIKSolverCfg.create(
                    robot=self._robot,
                    device_cfg=self._cuda.device,
                    num_seeds=STARTS,
                    max_iterations=ITERATIONS,
                    inner_iterations=ITERATIONS,
                    lambda_initial=1.0,
                    rho_min=1.0e-5,
                    tile_threads=64,
                    position_tolerance=REACHED_M,
                    orientation_tolerance=REACHED_RAD,
                )
            )
        return self._ik

    def _opened(self, robot: Any) -> Any:  # noqa: ANN401
        made = self._cuda.RobotCollisionCheckerCfg.load_from_config(
            robot_config=robot, scene_collision_checker=self._scene, collision_activation_distance=0.0
        )
        return self._cuda.RobotCollisionChecker(made)

    def _touching(self, q: Any) -> Any:  # noqa: ANN401
        """Check configurations that are on the GPU, (m, n) in cuRobo's order of joints; return flags there, (m,)."""
        touches = self._hits(self._bounds, q)
        near = touches.nonzero()[:, 0]
        touches[near] = self._hits(self._checker, q[near])
        return touches

    def _hits(self, checker: Any, q: Any) -> Any:  # noqa: ANN401
        torch, count = self._cuda.torch, len(q)
        touches = torch.zeros(count, dtype=torch.bool, device=q.device)
        for first in range(0, count, AT_ONCE):
            some = q[first : first + AT_ONCE]
            # Buffers have one of two sizes: a smaller number of configurations is filled up.
            size = AT_ONCE if len(some) > AT_ONCE // 8 else AT_ONCE // 8
            full = torch.cat([some, some[:1].expand(size - len(some), -1)]) if len(some) < size else some
            world, own = checker.get_scene_self_collision_distance_from_joints(full[:, None])
            hit = (world.reshape(size, -1).amax(dim=1) > 0.0) | (own.reshape(size, -1).amax(dim=1) > 0.0)
            touches[first : first + AT_ONCE] = hit[: len(some)]
        return touches

    def _tensor(self, values: Array) -> Any:  # noqa: ANN401
        return self._cuda.device.to_device(np.ascontiguousarray(values))
