"""The built-in skills. Plug-ins come by entry point in group ``handiwork.skills``."""

from __future__ import annotations

from .pick import Pick
from .place import Place

BUILTIN = (Pick, Place)
