"""Compiled CUDA kernels on disk: cuRobo keeps its own in memory only, so that every start would compile them again."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def keep_kernels(folder: Path) -> None:
    """Make cuRobo's compiler read kernels from ``folder`` first, and write there what it compiles.

    Files there are trusted like any installed code. Where the installed cuda-core cannot load a stored kernel,
    everything is compiled as before.

    Args:
        folder: Folder of the stored kernels.
    """
    from curobo._src.curobolib.backends.cuda_core_backend import kernel_cache

    cache = kernel_cache.CudaCoreKernelCache
    if getattr(cache, "_handiwork_store", None) is not None:
        return
    compiled = cache._compile_kernel

    def stored(self: Any, sources: Any, name: str, includes: Any, flags: Any) -> Any:  # noqa: ANN401
        file = folder / f"{_key(self, sources, name, includes, flags)}.kernel"
        kernel = _read(file, name)
        if kernel is None:
            with _modules() as modules:
                kernel = compiled(self, sources, name, includes, flags)
            if modules:
                _write(file, modules[-1])
        return kernel

    cache._compile_kernel = stored
    cache._handiwork_store = folder


@contextmanager
def _modules() -> Iterator[list[Any]]:
    """Yield a list of the modules that are compiled in the context.

    cuRobo's compiler returns the kernel, not the module that can be stored.
    """
    import cuda.core

    program, modules = cuda.core.Program, []

    class Watched:
        def __init__(self, *given: Any, **options: Any) -> None:
            self._program = program(*given, **options)

        def compile(self, *given: Any, **options: Any) -> Any:  # noqa: ANN401
            modules.append(self._program.compile(*given, **options))
            return modules[-1]

    cuda.core.Program = Watched
    try:
        yield modules
    finally:
        cuda.core.Program = program


def _key(cache: Any, sources: Any, name: str, includes: Any, flags: Any) -> str:  # noqa: ANN401
    """Return a digest of the sources, all headers beside them, the kernel's name and flags, GPU and compiler."""
    from importlib.metadata import version

    digest = hashlib.sha256(cache.get_kernel_hash(sources, name, flags).encode())
    for folder in sorted({Path(folder) for folder in includes}):
        if "curobo" in folder.parts or "kernels" in folder.parts:
            for file in sorted(folder.rglob("*.cuh")) + sorted(folder.rglob("*.h")):
                digest.update(file.read_bytes())
    digest.update(version("cuda-core").encode())
    return digest.hexdigest()


def _read(file: Path, name: str) -> Any | None:  # noqa: ANN401
    if not file.is_file():
        return None
    try:
        return pickle.loads(file.read_bytes()).get_kernel(name)
    except Exception:  # noqa: BLE001 - a cache that cannot be read is no cache
        return None


def _write(file: Path, module: Any) -> None:  # noqa: ANN401
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(f".{os.getpid()}")
    partial.write_bytes(pickle.dumps(module))
    partial.replace(file)
