"""Expands xacro files, also those of makers: with arguments, and ``$(find package)`` without an ament index."""

from __future__ import annotations

import threading
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

from handiwork_core.robot.mesh_paths import package_folders

LOCK = threading.Lock()
"""Xacro keeps its state in module variables, and two nodes of one process may load at once."""
ARG = "{http://www.ros.org/wiki/xacro}arg", "{http://wiki.ros.org/xacro}arg", "{http://ros.org/wiki/xacro}arg"


def expand_xacro(path: Path, arguments: Mapping[str, str]) -> str:
    """Return the URDF of a xacro file.

    Args:
        path: The file.
        arguments: Values of its ``<xacro:arg>``; the others have their defaults.

    Raises:
        ImportError: The package xacro is not installed.
        ValueError: A package is not found, or an argument is not declared.
        Exception: Whatever xacro raises; it passes on any error of its expressions.
    """
    import xacro  # here because only this call needs it, and it costs more than the rest of the loader
    from xacro import substitution_args

    defaults = _defaults(path)
    if unknown := [name for name in arguments if defaults and name not in defaults]:
        raise ValueError(f"argument {unknown[0]!r} is not declared; there are {', '.join(sorted(defaults))}")
    # Xacro evaluates the attributes of <robot> before the defaults below it, so these are given to it.
    given = {name: text for name, text in defaults.items() if text is not None and "$" not in text}

    absent: list[str] = []

    def find(package: str) -> str:
        folders = package_folders(package, path.parent)
        if not folders:
            absent.append(package)
            raise ValueError(f"package {package!r} is absent")
        return str(folders[0])

    with LOCK:
        before = substitution_args._eval_find
        substitution_args._eval_find = substitution_args._eval_dict["find"] = find
        try:
            return str(xacro.process_file(str(path), mappings={**given, **arguments}).toxml())
        except Exception as error:  # broad on purpose: xacro wraps ours, and repeats its text
            if not absent:
                raise
            text = f"package {absent[0]!r} is neither near {path.parent} nor in AMENT_PREFIX_PATH"
            raise ValueError(f"{text}; put it beside the file's package, or source its workspace") from error
        finally:
            substitution_args._eval_find = substitution_args._eval_dict["find"] = before


def _defaults(path: Path) -> dict[str, str | None]:
    """Return the arguments that the file itself declares with their defaults; None for one that must be given."""
    try:
        root = ET.parse(path).getroot()
    except ET.ParseError:
        return {}  # xacro names the place
    return {item.get("name", ""): item.get("default") for tag in ARG for item in root.iter(tag)}
