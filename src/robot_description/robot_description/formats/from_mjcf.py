"""Makes a URDF of an MJCF file: MuJoCo compiles it, and its bodies, joints, shapes and couplings are written out."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Array
from robot_description.formats.tcp_names import TCP_WORDS

from .mjcf_shapes import add_origin, collision_elements

JOINT_SPEED, SLIDE_SPEED = 3.0, 0.25
"""Assumed velocity limits, as MJCF has none, rad/s and m/s."""
EFFORT = 100.0
"""Assumed effort limit of a joint whose force MJCF does not bound, Nm or N."""
LINK_KG, LINK_INERTIA = 1e-3, 1e-6
"""Mass and moments of the links between the joints of one body, which have no shape, kg and kg*m^2."""
UNTURNED = np.array([1.0, 0.0, 0.0, 0.0])
SITE = re.compile(r"attachment|flange", re.IGNORECASE)


@dataclass
class MjcfRobot:
    """The URDF of an MJCF file.

    Attributes:
        urdf: Its text; meshes are named by absolute paths.
        assumed: Values that MJCF cannot contain.
        doubtful: Parts that a URDF cannot contain.
    """

    urdf: str = ""
    assumed: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)


def is_mjcf(path: Path) -> bool:
    """Check by its name and its top element whether a file is MJCF.

    Args:
        path: The file.
    """
    if path.suffix not in (".xml", ".mjcf") or not path.is_file():
        return False
    try:
        return bool(next(ET.iterparse(path, events=("start",)))[1].tag == "mujoco")
    except (ET.ParseError, StopIteration):
        return False


def read_mjcf(path: Path, folder: Path) -> MjcfRobot:
    """Read an MJCF file as a URDF.

    Args:
        path: The file.
        folder: Folder that takes the meshes, which MuJoCo has read; it exists.

    Raises:
        ConfigError: MuJoCo is not installed or cannot compile the file, or the file has what no tree of hinges and
            slides can show; the error lists all.
    """
    try:
        import mujoco
    except ImportError as error:
        text = "MJCF is read by the package mujoco; install it (`pip install mujoco`)"
        raise ConfigError(str(path), [text]) from error
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        text = f"MuJoCo cannot compile it: {' '.join(str(error).split())}; correct it there"
        raise ConfigError(str(path), [text]) from error
    writer = _Writer(mujoco, model, folder)
    writer.write(re.sub(r"\W+", "_", path.stem))
    if writer.faults:
        raise ConfigError(str(path), writer.faults)
    return writer.made


class _Writer:
    def __init__(self, mujoco: Any, model: Any, folder: Path) -> None:  # noqa: ANN401 mujoco has no types
        self.mujoco, self.model, self.folder = mujoco, model, folder
        self.made, self.faults = MjcfRobot(), list[str]()
        self.links = {0: "world"}
        self.slow: list[str] = []
        self.weak: list[str] = []

    def write(self, name: str) -> None:
        top = ET.Element("robot", name=name)
        ET.SubElement(top, "link", name="world")
        for body in range(1, self.model.nbody):
            self._body(top, body)
        self._couple(top)
        self._sites(top)
        if self.slow:
            text = f"MJCF has no velocity limit; {JOINT_SPEED:g} rad/s and {SLIDE_SPEED:g} m/s"
            self.made.assumed.append(f"velocity of {', '.join(self.slow)}: {text}; take the maker's")
        if self.weak:
            self.made.assumed.append(f"effort of {', '.join(self.weak)}: no force range; {EFFORT:g} Nm or N")
        if not len(self.links) > 1:
            self.faults.append("worldbody: has no body; name the file that describes the robot")
        self.made.urdf = ET.tostring(top, encoding="unicode")

    def _name(self, kind: str, index: int, default: str) -> str:
        return (
            self.mujoco.mj_id2name(self.model, getattr(self.mujoco.mjtObj, f"mjOBJ_{kind}"), index) or default
        )

    def _body(self, top: ET.Element, body: int) -> None:
        """Add the link of a body, and for each of its joints the link that it moves."""
        model = self.model
        name = self._name("BODY", body, f"body{body}")
        self.links[body] = link = name if name != "world" else f"{name}_{body}"
        parent, before = self.links[model.body_parentid[body]], np.zeros(3)
        origin: tuple[Array, Array] = (model.body_pos[body], model.body_quat[body])
        first = int(model.body_jntadr[body])
        moving = [j for j in range(first, first + int(model.body_jntnum[body])) if self._moves(name, j)]
        for j in moving:
            at = model.jnt_pos[j]
            is_last = j == moving[-1] and not np.any(at)
            child = link if is_last else f"{self._joint_name(name, j)}_link"
            if not is_last:
                between = ET.SubElement(top, "link", name=child)
                _weigh(between, np.zeros(3), UNTURNED, LINK_KG, np.full(3, LINK_INERTIA))
            self._joint(top, j, self._joint_name(name, j), parent, child, _moved(origin, at - before))
            parent, before, origin = child, at, (np.zeros(3), UNTURNED)
        if parent != link:
            fixed = ET.SubElement(top, "joint", name=f"{link}_fixed", type="fixed")
            _connect(fixed, parent, link, _moved(origin, -before))
        element = ET.SubElement(top, "link", name=link)
        self._inertia(element, body)
        first, count = int(model.body_geomadr[body]), int(model.body_geomnum[body])
        solid = [g for g in range(first, first + count) if model.geom_contype[g] or model.geom_conaffinity[g]]
        for geom in solid:
            element.extend(collision_elements(self.mujoco, model, geom, self.folder, self.faults))
        if count and not solid:
            text = "none of its shapes has contacts, so that it collides with nothing; give one a contype"
            self.made.doubtful.append(f"body {link}: {text}")

    def _moves(self, body: str, j: int) -> bool:
        """Check that a joint is a hinge or a slide; a robot that floats is fixed where it is."""
        kinds = self.mujoco.mjtJoint
        kind = kinds(int(self.model.jnt_type[j]))
        if kind == kinds.mjJNT_FREE:
            self.made.assumed.append(f"body {body}: floats in MJCF; it is fixed in the world where it begins")
        elif kind == kinds.mjJNT_BALL:
            text = "is a ball joint, which no URDF has; write three hinges"
            self.faults.append(f"joint {self._joint_name(body, j)}: {text}")
        return kind in (kinds.mjJNT_HINGE, kinds.mjJNT_SLIDE)

    def _joint_name(self, body: str, j: int) -> str:
        return self._name("JOINT", j, f"{body}_joint{j}")

    def _joint(
        self, top: ET.Element, j: int, name: str, parent: str, child: str, origin: tuple[Array, Array]
    ) -> None:
        model = self.model
        slides = model.jnt_type[j] == self.mujoco.mjtJoint.mjJNT_SLIDE
        is_limited = bool(model.jnt_limited[j])
        if slides and not is_limited:
            self.faults.append(f"joint {name}: slides without a range; give it one")
        kind = "prismatic" if slides else "revolute" if is_limited else "continuous"
        joint = ET.SubElement(top, "joint", name=name, type=kind)
        _connect(joint, parent, child, origin)
        ET.SubElement(joint, "axis", xyz=_words(model.jnt_axis[j]))
        force = self._force(j)
        self.slow.append(name)
        self.weak += [name] * (force is None)
        limit = {"velocity": SLIDE_SPEED if slides else JOINT_SPEED, "effort": force or EFFORT}
        if is_limited:  # a URDF's joint is at zero where MJCF's has its reference
            zero = float(model.qpos0[model.jnt_qposadr[j]])
            low, high = (float(value) - zero for value in model.jnt_range[j])
            limit |= {"lower": low, "upper": high}
            if zero:
                self.made.assumed.append(f"joint {name}: is counted from its reference, {zero:g} in MJCF")
        ET.SubElement(joint, "limit", {key: f"{value:.9g}" for key, value in limit.items()})

    def _force(self, j: int) -> float | None:
        """Return the largest force of a joint's own actuator, Nm or N; None where there is no bound."""
        model = self.model
        ranges = [model.jnt_actfrcrange[j]] if model.jnt_actfrclimited[j] else []
        for a in range(model.nu):
            is_own = (
                model.actuator_trntype[a] == self.mujoco.mjtTrn.mjTRN_JOINT
                and model.actuator_trnid[a][0] == j
            )
            if is_own and model.actuator_forcelimited[a]:
                ranges.append(model.actuator_forcerange[a] * model.actuator_gear[a][0])
        found = [float(np.abs(item).max()) for item in ranges]
        return min(found) if found and min(found) > 0.0 else None

    def _inertia(self, link: ET.Element, body: int) -> None:
        model = self.model
        if model.body_mass[body] > 0.0:
            place = (model.body_ipos[body], model.body_iquat[body])
            _weigh(link, *place, float(model.body_mass[body]), model.body_inertia[body])

    def _couple(self, top: ET.Element) -> None:
        """Write couplings of two joints as mimics; others are named, as a tree cannot have them."""
        model, kinds = self.model, self.mujoco.mjtEq
        joints = {element.get("name"): element for element in top.findall("joint")}
        for e in range(model.neq):
            one, other = (int(ids[e]) for ids in (model.eq_obj1id, model.eq_obj2id))
            kind = kinds(int(model.eq_type[e]))
            if kind != kinds.mjEQ_JOINT:
                word = kind.name.removeprefix("mjEQ_").lower()
                text = f"{word} is left out: it closes a loop, which a URDF cannot have"
                self.made.doubtful.append(f"equality {e}: {text}")
                continue
            names = [
                self._joint_name(self.links[int(model.jnt_bodyid[j])], j) for j in (one, other) if j >= 0
            ]
            shift, factor, *more = (float(value) for value in model.eq_data[e][:5])
            if len(names) < 2 or any(more):
                text = "only q = a + b * q_other of two joints can be written as a mimic; reduce it to that"
                self.faults.append(f"equality of joint {names[0]}: {text}")
                continue
            follower, leader = (joints[each] for each in names)
            if leader.find("mimic") is not None:  # each of a pair may be written as the follower
                follower, leader = leader, follower
                shift, factor = -shift / factor, 1.0 / factor
            if follower.find("mimic") is None:
                values = {"multiplier": f"{factor:.9g}", "offset": f"{shift:.9g}"}
                ET.SubElement(follower, "mimic", {"joint": leader.get("name", ""), **values})

    def _sites(self, top: ET.Element) -> None:
        """Add the sites whose names say that a tool is there as fixed links."""
        model, taken = self.model, {link.get("name") for link in top.findall("link")}
        for site in range(model.nsite):
            name = self._name("SITE", site, "")
            if not (TCP_WORDS.search(name) or SITE.search(name)) or name in taken:
                continue
            ET.SubElement(top, "link", name=name)
            joint = ET.SubElement(top, "joint", name=f"{name}_fixed", type="fixed")
            place = (model.site_pos[site], model.site_quat[site])
            _connect(joint, self.links[int(model.site_bodyid[site])], name, place)


def _moved(origin: tuple[Array, Array], shift: Array) -> tuple[Array, Array]:
    """Return a pose that is moved along its own axes."""
    position, wxyz = origin
    w, v = wxyz[0], np.asarray(wxyz[1:])
    across = 2.0 * np.cross(v, shift)
    return position + shift + w * across + np.cross(v, across), wxyz


def _connect(joint: ET.Element, parent: str, child: str, origin: tuple[Array, Array]) -> None:
    ET.SubElement(joint, "parent", link=parent)
    ET.SubElement(joint, "child", link=child)
    add_origin(joint, *origin)


def _weigh(link: ET.Element, position: Array, wxyz: Array, mass_kg: float, moments: Array) -> None:
    inertial = ET.SubElement(link, "inertial")
    add_origin(inertial, position, wxyz)
    ET.SubElement(inertial, "mass", value=f"{mass_kg:.9g}")
    values = {key: f"{value:.9g}" for key, value in zip(("ixx", "iyy", "izz"), moments, strict=True)}
    ET.SubElement(inertial, "inertia", values | {"ixy": "0", "ixz": "0", "iyz": "0"})


def _words(values: Array) -> str:
    return " ".join(f"{float(value):.9g}" for value in values)
