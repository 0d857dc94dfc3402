"""The 3D scene: robot, objects, contacts, drawings of conditions, ghosts, and the pair that touched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.suction import SuctionSpec, SuctionState
from handiwork_core.model.world import World, WorldObject
from handiwork_core.robot.robot import Robot
from handiwork_core.voxels.voxel_map import VoxelMap
from handiwork_viz.film.palette import color_of
from handiwork_viz.film.solids import BodyTriangles, joined, link_solids, solid_of
from handiwork_viz.view.model.scene_state import Moved, contact_lines, link_places
from handiwork_viz.view.model.texts import cup_text
from handiwork_viz.view.ros.condition_drawings import BeltDrawing

if TYPE_CHECKING:
    import viser

RED = (220, 40, 40)
GHOST, GHOST_OPACITY = (60, 130, 220), 0.35
ROUNDING_M = 0.002
AXES_M, AXES_RADIUS_M = 0.06, 0.002
CONTACT_RGB, FORCE_RGB = (240, 140, 0), (250, 82, 82)
CONTACT_M = 0.012
SAME_M, SAME_RAD = 1e-3, 1e-2
"""A link whose ghost is as near as this is not drawn twice."""
BELT_RGB, CHEVRON_M = (250, 190, 30), 0.12
SEALED_RGB, OPEN_RGB, OFF_RGB = (47, 158, 68), (240, 140, 0), (134, 142, 150)
RIM_CORNERS = 24
UNMODELLED_RGB = (217, 89, 26)
LAYERS = (
    "robot",
    "objects",
    "unmodelled",
    "names",
    "frames",
    "belts",
    "suction",
    "contacts",
    "conditions",
    "ghost",
    "candidates",
)
HIDDEN = ("frames", "names")
"""The layers that are not shown at first."""

OnDrag = Callable[[str, str, Array, Array], None]
"""Name of the object, phase of the drag, the grasped point and where the mouse draws it, (3,) each [m]."""


class SceneView:
    """Draws one robot and its world.

    Args:
        server: The page's server.
        robot: The robot.
        folder: Folder of its description, with the meshes.
        on_drag: Called while an object is dragged.
    """

    def __init__(self, server: viser.ViserServer, robot: Robot, folder: Path, on_drag: OnDrag) -> None:
        self._server, self._scene, self._robot, self._on_drag = server, server.scene, robot, on_drag
        self._moved, self._ghost_moved = Moved(), Moved()
        self._solids = link_solids(robot, folder)
        self._roots: dict[str, Any] = {}
        self._meshes: dict[str, Any] = {}
        self._colours: dict[str, tuple[int, int, int]] = {}
        self._layers: dict[str, list[Any]] = {name: [] for name in LAYERS}
        self._is_on = {name: name not in HIDDEN for name in LAYERS}
        self._ghosts: dict[str, Any] = {}
        self._marked: tuple[str, ...] = ()
        self._is_ghost_shown = False
        self._geometry = 0
        self.has_new_objects = False
        """True once objects were replaced, and with them what is drawn on them."""
        self._contacts = self._conditions = b""
        self._cups: dict[str, tuple[SuctionSpec, str, int]] = {
            arm.gripper.name: (arm.gripper.suction, arm.tcp_link, arm.gripper.ee_axis)
            for arm in robot.arms.values()
            if arm.gripper is not None and arm.gripper.suction is not None
        }
        self._cups_shown: tuple[object, ...] = ()
        self._add_robot()

    def _add_robot(self) -> None:
        for link, solid in self._solids.items():
            name = f"{self._robot.name}/{link}"
            node = self._roots[name] = self._scene.add_frame(f"/robot/{link}", show_axes=False)
            self._layers["robot"].append(node)
            if len(solid.corners):
                self._meshes[name] = self._mesh(f"/robot/{link}/shape", solid, name)
        for arm in self._robot.arms.values():
            for link, what in ((arm.ee_link, "EE"), (arm.tcp_link, "TCP")):
                self._add_axes(f"/robot/{link}/{arm.name}_{what}", f"{arm.name} {what}")

    def _add_axes(self, path: str, text: str) -> None:
        axes = self._scene.add_frame(path, axes_length=AXES_M, axes_radius=AXES_RADIUS_M)
        self._to_layer("frames", axes, self._scene.add_label(f"{path}/text", text))

    def _to_layer(self, layer: str, *nodes: Any) -> None:
        for node in nodes:
            node.visible = self._is_on[layer]
            self._layers[layer].append(node)

    def show(self, layer: str, is_on: bool) -> None:
        """Show or hide a layer.

        Args:
            layer: One of ``LAYERS``.
            is_on: True to show it.
        """
        self._is_on[layer] = is_on
        for node in self._layers[layer]:
            node.visible = is_on

    def is_on(self, layer: str) -> bool:
        """Return True while a layer is shown.

        Args:
            layer: One of ``LAYERS``.
        """
        return self._is_on[layer]

    def update(self, world: World, *, dragged: str = "") -> None:
        """Draw a snapshot: only what has moved is sent to the browsers.

        Args:
            world: The snapshot.
            dragged: An object that follows the mouse, and is not drawn where the snapshot has it.
        """
        if world.version != self._geometry:
            self._geometry, self.has_new_objects = world.version, True
            self._replace_objects(world.objects)
        poses = {f"{self._robot.name}/{link}": pose for link, pose in link_places(self._robot, world).items()}
        poses.update((name, state.world_T_object) for name, state in world.states.items() if name != dragged)
        with self._server.atomic():
            for name, pose in self._moved.changes(poses):
                if (node := self._roots.get(name)) is not None:
                    put(node, pose)
                else:
                    self._moved.forget(name)

    def _replace_objects(self, objects: Mapping[str, WorldObject]) -> None:
        own = f"{self._robot.name}/"
        for name in [name for name in self._roots if not name.startswith(own)]:
            self._roots.pop(name).remove()
            self._meshes.pop(name, None)
            self._moved.forget(name)
        for layer in ("objects", "names"):
            self._layers[layer].clear()
        self._layers["frames"] = [
            node for node in self._layers["frames"] if not node.name.startswith("/world/")
        ]
        for name, item in objects.items():
            self._add_object(name, item)
        self.mark(self._marked, again=True)

    def _add_object(self, name: str, item: WorldObject) -> None:
        path = f"/world/{_path(name)}"
        node = self._roots[name] = self._scene.add_frame(path, show_axes=False)
        self._to_layer("objects", node)
        color = color_of(name, item.is_static)
        solid = joined([solid_of(shape, color, ROUNDING_M) for shape in item.shapes])
        if len(solid.corners):
            mesh = self._meshes[name] = self._mesh(f"{path}/shape", solid, name)
            if not item.is_static:
                self._make_draggable(mesh, name)
        self._to_layer("names", self._scene.add_label(f"{path}/name", name))
        if not item.is_static:
            self._add_axes(f"{path}/axes", name)

    def _make_draggable(self, mesh: Any, name: str) -> None:
        async def drag(event: Any) -> None:
            self._on_drag(name, event.phase, np.array(event.start_position), np.array(event.end_position))

        mesh.on_drag(drag)

    def _mesh(self, path: str, solid: BodyTriangles, name: str) -> Any:
        color = tuple(round(255.0 * float(c) ** (1.0 / 2.2)) for c in solid.colors[0])
        self._colours[name] = (color[0], color[1], color[2])
        return self._triangles(path, solid.corners, self._colours[name], None)

    def _triangles(
        self, path: str, corners: Array, color: tuple[int, int, int], opacity: float | None
    ) -> Any:
        points, faces = _shared(corners)
        return self._scene.add_mesh_simple(
            path, points, faces, color=color, opacity=opacity, flat_shading=True, side="double"
        )

    def place_object(self, name: str, pose: Pose) -> None:
        """Draw an object at a pose at once.

        Args:
            name: Name of the object.
            pose: Its pose in ``world``.
        """
        if (node := self._roots.get(name)) is not None:
            self._moved.forget(name)
            put(node, pose)

    def mark(self, bodies: tuple[str, ...], *, again: bool = False) -> None:
        """Draw bodies in red, and those before in their own colours.

        Args:
            bodies: Names as outcomes have them.
            again: Also where they are the same as before.
        """
        if bodies == self._marked and not again:
            return
        for name in {*self._marked, *bodies}:
            if (mesh := self._meshes.get(name)) is not None:
                mesh.color = RED if name in bodies else self._colours[name]
        self._marked = bodies

    @property
    def marked(self) -> tuple[str, ...]:
        """The bodies that are drawn in red."""
        return self._marked

    def draw_contacts(self, world: World) -> None:
        """Draw the contacts of a snapshot with their forces.

        Args:
            world: The snapshot.
        """
        if not self._is_on["contacts"]:
            return
        found = contact_lines(world)
        key = np.round(np.concatenate([found.points.ravel(), found.lines.ravel()]), 3).tobytes()
        if key == self._contacts:
            return
        self._contacts = key
        with self._server.atomic():
            self._replace_lines("contacts", "/contacts", found.points, found.lines, CONTACT_RGB, FORCE_RGB)

    def draw_suction(self, cups: Mapping[str, SuctionState]) -> None:
        """Draw the rim of each suction cup: green with a seal, orange while it has none, grey while it is off.

        Args:
            cups: State by gripper.
        """
        shown = tuple((name, one.on, one.sealed, one.object) for name, one in cups.items())
        if shown == self._cups_shown:
            return
        self._cups_shown = shown
        with self._server.atomic():
            for node in self._layers["suction"]:
                node.remove()
            self._layers["suction"].clear()
            for name, state in cups.items():
                if name in self._cups:
                    self._add_cup(name, state)

    def _add_cup(self, name: str, state: SuctionState) -> None:
        spec, link, axis = self._cups[name]
        path = f"/robot/{link}/{_path(name)}_cup"
        colour = SEALED_RGB if state.sealed else OPEN_RGB if state.on else OFF_RGB
        rim = ring(spec.radius_m, axis).astype(np.float32)
        text = cup_text(state)
        self._to_layer(
            "suction",
            self._scene.add_line_segments(f"{path}/rim", rim, colour, line_width=4.0),
            self._scene.add_label(f"{path}/text", text),
        )

    def _replace_lines(
        self, layer: str, path: str, points: Array, lines: Array, point_rgb: Any, line_rgb: Any
    ) -> None:
        for node in self._layers[layer]:
            node.remove()
        self._layers[layer].clear()
        if len(points):
            cloud = self._scene.add_point_cloud(
                f"{path}/points",
                points.astype(np.float32),
                point_rgb,
                point_size=CONTACT_M,
                point_shape="circle",
            )
            self._to_layer(layer, cloud)
        if len(lines):
            made = self._scene.add_line_segments(
                f"{path}/lines", lines.astype(np.float32), line_rgb, line_width=2.5
            )
            self._to_layer(layer, made)

    def draw_conditions(self, points: Array, point_rgb: Array, lines: Array, line_rgb: Array) -> None:
        """Draw regions of conditions.

        Args:
            points: Points, (n, 3), m.
            point_rgb: Their colours, (n, 3), 0 to 255.
            lines: Segments, (m, 2, 3), m.
            line_rgb: Their colours, (m, 2, 3), 0 to 255.
        """
        key = b"".join(np.round(one, 3).tobytes() for one in (points, point_rgb, lines, line_rgb))
        if key == self._conditions:
            return
        self._conditions = key
        with self._server.atomic():
            self._replace_lines("conditions", "/conditions", points, lines, point_rgb, line_rgb)

    def draw_belts(self, items: Iterable[BeltDrawing]) -> None:
        """Draw the motion of conveyor belts on their objects: chevrons along it, and its speed.

        Args:
            items: The belts.
        """
        with self._server.atomic():
            for node in self._layers["belts"]:
                node.remove()
            self._layers["belts"].clear()
            for item in (one for one in items if one.object in self._roots):
                path = f"/world/{_path(item.object)}/belt"
                place = item.object_T_text.translation_m
                self._to_layer("belts", self._scene.add_label(f"{path}/text", item.text, position=place))
                if item.object_T_arrow is not None:
                    lines = item.object_T_arrow.apply(chevrons(item.length_m).reshape(-1, 3)).reshape(
                        -1, 2, 3
                    )
                    self._to_layer(
                        "belts",
                        self._scene.add_line_segments(
                            f"{path}/chevrons", lines.astype(np.float32), BELT_RGB, line_width=3.0
                        ),
                    )

    def draw_unmodelled(self, voxels: VoxelMap | None) -> None:
        """Draw the cells that are occupied by what nobody modelled; None removes them.

        Args:
            voxels: The cells.
        """
        for node in self._layers["unmodelled"]:
            node.remove()
        self._layers["unmodelled"].clear()
        if voxels is not None and len(points := voxels.centres().astype(np.float32)):
            size = voxels.grid.cell_m
            cloud = self._scene.add_point_cloud(
                "/unmodelled", points, UNMODELLED_RGB, point_size=size, point_shape="square"
            )
            self._to_layer("unmodelled", cloud)

    def draw_ghost(self, places: Mapping[str, Pose] | None) -> None:
        """Draw the robot where a plan has it; None removes it.

        Args:
            places: Pose in ``world`` by link; only the links that are not where the robot is need to be there.
        """
        with self._server.atomic():
            if places is None:
                if self._is_ghost_shown:
                    for node in self._ghosts.values():
                        node.visible = False
                self._is_ghost_shown = False
                return
            self._is_ghost_shown = True
            for link, pose in self._ghost_moved.changes(places):
                if (node := self._ghost(link)) is not None:
                    put(node, pose)
            for link, node in self._ghosts.items():
                is_shown = self._is_on["ghost"] and link in places
                if node.visible != is_shown:
                    node.visible = is_shown

    def draw_ghost_at(self, world: World, positions: Mapping[str, float]) -> None:
        """Draw the robot at other joint positions, where it differs from the real one.

        Args:
            world: The snapshot.
            positions: Positions by joint, rad or m; none removes the ghost.
        """
        if not positions:
            self.draw_ghost(None)
            return
        real, ghost = link_places(self._robot, world), link_places(self._robot, world, positions)
        near = {"within_m": SAME_M, "within_rad": SAME_RAD}
        self.draw_ghost(
            {link: pose for link, pose in ghost.items() if not pose.almost_equal(real[link], **near)}
        )

    def _ghost(self, link: str) -> Any:
        solid = self._solids[link]
        if link not in self._ghosts and len(solid.corners):
            node = self._scene.add_frame(f"/ghost/{link}", show_axes=False)
            self._triangles(f"/ghost/{link}/shape", solid.corners, GHOST, GHOST_OPACITY)
            self._ghosts[link] = node
        return self._ghosts.get(link)

    def draw_candidates(self, items: Iterable[tuple[str, Pose]]) -> None:
        """Draw candidates that were rejected, each with the reason.

        Args:
            items: Reason and pose in ``world`` of each.
        """
        with self._server.atomic():
            for node in self._layers["candidates"]:
                node.remove()
            self._layers["candidates"].clear()
            for number, (reason, pose) in enumerate(items):
                path = f"/candidates/{number}"
                axes = self._scene.add_frame(path, axes_length=0.03, axes_radius=0.0012)
                put(axes, pose)
                self._to_layer("candidates", axes, self._scene.add_label(f"{path}/reason", reason))


def ring(radius_m: float, axis: int) -> Array:
    """Return a circle about one axis.

    Args:
        radius_m: Its radius, m.
        axis: Index of the axis.

    Returns:
        Segments, (n, 2, 3), m.
    """
    turns = np.linspace(0.0, 2.0 * np.pi, RIM_CORNERS + 1)
    points = np.zeros((len(turns), 3))
    points[:, (axis + 1) % 3], points[:, (axis + 2) % 3] = radius_m * np.cos(turns), radius_m * np.sin(turns)
    return np.stack([points[:-1], points[1:]], axis=1)


def chevrons(length_m: float) -> Array:
    """Return chevrons that point along x.

    Args:
        length_m: Length of their row, m.

    Returns:
        Segments, (n, 2, 3), m.
    """
    tips = np.linspace(0.0, length_m, max(2, 1 + round(length_m / CHEVRON_M)))
    segments = []
    for tip in tips:
        for side in (-0.4, 0.4):
            end = (tip - 0.4 * CHEVRON_M, side * CHEVRON_M, 0.0)
            segments.append(((tip, 0.0, 0.0), end))
    return np.array(segments)


def put(node: Any, pose: Pose) -> None:
    """Set the pose of a node of the scene.

    Args:
        node: The node.
        pose: Its pose in its parent.
    """
    # viser's own comparison of each value costs more than all else that moving a node costs.
    wxyz = np.asarray(pose.rotation.wxyz)
    if (node.position != pose.translation_m).any():
        node.position = pose.translation_m
    if (node.wxyz != wxyz).any():
        node.wxyz = wxyz


def _path(name: str) -> str:
    return name.replace("/", "_")


def _shared(corners: Array) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    """Return points and faces of triangles (n, 3, 3) with equal corners shared, which is a sixth of the data."""
    flat = np.round(corners.reshape(-1, 3), 6).astype(np.float32)
    points, index = np.unique(flat, axis=0, return_inverse=True)
    return points, index.reshape(-1, 3).astype(np.uint32)
