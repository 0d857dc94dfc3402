"""A page that shows a robot: links, collision spheres, frames, and a slider for each joint."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from handiwork_core.model.geometry import Array, Pose, frozen
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.world import Shape, ShapeKind
from handiwork_core.robot.kinematics import joint_position, link_poses
from handiwork_core.robot.reach_map import ReachMap
from handiwork_core.robot.robot import Joint, Robot, Spheres
from handiwork_viz.film.solids import link_solids, solid_of
from handiwork_viz.show.page_guard import PageNotGuarded, guarded_serving
from robot_description.frames.marked_frames import MarkedFrame, marked_frames

if TYPE_CHECKING:
    import viser

WIDEST = 2.0 * np.pi
"""A slider of a turning joint goes no further [rad]."""
AXES_M, AXES_RADIUS_M = 0.06, 0.002
SPHERE_COLOR = (235, 140, 60)
STEPS = 500


class RobotPage:
    """A page of one robot, served until ``close``."""

    def __init__(self, robot: Robot, robot_dir: Path, host: str, port: int) -> None:
        import viser  # here because it is optional

        self._robot = robot
        try:
            with guarded_serving(host):
                self._server = viser.ViserServer(host=host, port=port, label=robot.name, verbose=False)
        except PageNotGuarded:
            self._server.stop()
            raise
        self._server.scene.set_up_direction("+z")
        self._server.scene.add_grid("/ground", cell_size=0.1, section_size=0.5)
        self.links = {link: self._server.scene.add_frame(f"/{link}", show_axes=False) for link in robot.links}
        self.shapes = self._add_shapes(robot_dir)
        self.spheres = {item.link: self._add_spheres(item) for item in robot.spheres}
        self.frames = [part for frame in marked_frames(robot) for part in self._add_frame(frame)]
        self.sliders = self._add_sliders()
        self._add_switch("shapes", list(self.shapes.values()), True)
        self._add_switch("collision spheres", list(self.spheres.values()), False)
        self._add_switch("frames", self.frames, True)
        self.place()

    @property
    def port(self) -> int:
        """The page's HTTP port."""
        return int(self._server.get_port())

    def positions(self) -> dict[str, float]:
        """Return the joint positions of the sliders, rad or m."""
        return {name: float(slider.value) for name, slider in self.sliders.items()}

    def place(self) -> None:
        """Set the pose of every link by the sliders."""
        for link, pose in link_poses(self._robot, self.positions()).items():
            _put(self.links[link], pose)

    def add_reach(self, found: ReachMap) -> None:
        """Show the places of a map as points, from red where few orientations are reached to green where all are.

        Args:
            found: A map of this robot.
        """
        shares = found.shares
        reached = shares > 0.0
        base_T_frame = Pose.from_matrix(found.frame_T_base).inverse()
        share = shares[reached]
        color = np.stack([1.0 - share, share, np.full(len(share), 0.1)], axis=1)
        cloud = self._server.scene.add_point_cloud(
            f"/{self._robot.root_link}/reach",
            base_T_frame.apply(found.centers()[reached]).astype(np.float32),
            (255.0 * color).astype(np.uint8),
            point_size=0.15 * found.cell_m,
            point_shape="circle",
        )
        self._add_switch("reach", [cloud], True)

    def close(self) -> None:
        """End the server."""
        self._server.stop()

    def _add_shapes(self, robot_dir: Path) -> Mapping[str, viser.SceneNodeHandle]:
        made = {}
        for link, solid in link_solids(self._robot, robot_dir).items():
            if len(solid.corners):
                color = tuple(round(255.0 * float(c) ** (1.0 / 2.2)) for c in solid.colors[0])
                made[link] = self._add_mesh(f"/{link}/shapes", solid.corners, color, None)
        return made

    def _add_spheres(self, item: Spheres) -> viser.SceneNodeHandle:
        balls = [
            Shape(ShapeKind.SPHERE, frozen([radius]), Pose.of(center))
            for center, radius in zip(item.centers, item.radii, strict=True)
        ]
        corners = np.concatenate([solid_of(ball, (0.0, 0.0, 0.0), 0.0).corners for ball in balls])
        return self._add_mesh(f"/{item.link}/spheres", corners, SPHERE_COLOR, 0.45)

    def _add_mesh(
        self, name: str, corners: Array, color: tuple[int, ...], opacity: float | None
    ) -> viser.SceneNodeHandle:
        points = corners.reshape(-1, 3).astype(np.float32)
        faces = np.arange(len(points), dtype=np.uint32).reshape(-1, 3)
        return self._server.scene.add_mesh_simple(
            name,
            points,
            faces,
            color=(color[0], color[1], color[2]),
            opacity=opacity,
            flat_shading=True,
            side="double",
        )

    def _add_frame(self, frame: MarkedFrame) -> list[viser.SceneNodeHandle]:
        name = f"/{frame.link}/{frame.arm}_{frame.what}"
        axes = self._server.scene.add_frame(name, axes_length=AXES_M, axes_radius=AXES_RADIUS_M)
        _put(axes, frame.link_T_frame)
        return [axes, self._server.scene.add_label(f"{name}/label", f"{frame.arm} {frame.what}")]

    def _add_sliders(self) -> dict[str, viser.GuiSliderHandle[float]]:
        free = [j for j in self._robot.joints.values() if j.type is not JointKind.FIXED and j.mimic is None]
        made = {}
        with self._server.gui.add_folder("joints"):
            for joint in free:
                low, high = _ends(joint)
                start = float(np.clip(joint_position(self._robot, joint.name, {}), low, high))
                slider = self._server.gui.add_slider(joint.name, low, high, (high - low) / STEPS, start)
                slider.on_update(lambda _event: self.place())
                made[joint.name] = slider
        return made

    def _add_switch(self, what: str, nodes: list[viser.SceneNodeHandle], is_on: bool) -> None:
        box = self._server.gui.add_checkbox(what, is_on)

        def switch() -> None:
            for node in nodes:
                node.visible = box.value

        box.on_update(lambda _event: switch())
        switch()


def _put(node: viser.SceneNodeHandle, pose: Pose) -> None:
    node.wxyz = np.array(pose.rotation.wxyz)
    node.position = np.array(pose.translation_m)


def _ends(joint: Joint) -> tuple[float, float]:
    if joint.type is JointKind.REVOLUTE:
        return max(joint.lower, -WIDEST), min(joint.upper, WIDEST)
    return joint.lower, joint.upper
