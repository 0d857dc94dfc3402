"""Planning engines that ship with Handiwork. Importing this package is light: an engine loads when it is created."""

from __future__ import annotations

from handiwork_core.contracts.planning import Engine
from handiwork_planning.cpu_engine import CpuEngine

from .curobo_engine import CuroboEngine, FinetunedCuroboEngine, SeededCuroboEngine

__all__ = ["ENGINES", "CpuEngine", "CuroboEngine", "FinetunedCuroboEngine", "SeededCuroboEngine"]

ENGINES: tuple[type[Engine], ...] = (CpuEngine, CuroboEngine, SeededCuroboEngine, FinetunedCuroboEngine)
"""The built-in engines. Entry points of group ``handiwork.engines`` add others."""
