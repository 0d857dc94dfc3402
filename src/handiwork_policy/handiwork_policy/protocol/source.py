"""Loads a policy from a file or a module, to be served."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from .errors import PolicyError
from .policy import Policy
from .server import FunctionPolicy

METHODS = ("metadata", "infer", "reset")


def load_policy(source: str) -> Policy:
    """Make a policy by a function without arguments.

    Args:
        source: ``FILE.py:factory`` or ``package.module:factory``. The factory returns a policy, or a function that
            returns the chunk of actions, (h, d), of an observation.

    Raises:
        PolicyError: There is no such function, it failed, or it returns something else.
    """
    place, _, name = source.rpartition(":")
    if not place or not name.isidentifier():
        raise PolicyError(f"policy is {source!r}; write FILE.py:factory or package.module:factory", "policy")
    factory = getattr(_module(place), name, None)
    if not callable(factory):
        raise PolicyError(f"{place} has no function {name!r}; write the name of one that it has", "policy")
    try:
        made = cast("Callable[[], Any]", factory)()
    except Exception as error:
        raise PolicyError(
            f"{source} failed ({type(error).__name__}: {error}); correct it", "policy"
        ) from error
    if all(callable(getattr(made, method, None)) for method in METHODS):
        return cast("Policy", made)
    if callable(made):
        return FunctionPolicy(made)
    text = f"{source} returned a {type(made).__name__}"
    raise PolicyError(f"{text}; return a function of the observation, or an object with {METHODS}", "policy")


def _module(place: str) -> ModuleType:
    path = Path(place)
    if path.suffix != ".py":
        try:
            return importlib.import_module(place)
        except ImportError as error:
            raise PolicyError(
                f"module {place!r} cannot be imported: {error}; correct its name", "policy"
            ) from error
    if not path.is_file():
        raise PolicyError(f"{place} is no file; write the path of a Python file", "policy")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up there
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        text = f"{place} cannot be imported ({type(error).__name__}: {error}); correct it"
        raise PolicyError(text, "policy") from error
    return module
