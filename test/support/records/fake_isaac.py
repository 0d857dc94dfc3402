"""A stand-in for the entry points of Isaac Sim that the bring-up script calls: it records the calls, in order.

The stage that it opens is a real one. It shows that the calls are made, in this order and with these values; only
Isaac Sim itself can show their effect.
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from pxr import Usd

GRIPPERS = {"Open": (), "Closed": ("/World/Objects/carton",)}


class FakeIsaac:
    """Puts the modules of one version into ``sys.modules``, and records the calls."""

    def __init__(self, patch: pytest.MonkeyPatch, version: str) -> None:
        self.calls: list[str] = []
        self.graphs: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self.status = "Open"
        self.report: tuple[list[Any], list[Any]] = ([], [])
        self._patch = patch
        enabler = "isaacsim.core.experimental.utils" if version.startswith("6") else "isaacsim.core.utils"
        helper = "app" if version.startswith("6") else "extensions"
        self._add("isaacsim", SimulationApp=self._app)
        self._add("isaacsim.core.version", get_version=lambda: (version, "", *version.split(".")[:3]))
        self._add(enabler, **{helper: SimpleNamespace(enable_extension=self._say("enable"))})
        manager = SimpleNamespace(set_physics_sim_device=self._say("device"))
        self._add("isaacsim.core.simulation_manager", SimulationManager=manager)
        settings = SimpleNamespace(set=self._say("set"))
        self._add("carb", settings=SimpleNamespace(get_settings=lambda: settings))
        self._add(
            "omni.usd", get_context=lambda: SimpleNamespace(open_stage=self._open, get_stage=self._stage)
        )
        self._add("omni.timeline", get_timeline_interface=lambda: self._timeline())
        self._add("omni.graph.core", Controller=self._controller(), GraphPipelineStage=_Names())
        self._add("usdrt.Sdf", Path=lambda text: ("path", text))
        physx = SimpleNamespace(get_contact_report=lambda: self.report)
        self._add("omni.physx", get_physx_simulation_interface=lambda: physx)
        grippers = SimpleNamespace(
            open_gripper=self._say("open"),
            close_gripper=self._say("close"),
            get_gripper_status=lambda _path: f"GripperStatus.{self.status}",
            get_gripped_objects=lambda _path: list(GRIPPERS[self.status]),
        )
        inner = SimpleNamespace(acquire_surface_gripper_interface=lambda: grippers)
        self._add("isaacsim.robot.surface_gripper", _surface_gripper=inner)

    def _add(self, name: str, **members: object) -> None:
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            path = ".".join(parts[:end])
            if path not in sys.modules or sys.modules[path] is None:
                self._patch.setitem(sys.modules, path, ModuleType(path))
            if end > 1:
                self._patch.setattr(
                    sys.modules[".".join(parts[: end - 1])], parts[end - 1], sys.modules[path], raising=False
                )
        for key, value in members.items():
            self._patch.setattr(sys.modules[name], key, value, raising=False)

    def _say(self, word: str) -> Any:
        return lambda *values: self.calls.append(" ".join([word, *map(str, values)]))

    def _app(self, config: dict[str, Any]) -> Any:
        self.calls.append(f"app {config}")
        return SimpleNamespace(
            update=self._say("update"), close=self._say("close app"), is_running=lambda: False
        )

    def _open(self, path: str) -> bool:
        self.calls.append(f"stage {path}")
        self.stage = Usd.Stage.Open(path)
        return True

    def _stage(self) -> Usd.Stage:
        return self.stage

    def _timeline(self) -> Any:
        names = (
            "play",
            "pause",
            "stop",
            "forward_one_frame",
            "set_target_framerate",
            "set_time_codes_per_second",
        )
        return SimpleNamespace(**{name: self._say(name) for name in names})

    def _controller(self) -> Any:
        def edit(settings: dict[str, Any], changes: dict[str, Any]) -> None:
            self.calls.append("graph")
            self.graphs.append((settings, changes))

        return SimpleNamespace(Keys=_Names(), edit=edit, attribute=lambda path: path, get=lambda path: 1.5)


class _Names:
    """Constants whose values are their names."""

    def __getattr__(self, name: str) -> str:
        return name
