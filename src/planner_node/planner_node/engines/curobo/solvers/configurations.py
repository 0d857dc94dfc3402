"""cuRobo's kinematics for many configurations at once: which of them are free, and inverse kinematics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
Flags = NDArray[np.bool_]


class ConfigurationSolvers:
    """Checks and inverse kinematics of one arm, with one set of spheres and one world; for one thread at a time.

    Args:
        cuda: The loaded libraries.
        config: cuRobo's configuration of the robot.
        joint_names: Order of the joints in all arrays.
        room: Places for obstacles.
    """

    def __init__(
        self, cuda: Cuda, config: dict[str, Any], joint_names: Sequence[str], room: BufferSizes
    ) -> None:
        self._cuda, self._names, self.room = cuda, list(joint_names), room
        with guarded("building its checks of configurations"):
            self._robot = cuda.RobotCfg.create(config, cuda.device)
            cache = {"cuboid": room.boxes, "mesh": room.solids}
            self._scene = cuda.create_scene_collision(
                cuda.SceneCollisionCfg(device_cfg=cuda.device, scene_model=None, cache=cache)
            )
            made = cuda.RobotCollisionCheckerCfg.load_from_config(
                robot_config=self._robot,
                scene_collision_checker=self._scene,
                collision_activation_distance=0.0,
            )
            self._checker = cuda.RobotCollisionChecker(made)
        self._ik: Any = None
        self._order = [self._names.index(name) for name in self._checker.kinematics.joint_names]
        self._spheres = SphereBuffer(cuda, self._checker.kinematics.config.kinematics_config)
        self._world = WorldBuffer(cuda, self._scene.data)

    def update(self, spheres: Mapping[str, Array], rows: Rows) -> None:
        """Write the arm's spheres and the world.

        Args:
            spheres: Link -> centres and radii in the link's frame, (s, 4), m.
            rows: The obstacles; there must be ``room`` for them.
        """
        with guarded("writing the scene"):
            self._spheres.write(spheres)
            self._world.write(rows)

    def free(self, q: Array) -> Flags:
        """Check configurations with the spheres and the world that were written.

        Args:
            q: Joint positions, (m, n), rad or m.

        Returns:
            Whether nothing touches, (m,).
        """
        with guarded("checking configurations"):
            parts = [self._touching(q[i : i + AT_ONCE]) for i in range(0, len(q), AT_ONCE)]
        return ~np.concatenate(parts) if parts else np.zeros(0, dtype=bool)

    def tool_poses(self, q: Array) -> Array:
        """Return the poses of the tool in the base frame, (m, 7): x, y, z in m and wxyz.

        Args:
            q: Joint positions, (m, n), rad or m.
        """
        with guarded("computing tool poses"):
            tools = self._checker.get_kinematics(self._tensor(q[:, self._order])[:, None]).tool_poses
            rows = [tools.position.reshape(-1, 3), tools.quaternion.reshape(-1, 4)]
            return np.asarray(self._cuda.torch.cat(rows, dim=1).double().cpu().numpy())

    def solve(self, base_T_ee: Array, starts: Array) -> tuple[Array, Flags, Array]:
        """Solve inverse kinematics by Levenberg-Marquardt from each start, without regard to collision.

        Args:
            base_T_ee: Poses, (p, 7): x, y, z in m and wxyz; at most POSES.
            starts: Joint positions, (p, STARTS, n), rad or m.

        Returns:
            Joint positions (p, STARTS, n), whether each is near its pose and within limits (p, STARTS), and their
            errors (p, STARTS, 2), m and rad.

        Raises:
            ValueError: There are more than POSES poses, or the starts have another shape.
        """
        count = len(base_T_ee)
        if count > POSES or starts.shape != (count, STARTS, len(self._names)):
            raise ValueError(
                f"{count} poses and starts {starts.shape}; give at most {POSES} and {STARTS} each"
            )
        rows = np.minimum(np.arange(POSES), count - 1)
        with guarded("solving inverse kinematics"):
            solver = self._solver()
            goal = self._tensor(base_T_ee[rows])[:, None, None, None]
            found = solver.solve_batch(
                self._cuda.GoalToolPose(
                    tool_frames=list(solver.tool_frames),
                    position=goal[..., :3].contiguous(),
                    quaternion=goal[..., 3:].contiguous(),
                ),
                seed_config=self._tensor(starts[rows][..., self._order]),
                return_seeds=STARTS,
            )
            back = np.argsort(self._order)
            q = found.js_solution.position.view(POSES, STARTS, -1)[:count].double().cpu().numpy()[..., back]
            good = found.success.view(POSES, STARTS)[:count].cpu().numpy().astype(bool)
            errors = self._cuda.torch.stack([found.position_error, found.rotation_error], dim=-1)
            return q, good, errors.view(POSES, STARTS, 2)[:count].double().cpu().numpy()

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

    def _touching(self, q: Array) -> Flags:
        """Check at most AT_ONCE configurations; a smaller number is filled up so that buffers keep their size."""
        count = len(q)
        size = AT_ONCE if count > AT_ONCE // 8 else AT_ONCE // 8
        rows = q[np.minimum(np.arange(size), count - 1)][:, self._order]
        world, own = self._checker.get_scene_self_collision_distance_from_joints(self._tensor(rows)[:, None])
        touches = (world.reshape(size, -1).max(dim=1)[0] > 0.0) | (own.reshape(size, -1).max(dim=1)[0] > 0.0)
        return np.asarray(touches[:count].cpu().numpy().astype(bool))

    def _tensor(self, values: Array) -> Any:  # noqa: ANN401
        return self._cuda.device.to_device(np.ascontiguousarray(values))
