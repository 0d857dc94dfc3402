"""Where the mesh files of a URDF are: beside it, or in a ROS package."""

from __future__ import annotations

import os
import re
from pathlib import Path

MESH = re.compile(r"""(<mesh\b[^>]*?\bfilename\s*=\s*)(["'])(.*?)\2""")
FILE, PACKAGE = "file://", "package://"


def with_mesh_files(urdf: str, folder: Path) -> str:
    """The URDF with ``file://`` and the whole path for each mesh that is found; the others keep their names.

    Whoever gets the text can then read them, and need not know where the URDF was.
    """
    if "<mesh" not in urdf:
        return urdf

    def found(match: re.Match[str]) -> str:
        path = mesh_path(match[3], folder)
        return match[0] if path is None else f"{match[1]}{match[2]}{FILE}{path.resolve()}{match[2]}"

    return MESH.sub(found, urdf)


def mesh_path(name: str, folder: Path) -> Path | None:
    """The file that a mesh's name means in a URDF of ``folder``; None where there is none."""
    if name.startswith(PACKAGE):
        package, _, rest = name.removeprefix(PACKAGE).partition("/")
        tried = [place / rest for place in _packages(package, folder)]
    else:
        tried = [folder / name.removeprefix(FILE)]
    return next((path for path in tried if path.is_file()), None)


def absent(name: str, folder: Path) -> str:
    """Words on a mesh that is not there, and the mend."""
    if not name.startswith(PACKAGE):
        mend = f"write its path from {folder}" if "//" in name else f"put it below {folder}"
        return f"mesh {name!r} is not there; {mend}"
    package = name.removeprefix(PACKAGE).partition("/")[0]
    places = _packages(package, folder)
    if places:
        return f"mesh {name!r} is not in {places[0]}; put it there, or mend its path"
    where = f"no folder above {folder} nor AMENT_PREFIX_PATH has package {package!r}"
    return f"mesh {name!r} is not there: {where}; source its workspace, or write its path from {folder}"


def _packages(package: str, folder: Path) -> list[Path]:
    """Folders of a package: one above the URDF, one beside such a folder, or an installed one."""
    above = [folder.resolve(), *folder.resolve().parents]
    tried = [place if place.name == package else place / package for place in above]
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    tried += [Path(prefix) / "share" / package for prefix in prefixes if prefix]
    return [place for place in tried if package and place.is_dir()]
