"""The page of one recorded failure: its world at any time, the planned motions, and what happened in words."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from handiwork_core.bundles.bundle import Bundle
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.robot import Robot
from handiwork_viz.view.model.replay import active_call, ghost_positions, instants_of, moment_html
from handiwork_viz.view.model.scene_state import bodies_of
from handiwork_viz.view.model.texts import lines_html

from .scene_view import SceneView
from .server import serve
from .world_panels import add_layers

STEP_S = 0.05
LEAD_S = 2.0
"""The time before the goal at which the page begins to play, s."""


class BundlePage:
    """Serves the page of a bundle until ``close``. It sends nothing to any robot.

    Args:
        bundle: The bundle, with at least one snapshot.
        robot: Its robot.
        folder: Folder of the robot's description, with the meshes.
        texts: What happened, and what the replay gave, a sentence each.
        plan: The motions that were planned with other parameters, which the ghost goes through; empty for none.
        host: Address to serve at.
        port: Port to serve at; the next free one where it is taken.
        simple_lighting: Draw no shadows and no reflections at first.

    Raises:
        PageNotGuarded: The installed viser cannot be guarded.
        ImportError: viser is not installed.
    """

    def __init__(
        self,
        bundle: Bundle,
        robot: Robot,
        folder: Path,
        texts: Sequence[str],
        plan: Sequence[Trajectory],
        host: str,
        port: int,
        *,
        simple_lighting: bool = False,
    ) -> None:
        self._bundle, self._robot, self._plan = bundle, robot, plan
        self._instants = instants_of(bundle)
        self._times_s = [one.at_s for one in self._instants]
        self._closing, self._lock = threading.Event(), threading.Lock()
        self._is_playing = False
        self.server = serve(host, port, "", simple_lighting=simple_lighting)
        self._simple_lighting = simple_lighting
        self._scene = SceneView(self.server, robot, folder, lambda *_: None)
        self._add_inputs(texts)
        self.show(self._times_s[-1])

    @property
    def port(self) -> int:
        """The page's port."""
        return int(self.server.get_port())

    def close(self) -> None:
        """End the page."""
        self._closing.set()
        self.server.stop()

    def _add_inputs(self, texts: Sequence[str]) -> None:
        gui, first_s, last_s = self.server.gui, self._times_s[0], self._times_s[-1]
        gui.add_html(lines_html(texts))
        self._time = gui.add_slider(
            "time [s]",
            first_s,
            max(last_s, first_s + STEP_S),
            STEP_S / 5.0,
            last_s,
            hint="0: the goal begins",
        )
        self._time.on_update(lambda _event: self.show(self._time.value))
        gui.add_button("Play", color="green").on_click(lambda _event: self._play())
        self._moment = gui.add_html("")
        with gui.add_folder("show", expand_by_default=False):
            add_layers(self.server, self._scene, simple_lighting=self._simple_lighting)

    def _play(self) -> None:
        with self._lock:
            if self._is_playing:
                return
            self._is_playing = True
        threading.Thread(target=self._go_on, name="play", daemon=True).start()

    def _go_on(self) -> None:
        """Move the slider in real time; from shortly before the goal where it stands at the end."""
        at_s = self._time.value
        if at_s >= self._times_s[-1] - STEP_S:
            at_s = max(self._times_s[0], -LEAD_S)
        while not self._closing.wait(STEP_S) and at_s < self._times_s[-1]:
            at_s = min(self._times_s[-1], at_s + STEP_S)
            self._time.value = at_s  # which calls ``show``
        self._is_playing = False

    def show(self, at_s: float) -> None:
        """Show the world at a time.

        Args:
            at_s: Time after the begin of the goal, s.
        """
        with self._lock:
            index = max(0, bisect_right(self._times_s, at_s + 1e-9) - 1)
            # An unset version is what the scene begins with.
            world = self._instants[index].world
            world = replace(world, version=world.version + 1)
            call = active_call(self._bundle, at_s)
            self._scene.update(world)
            self._scene.draw_contacts(world)
            self._scene.draw_suction(world.suction)
            self._scene.draw_ghost_at(world, ghost_positions(call, self._plan, at_s))
            is_end = at_s >= self._bundle.ended_s - self._bundle.began_s - STEP_S
            self._scene.mark(bodies_of(self._bundle.head.outcome.blocking) if is_end else ())
            self._moment.content = moment_html(self._bundle, call, at_s)
