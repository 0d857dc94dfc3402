"""Share folders and executables of packages, in a native installation and in a venv."""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from .model import LaunchError


def source_folder(package: str) -> Path | None:
    """Return the package's folder in the source tree; None when it is not installed from there.

    Args:
        package: Name of the package.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent.parent
    return folder if (folder / "package.xml").is_file() else None


def prefixes() -> list[Path]:
    """Return the installation prefixes, the most specific first."""
    named = [Path(entry) for entry in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if entry]
    return [*named, Path(sys.prefix)]


def prefix_of(package: str) -> Path:
    """Return the installation prefix that contains a package.

    Args:
        package: Name of the package.

    Raises:
        LaunchError: No prefix lists it.
    """
    for prefix in prefixes():
        if (prefix / "share/ament_index/resource_index/packages" / package).is_file():
            return prefix
    if source_folder(package) is not None:
        return Path(sys.prefix)
    raise LaunchError(
        f"package {package!r} is not installed; run `make setup`, or source the workspace that has it"
    )


def share_of(package: str) -> Path:
    """Return the share folder of a package: its source folder when installed from there, so that no old copy is read.

    Args:
        package: Name of the package.

    Raises:
        LaunchError: The package is not installed.
    """
    return source_folder(package) or prefix_of(package) / "share" / package


def executable_of(package: str, name: str) -> Path:
    """Return the file of an executable.

    Args:
        package: Name of the package.
        name: Name of the executable.

    Raises:
        LaunchError: The package is not installed, or has no such executable.
    """
    for prefix in prefixes():
        native = prefix / "lib" / package / name
        if os.access(native, os.X_OK):
            return native
    try:
        offered = [p.name for p in distribution(package).entry_points if p.group == "console_scripts"]
    except PackageNotFoundError:
        prefix_of(package)
        offered = []
    script = Path(sys.prefix) / "bin" / name
    if name in offered and os.access(script, os.X_OK):
        return script
    raise LaunchError(
        f"package {package!r} has no executable {name!r}; it has {', '.join(offered) or 'none'}"
    )
