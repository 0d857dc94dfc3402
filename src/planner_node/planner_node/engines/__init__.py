"""Planning engines that ship with Handiwork. Importing this package is light: an engine loads when it is created."""

from __future__ import annotations

from handiwork_core.planning import Engine

from .cpu_engine import CpuEngine

ENGINES: tuple[type[Engine], ...] = (CpuEngine,)
"""Built-in engines; more come in by entry points of group ``handiwork.engines``."""
