"""Locates the mesh files of a URDF: beside it, or in a ROS package."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

MESH = re.compile(r"""(<mesh\b[^>]*?\bfilename\s*=\s*)(["'])(.*?)\2""")
FILE, PACKAGE = "file://", "package://"
BESIDE = 5
"""Number of folders above a file beside which packages are looked for by their ``package.xml``."""


def with_mesh_files(urdf: str, folder: Path) -> str:
    """Return the URDF with ``file://`` and the absolute path for each mesh that is found; the others keep their names.

    A reader of the text can then load the meshes without knowing the folder of the URDF.

    Args:
        urdf: Text of the URDF.
        folder: Folder of the URDF.
    """
    if "<mesh" not in urdf:
        return urdf

    def found(match: re.Match[str]) -> str:
        path = mesh_path(match[3], folder)
        return match[0] if path is None else f"{match[1]}{match[2]}{FILE}{path.resolve()}{match[2]}"

    return MESH.sub(found, urdf)


def mesh_path(name: str, folder: Path) -> Path | None:
    """Return the file of a mesh of a URDF.

    Args:
        name: Name of the mesh: a path, or a URL of ``file://`` or ``package://``.
        folder: Folder of the URDF.

    Returns:
        The file; None if there is none.
    """
    if name.startswith(PACKAGE):
        package, _, rest = name.removeprefix(PACKAGE).partition("/")
        tried = [place / rest for place in package_folders(package, folder)]
    else:
        tried = [folder / name.removeprefix(FILE)]
    return next((path for path in tried if path.is_file()), None)


def absent(name: str, folder: Path) -> str:
    """Return the fault of a missing mesh, with its remedy.

    Args:
        name: Name of the mesh in the URDF.
        folder: Folder of the URDF.

    Returns:
        A clause for an error text.
    """
    if not name.startswith(PACKAGE):
        remedy = f"write its path from {folder}" if "//" in name else f"put it below {folder}"
        return f"mesh {name!r} is not there; {remedy}"
    package = name.removeprefix(PACKAGE).partition("/")[0]
    places = package_folders(package, folder)
    if places:
        return f"mesh {name!r} is not in {places[0]}; put it there, or correct its path"
    where = f"no folder above {folder} nor AMENT_PREFIX_PATH has package {package!r}"
    return f"mesh {name!r} is not there: {where}; source its workspace, or write its path from {folder}"


def package_folders(package: str, folder: Path) -> list[Path]:
    """Return the folders of a package: one above a file, one beside such a folder, or an installed one.

    A folder may have another name than its package, as a clone of a repository has; then its ``package.xml`` counts.

    Args:
        package: Name of the package.
        folder: Folder of the file that names the package.
    """
    above = [folder.resolve(), *folder.resolve().parents]
    tried = [place if place.name == package else place / package for place in above]
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    tried += [Path(prefix) / "share" / package for prefix in prefixes if prefix]
    found = [place for place in tried if package and place.is_dir()]
    return found or list(dict.fromkeys(p.resolve() for p in _repositories(above) if _is_package(p, package)))


def _repositories(above: list[Path]) -> list[Path]:
    """Return the folders above a file that are packages, and those beside and below them, to a depth of two."""
    found: list[Path] = []
    for place in above[:BESIDE]:
        with contextlib.suppress(OSError):
            found += [path.parent for path in (place / "package.xml", *place.glob("*/package.xml"))]
            found += [path.parent for path in place.glob("*/*/package.xml")]
    return found


def _is_package(place: Path, package: str) -> bool:
    try:
        text = (place / "package.xml").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return re.search(rf"<name>\s*{re.escape(package)}\s*</name>", text) is not None
