"""Compiled kernels on disk that are replaced when any file changes whose kernels or classes they use. No ROS."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import FunctionType
from typing import Any, cast

import llvmlite.binding as llvm
import numba
from numba.core.caching import IndexDataCacheFile

LATE = ("0.61.",)
"""Versions of Numba whose intermediate code is parsed late; with others it is parsed as Numba does."""


def _sources(module: str, found: dict[str, str]) -> dict[str, str]:
    """Add the file of ``module``, and of all modules whose kernels and classes it uses, to ``found``.

    Kernels are built for the fields of the tuples that they take, in their order.
    """
    if module in found:
        return found
    found[module] = str(sys.modules[module].__file__)
    for value in vars(sys.modules[module]).values():
        owner = getattr(getattr(value, "py_func", value), "__module__", None)
        if isinstance(owner, str) and owner.split(".")[0] == module.split(".")[0] and owner in sys.modules:
            found = found if isinstance(value, FunctionType) else _sources(owner, found)
    return found


class _Index(IndexDataCacheFile):  # type: ignore[misc] # a class without types
    """The files of one kernel on disk. Files that cannot be read count as missing, and are written again.

    Numba reads the types in them before it checks whether they are of today's sources, and raises what that raises:
    AttributeError if a class is elsewhere by now, EOFError if a file is cut off.
    """

    def _load_index(self) -> dict[object, str]:
        try:
            return cast("dict[object, str]", super()._load_index())
        except Exception:  # noqa: BLE001 - unpickling raises anything
            return {}

    def _load_data(self, name: str) -> object:
        try:
            return super()._load_data(name)
        except Exception as error:
            raise FileNotFoundError(name) from error


class SharedModule:
    """The intermediate code of a kernel from disk, which is parsed when a kernel that calls it is compiled.

    Numba parses it when it loads the kernel: half of the time that this takes, for code that nobody needs if the
    callers come from disk, too.

    Args:
        bitcode: The code.
        engine: Numba's engine, which keeps the names of all symbols.
    """

    def __init__(self, bitcode: bytes, engine: Any) -> None:  # noqa: ANN401 - Numba's have no types
        self._bitcode, self._engine, self._parsed = bitcode, engine, None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - llvmlite's modules have no types
        if self._parsed is None:
            self._parsed = llvm.parse_bitcode(self._bitcode)
            self._engine._load_defined_symbols(self._parsed)
        return getattr(self._parsed, name)


@cache
def _empty_bitcode() -> bytes:
    return cast("bytes", llvm.parse_assembly("").as_bitcode())


def _rebuild(plain: Callable[..., Any], context: Any, payload: Any) -> Any:  # noqa: ANN401 - Numba's have no types
    """Make a kernel out of what is on disk, as Numba does, but parse its intermediate code later."""
    match payload:
        case ((name, "object", (bytes(code), bytes(bitcode))), described, *rest) if (
            numba.__version__.startswith(LATE)
        ):
            engine = context.codegen()._engine
            names = (described.llvm_func_name, described.llvm_cpython_wrapper_name, described.env_name)
            engine._defined_symbols |= {one for one in names if one.encode() in code}
            made = plain(context, ((name, "object", (code, _empty_bitcode())), described, *rest))
            made.library._shared_module = SharedModule(bitcode, engine)
            return made
    return plain(context, payload)


@cache
def _stamp(module: str) -> tuple[tuple[int, int], ...]:
    """Return a value that changes with any file whose kernels are part of those of ``module``."""
    states = [Path(file).stat() for file in sorted(_sources(module, {}).values())]
    return tuple((state.st_mtime_ns, state.st_size) for state in states)


def follow_sources(compiled: Any) -> None:  # noqa: ANN401 - Numba's dispatcher has no type
    """Make a kernel that Numba keeps on disk depend on the files of all kernels that it calls.

    Numba builds kernels into those that call them, but would look for changes in the caller's file only, and go on
    with the old versions of the others.

    Args:
        compiled: The kernel. Everything that it uses is imported above it.
    """
    on_disk = compiled._cache
    on_disk._impl.rebuild = partial(_rebuild, on_disk._impl.rebuild)
    stamp = _stamp(compiled.py_func.__module__)
    on_disk._cache_file = _Index(on_disk.cache_path, on_disk._impl.filename_base, stamp)
