"""Two FR3 on one stand, written from the FR3's own files: a robot with two arms for tests."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from handiwork_core.robot_files.loader import expand
from support.paths import ROBOTS

FR3 = ROBOTS / "fr3"
SIDES = {"left": 0.4, "right": -0.4}
"""Arms in order of priority, and where each stands on the stand's y axis [m]."""
STAND = """<link name="stand">
<inertial><mass value="50"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
</link>"""


def write_dual_fr3(folder: Path) -> Path:
    """Write robot.yaml, URDF and spheres to ``folder``, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    spec, spheres = (yaml.safe_load((FR3 / name).read_text()) for name in ("robot.yaml", "spheres.yaml"))
    body = re.search(r"<robot\b[^>]*>(.*)</robot>", expand(FR3 / spec["urdf"]), re.DOTALL)
    assert body is not None
    material = re.search(r"<material name=\"body\">.*?</material>", body[1], re.DOTALL)
    assert material is not None
    inner = body[1].replace(material[0], "")
    parts = [_of(side, inner) + _mount(side, y) for side, y in SIDES.items()]
    urdf = f'<robot name="dual_fr3">{material[0]}{STAND}{"".join(parts)}</robot>'
    (folder / "dual_fr3.urdf").write_text(urdf)
    links = {k: v for side in SIDES for k, v in _renamed(spheres["links"], side).items()}
    (folder / "spheres.yaml").write_text(yaml.safe_dump({"links": links}))
    (folder / "robot.yaml").write_text(yaml.safe_dump(_robot(spec), sort_keys=False))
    return folder


def _robot(spec: dict[str, Any]) -> dict[str, Any]:
    sides = [_renamed(spec, side) for side in SIDES]
    return {
        "name": "dual_fr3",
        "urdf": "dual_fr3.urdf",
        "spheres": "spheres.yaml",
        "limits": {k: v for one in sides for k, v in one["limits"].items()},
        "ignored_pairs": [pair for one in sides for pair in one["ignored_pairs"]],
        "arms": {k: v for one in sides for k, v in one["arms"].items()},
    }


def _renamed(data: Any, side: str) -> Any:
    return yaml.safe_load(_of(side, yaml.safe_dump(data, sort_keys=False)))


def _of(side: str, text: str) -> str:
    return text.replace("fr3_", f"{side}_")


def _mount(side: str, y: float) -> str:
    return (
        f'<joint name="{side}_mount" type="fixed"><parent link="stand"/><child link="{side}_link0"/>'
        f'<origin xyz="0 {y} 0" rpy="0 0 0"/></joint>'
    )
