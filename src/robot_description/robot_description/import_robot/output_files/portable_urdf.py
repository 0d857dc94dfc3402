"""Makes a folder of its own of a robot: the expanded URDF, its meshes, and the licence that they came with."""

from __future__ import annotations

import copy
import math
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from scipy.spatial.transform import Rotation as ScipyRotation

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot.mesh_paths import mesh_path
from handiwork_core.scene.mesh_file import surface_mesh
from robot_description.import_robot.gripper_frames import AddedFrame
from robot_description.solids.convex_hulls import Part
from robot_description.solids.convex_parts import convex_parts, write_stl
from robot_description.solids.shape_numbers import scale_of

MESHES = "meshes"
NO_GEOMETRY = ("gazebo", "transmission", "ros2_control", "sensor")
"""Elements for other programs, which are left out: the model is expanded for good, and names its own hardware."""
LICENCES = ("LICENSE*", "LICENCE*", "COPYING*", "NOTICE*")
ABOVE = 6
"""Number of folders above the description in which a licence is looked for."""
COLLADA = ".dae"
"""Collision meshes of this kind are written as STL: simulators read no COLLADA."""
WHOLE_TURN = 2.0 * math.pi
ASSUMED_SPEED = 1.0
"""Velocity limit of a continuous joint without one, rad/s."""


class PortableUrdf:
    """A URDF that names only files of its own folder.

    Args:
        text: The expanded URDF.
        source: Its file, for meshes with relative paths.

    Raises:
        ConfigError: The text is no XML.
    """

    def __init__(self, text: str, source: Path) -> None:
        try:
            self.root = ET.fromstring(text)
        except ET.ParseError as error:
            raise ConfigError(str(source), [f"top: is not XML: {error}; correct it there"]) from error
        self.assumed: list[str] = []
        """Values that the URDF lacks, for a person to check."""
        self.doubtful: list[str] = []
        """Notes on elements that were left out."""
        self._files: dict[Path, str] = {}
        self._converted: dict[Path, str] = {}
        self._parts: dict[str, Part] = {}
        self._source = source
        self._drop_foreign()
        self._limit_continuous()
        self.original = ET.tostring(self.root, encoding="unicode")
        """The URDF with the meshes where they are."""
        self._name_meshes()

    @property
    def text(self) -> str:
        """The URDF."""
        ET.indent(self.root)
        return ET.tostring(self.root, encoding="unicode") + "\n"

    def add(self, frames: Iterable[AddedFrame]) -> None:
        """Add fixed links.

        Args:
            frames: The links, each after its parent.
        """
        for frame in frames:
            ET.SubElement(self.root, "link", name=frame.name)
            joint = ET.SubElement(self.root, "joint", name=f"{frame.name}_joint", type="fixed")
            ET.SubElement(joint, "parent", link=frame.parent)
            ET.SubElement(joint, "child", link=frame.name)
            pose = frame.parent_T_frame
            angles = ScipyRotation.from_matrix(pose.rotation.matrix()).as_euler("xyz")
            xyz, rpy = (" ".join(f"{v:.9g}" for v in values) for values in (pose.translation_m, angles))
            ET.SubElement(joint, "origin", xyz=xyz, rpy=rpy)

    def cut(self, links: Collection[str], progress: Callable[[str], None] = lambda _: None) -> None:
        """Put convex parts in the place of the collision meshes of links, such as the jaws of a gripper.

        Args:
            links: Names of the links.
            progress: Called before each mesh.

        Raises:
            ValueError: A mesh cannot be read.
        """
        paths = {target: path for path, target in (*self._files.items(), *self._converted.items())}
        for link in self.root.findall("link"):
            name = link.get("name", "")
            for shape in link.findall("collision") if name in links else ():
                mesh = shape.find("geometry/mesh")
                if mesh is not None and mesh.get("filename", "") in paths:
                    progress(f"cutting a mesh of {name} into convex parts")
                    self._put_parts(link, shape, mesh, paths[mesh.get("filename", "")])

    def _put_parts(self, link: ET.Element, shape: ET.Element, mesh: ET.Element, path: Path) -> None:
        points, triangles = surface_mesh(path)
        try:
            parts = convex_parts(points * scale_of(mesh), triangles)
        except ValueError as error:
            raise ConfigError(str(path), [f"a collision mesh of {link.get('name')} {error}"]) from error
        if len(parts) < 2:
            return
        at = list(link).index(shape)
        link.remove(shape)
        for i, part in enumerate(parts):
            target = f"{MESHES}/{link.get('name')}_parts/{len(self._parts)}.stl"
            self._parts[target] = part
            one = copy.deepcopy(shape)
            geometry = one.find("geometry")
            assert geometry is not None
            geometry.clear()
            ET.SubElement(geometry, "mesh", filename=target)
            link.insert(at + i, one)
        text = (
            f"a mesh of it is cut into {len(parts)} convex parts for simulators, which take hulls of meshes"
        )
        self.assumed.append(f"link {link.get('name')}: {text}")

    def write(self, folder: Path, name: str) -> None:
        """Write the URDF, its meshes and the licence.

        Args:
            folder: The robot's folder, which exists.
            name: Name of the URDF file in it.

        Raises:
            OSError: A file cannot be read or written.
        """
        (folder / name).write_text(f'<?xml version="1.0"?>\n{self.text}', encoding="utf-8")
        for path, target in self._files.items():
            (folder / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / target)
        for path, target in self._converted.items():
            (folder / target).parent.mkdir(parents=True, exist_ok=True)
            write_stl(folder / target, surface_mesh(path))
        for target, part in self._parts.items():
            (folder / target).parent.mkdir(parents=True, exist_ok=True)
            write_stl(folder / target, part)
        for path in self.licences():
            shutil.copyfile(path, folder / path.name)

    def licences(self) -> list[Path]:
        """Return the licence files in the nearest folder above the description, or above a mesh, that has some."""
        for start in (self._source, *self._files, *self._converted):
            for place in list(start.resolve().parents)[:ABOVE]:
                if found := [
                    path for word in LICENCES for path in sorted(place.glob(word)) if path.is_file()
                ]:
                    return found
        return []

    def _drop_foreign(self) -> None:
        for tag in NO_GEOMETRY:
            for element in self.root.findall(tag):
                self.root.remove(element)
        for link in self.root.findall("link"):
            for visual in link.findall("visual"):
                mesh = visual.find("geometry/mesh")
                if mesh is not None and self._mesh(mesh) is None:
                    link.remove(visual)
                    text = f"its visual mesh {mesh.get('filename')!r} is not there and was left out"
                    self.doubtful.append(f"link {link.get('name')}: {text}")

    def _limit_continuous(self) -> None:
        """Make continuous joints revolute: a search needs an interval, and cables allow no more in practice."""
        for joint in self.root.findall("joint[@type='continuous']"):
            joint.set("type", "revolute")
            limit = joint.find("limit")
            limit = ET.SubElement(joint, "limit") if limit is None else limit
            text = f"joint {joint.get('name')}: is continuous; it is planned within two turns, -2 pi to 2 pi"
            limit.set("lower", f"{-WHOLE_TURN:.9f}")
            limit.set("upper", f"{WHOLE_TURN:.9f}")
            if not _positive(limit.get("velocity")):
                limit.set("velocity", f"{ASSUMED_SPEED:g}")
                text += f", at {ASSUMED_SPEED:g} rad/s because the URDF has no velocity"
            self.assumed.append(text)

    def _name_meshes(self) -> None:
        for mesh, collides in self._meshes():
            path = self._mesh(mesh)
            if path is not None:
                converts = collides and path.suffix.lower() == COLLADA
                mesh.set("filename", self._target(path.resolve(), converts=converts))

    def _target(self, path: Path, *, converts: bool) -> str:
        files = self._converted if converts else self._files
        if path not in files:
            name = path.with_suffix(".stl").name if converts else path.name
            names = [f"{MESHES}/{name}", f"{MESHES}/{path.parent.name}/{name}"]
            names += [f"{MESHES}/{len(self._files) + len(self._converted)}/{name}"]
            taken = {*self._files.values(), *self._converted.values()}
            files[path] = next(name for name in names if name not in taken)
        return files[path]

    def _meshes(self) -> Iterator[tuple[ET.Element, bool]]:
        """Yield each mesh, and whether it is a collision shape."""
        for link in self.root.findall("link"):
            for item in link:
                yield from ((mesh, item.tag == "collision") for mesh in item.iter("mesh"))

    def _mesh(self, mesh: ET.Element) -> Path | None:
        return mesh_path(mesh.get("filename", ""), self._source.parent)


def _positive(text: str | None) -> bool:
    try:
        return text is not None and float(text) > 0.0
    except ValueError:
        return True  # the reader of the URDF names it
