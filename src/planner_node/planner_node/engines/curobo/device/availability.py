"""Checks whether cuRobo can run here, from files and package metadata: neither torch nor cuRobo is imported."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

DRIVER_FILES = (Path("/proc/driver/nvidia/version"), Path("/dev/nvidiactl"), Path("/dev/dxg"))
"""Files of which at least one exists when a driver is loaded: Linux, a container or microVM, WSL."""
WANTED = {"torch": ("2.9", "2.12"), "warp-lang": ("1.19", "1.20"), "cuda-core": ("0.7", "2")}
"""Distribution -> the first version that works, and the first that is not known to work."""
CUROBO_NAMES = ("nvidia-curobo", "nvidia_curobo")
CUROBO = ("0.8", "0.9")
CUROBO_COMMIT = "a35a708ecfbb26eb9ab2d7ef22c65919c4fae4a9"
"""The commit of NVlabs/curobo that this engine was measured with."""
DRIVERS = {13: 580, 12: 525, 11: 450}
"""The oldest driver for each major version of CUDA, by NVIDIA's table of minor version compatibility."""
HINT = "see docs/how-to/gpu.md"


def _version_of(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _driver() -> str:
    """Return the version of the loaded driver; empty where its file does not give it."""
    try:
        text = DRIVER_FILES[0].read_text(encoding="utf-8")
    except OSError:
        return ""
    found = re.search(r"\b(\d{3}\.\d+(?:\.\d+)?)\b", text)
    return found.group(1) if found else ""


def _cuda_of_torch() -> str:
    """Return the CUDA version that the installed torch was built for, from its version file; empty when not found."""
    spec = find_spec("torch")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        file = Path(folder) / "version.py"
        if file.is_file():
            found = re.search(
                r"^cuda\b[^=]*=\s*['\"]([\d.]+)['\"]", file.read_text(encoding="utf-8"), re.MULTILINE
            )
            return found.group(1) if found else ""
    return ""


def _is_importable(name: str) -> bool:
    return find_spec(name) is not None


def _has_driver() -> bool:
    return any(path.exists() for path in DRIVER_FILES)


@dataclass(frozen=True, slots=True)
class Machine:
    """The functions that read the machine's state; tests replace them."""

    has_driver: Callable[[], bool] = field(default=_has_driver)
    version_of: Callable[[str], str | None] = field(default=_version_of)
    is_importable: Callable[[str], bool] = field(default=_is_importable)
    driver: Callable[[], str] = field(default=_driver)
    cuda_of_torch: Callable[[], str] = field(default=_cuda_of_torch)


def why_absent(machine: Machine | None = None) -> str:
    """Return one sentence on what is missing for cuRobo.

    Args:
        machine: The functions that read the machine's state; None reads this machine.

    Returns:
        The sentence; empty when cuRobo can be tried.
    """
    machine = machine or Machine()
    if not machine.has_driver():
        return f"no NVIDIA driver is loaded (none of {', '.join(map(str, DRIVER_FILES))} exists)"
    for name in ("torch", "warp", "curobo"):
        if not machine.is_importable(name):
            return f"the driver is there, but Python finds no package {name!r}; {HINT}"
    return wrong_version(machine)


def wrong_version(machine: Machine) -> str:
    """Return one sentence on the first package whose version does not work.

    A cuRobo on the path without metadata (a source tree) is accepted as it is.

    Args:
        machine: The functions that read the machine's state.

    Returns:
        The sentence; empty when all versions work.
    """
    curobo = next((v for v in map(machine.version_of, CUROBO_NAMES) if v), None)
    found = {name: machine.version_of(name) for name in WANTED} | {"nvidia-curobo": curobo}
    driver, cuda = machine.driver(), machine.cuda_of_torch()
    around = {"driver": driver, "CUDA of torch": cuda}
    oldest = DRIVERS.get(_key(cuda)[0]) if cuda else None
    if driver and oldest is not None and _key(driver)[0] < oldest:
        others = _listed({"CUDA of torch": cuda, **found})
        return (
            f"the NVIDIA driver is {driver}, and CUDA {cuda} needs {oldest} or newer (with {others}); {HINT}"
        )
    for name, (first, beyond) in {**WANTED, "nvidia-curobo": CUROBO}.items():
        have = found[name]
        if have is not None and not _key(first) <= _key(have) < _key(beyond):
            others = _listed({n: v for n, v in (around | found).items() if n != name})
            return f"{name} is {have}, and the engine needs {first} or newer but below {beyond} (with {others}); {HINT}"
    return ""


def _listed(versions: Mapping[str, str | None]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items() if version)


def _key(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a version for comparison: ``2.11.0+cu130`` is (2, 11, 0)."""
    numbers: list[int] = []
    for part in text.split("+")[0].split("."):
        digits = "".join(ch for ch in part if ch.isdigit())
        if not digits:
            break
        numbers.append(int(digits))
        if digits != part:
            break
    return tuple(numbers)
