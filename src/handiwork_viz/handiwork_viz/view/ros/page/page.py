"""The page on a running stack: it begins at once, and shows what is there as it comes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.skill import Skill
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from handiwork_ros.actions.skill_report import SkillPreview
from handiwork_viz.view.model.scene_state import (
    Pace,
    bodies_of,
    motion_positions,
    positions_along,
)
from handiwork_viz.view.ros.condition_drawings import belts, candidates, drawings
from handiwork_viz.view.ros.stack_link import StackLink, now_s
from skill_server.params.registry import load_catalog
from skill_server.skills import BUILTIN

from .commands import Commands
from .run_panel import RunPanel
from .scene_view import SceneView
from .server import serve
from .world_panels import SimulationPanel, StatePanel, TaskPanel, add_layers

if TYPE_CHECKING:
    import viser

SCENE_PERIOD_S = 1.0 / 30.0
SHORTEST_S = 0.005
"""The shortest pause between two pictures: a machine that is too slow gets fewer of them."""
TEXT_EVERY = 6
"""Texts are looked at with every sixth picture of the scene."""
REST_S = 5.0
"""Pause between two checks for an open browser, s; a new browser ends it at once."""
GHOST_S = 3.0
"""Time in which the ghost of a preview goes through the whole plan, s."""


class ViewPage:
    """Serves the page until ``close``. It never moves anything by itself, and its end leaves every goal alone.

    Attributes:
        server: The page's server.

    Args:
        host: Address to serve at.
        port: Port to serve at; the next free one where it is taken.
        token: Token that a browser must have; empty: none.
        tasks: Folder of task files that are offered.
        on_ready: Called with the robot's name once it is shown and goals can be sent.
        simple_lighting: Draw no shadows and no reflections at first.

    Raises:
        PageNotGuarded: The installed viser cannot be guarded.
        ImportError: viser is not installed.
    """

    def __init__(
        self,
        host: str,
        port: int,
        token: str,
        tasks: Path,
        on_ready: Callable[[str], None],
        *,
        simple_lighting: bool = False,
    ) -> None:
        self.server: viser.ViserServer = serve(host, port, token, simple_lighting=simple_lighting)
        self._simple_lighting = simple_lighting
        self._on_ready = on_ready
        self._tasks, self._closing = tasks, threading.Event()
        self._looked_at = threading.Event()
        self._pace, self._link = Pace(), StackLink()
        self._commands = Commands(self.server)
        self._drag = ObjectDrag(self._link, self._commands)
        self._preview: tuple[SkillPreview, float] | None = None
        self._drawn: Any = None
        self._rejected: Any = None
        self._belts: Any = None
        self._unmodelled: Any = None
        self._scene: SceneView | None = None
        self._run: RunPanel | None = None
        self._simulation: SimulationPanel | None = None
        self._state = StatePanel(self.server, self._link)
        self._wait = self.server.gui.add_markdown("Waiting for `robot_description` of a running stack …")
        self.server.on_client_connect(lambda _client: self._looked_at.set())
        self._thread = threading.Thread(target=self._serve, name="view", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """The page's port."""
        return int(self.server.get_port())

    def close(self) -> None:
        """End the page. Goals that run go on."""
        self._closing.set()
        self._looked_at.set()
        self._thread.join(5.0)
        self.server.stop()
        self._link.close()

    def _serve(self) -> None:
        self._link.wake()
        try:
            found = self._link.find_robot(self._closing.is_set)
        except ConfigError as error:
            self._wait.content = f"**The robot cannot be read.** {error}"
            return
        if found is None:
            return
        robot, folder = found
        skills = dict(load_catalog(BUILTIN).skills)
        self._link.watch(robot)
        self._add_parts(robot, folder, skills)
        self._on_ready(robot.name)
        turn, due_s = 0, now_s()
        while not self._closing.wait(max(0.0, due_s - now_s())):
            if not self.server.get_clients():
                self._rest()
                continue
            due_s = max(due_s + SCENE_PERIOD_S, now_s() + SHORTEST_S)
            self._link.wake()
            try:
                self._turn(turn)
            except Exception as error:  # noqa: BLE001 - one bad snapshot must not end the page
                self._commands.tell("page", f"{type(error).__name__}: {error}")
                self._closing.wait(1.0)
            turn += 1

    def _rest(self) -> None:
        """Do nothing while nobody looks: after a moment the nodes leave, and come back with the next browser."""
        self._link.draw(False)
        self._looked_at.clear()
        if self.server.get_clients() or self._closing.is_set():
            return
        if not self._looked_at.wait(REST_S) and self._link.is_awake:
            self._link.rest()

    def _add_parts(self, robot: Robot, folder: Path, skills: dict[str, Skill[Any]]) -> None:
        server, link = self.server, self._link
        self._robot = robot
        self._scene = SceneView(server, robot, folder, self._drag.on_drag)
        self._drag.scene = self._scene
        self._wait.remove()
        tabs = server.gui.add_tab_group()
        with tabs.add_tab("Run"):
            self._run = RunPanel(server, link, robot, skills, self._commands, self._take_preview)
        with tabs.add_tab("Task"):
            TaskPanel(server, link, self._commands, self._tasks)
        with tabs.add_tab("Simulation"):
            self._simulation = SimulationPanel(server, link, self._commands)
        with tabs.add_tab("Show"):
            add_layers(server, self._scene, simple_lighting=self._simple_lighting)

    def _turn(self, turn: int) -> None:
        world = self._link.world()
        if world is None or self._scene is None or self._run is None or self._simulation is None:
            return
        self._pace.see(world.joints.stamp_s, now_s())
        self._scene.update(world, dragged=self._drag.name)
        self._draw_ghost(world)
        if turn % TEXT_EVERY == 0:
            self._run.update(world)
            self._state.update(world, self._pace)
            self._simulation.update(self._pace, has_simulation=self._link.has_simulation())
            self._scene.draw_contacts(world)
            self._scene.draw_suction(world.suction)
            self._mark_failure()
            self._draw_markers()

    def _mark_failure(self) -> None:
        """Draw the pair that touched in red until the next goal begins."""
        assert self._scene is not None
        goals = self._link.board.all()
        newest = goals[0] if goals else None
        end = newest.end if newest is not None and not newest.state.is_running else None
        self._scene.mark(bodies_of(end.blocking if end is not None else None))

    def _draw_markers(self) -> None:
        scene, link = self._scene, self._link
        assert scene is not None
        link.draw(any(scene.is_on(layer) for layer in ("conditions", "candidates", "ghost")))
        if link.belts is not None and (link.belts is not self._belts or scene.has_new_objects):
            self._belts, scene.has_new_objects = link.belts, False
            scene.draw_belts(belts(link.belts))
        if link.unmodelled is not self._unmodelled:
            self._unmodelled = link.unmodelled
            scene.draw_unmodelled(link.unmodelled)
        message = link.markers
        if message is not None and message is not self._drawn and scene.is_on("conditions"):
            self._drawn = message
            scene.draw_conditions(*drawings(message))
        rejected = link.candidates if link.board.running() else None
        if rejected is not self._rejected:
            self._rejected = rejected
            scene.draw_candidates([] if rejected is None else candidates(rejected))

    def _take_preview(self, plan: SkillPreview | None) -> None:
        self._preview = None if plan is None or not plan.motions else (plan, now_s())
        if self._preview is None and self._scene is not None:
            self._scene.draw_ghost(None)

    def _draw_ghost(self, world: World) -> None:
        """Draw the end of the motion that runs, or let the ghost go through the newest preview, again and again."""
        scene, motion = self._scene, self._link.motion
        if scene is None:
            return
        if self._preview is not None:
            plan, begun_s = self._preview
            share = ((now_s() - begun_s) % (1.5 * GHOST_S)) / GHOST_S
            positions = positions_along([one.trajectory for one in plan.motions], min(share, 1.0))
        elif motion is not None and self._link.board.running():
            positions = motion_positions(motion, 1.0)
        else:
            positions = {}
        scene.draw_ghost_at(world, positions)


class ObjectDrag:
    """Moves an object of the simulation with the mouse: it follows, and is put there about twenty times a second.

    Args:
        link: The connection to the stack.
        commands: Shows faults.
    """

    def __init__(self, link: StackLink, commands: Commands) -> None:
        self._link, self._commands = link, commands
        self.scene: SceneView | None = None
        self.name = ""
        self._begun: Pose | None = None
        self._first: Array = np.zeros(3)
        self._wanted: Pose | None = None
        self._is_sending = False
        self._lock = threading.Lock()

    def on_drag(self, name: str, phase: str, grasped_m: Array, mouse_m: Array) -> None:
        """Take an event of the mouse.

        Args:
            name: Name of the object.
            phase: ``start``, ``update`` or ``end``.
            grasped_m: Point of the object below the mouse, (3,), m.
            mouse_m: Point to which the mouse draws it, (3,), m.
        """
        world = self._link.world()
        if world is None or self.scene is None or name not in world.states:
            return
        if phase == "start" or self._begun is None or self.name != name:
            self.name, self._begun, self._first = name, world.states[name].world_T_object, grasped_m
        begun = self._begun
        self._wanted = Pose.of(begun.translation_m + mouse_m - self._first, begun.rotation)
        self.scene.place_object(name, self._wanted)
        self._send(name)
        if phase == "end":
            self.name, self._begun = "", None

    def _send(self, name: str) -> None:
        with self._lock:
            if self._is_sending:
                return
            self._is_sending = True
        self._commands.start(f"move {name}", lambda: self._follow(name))

    def _follow(self, name: str) -> str:
        """Send the newest place until it is sent."""
        try:
            while True:
                wanted = self._wanted
                assert wanted is not None
                if fault := self._link.move_object(name, wanted):
                    return fault
                if self._wanted is wanted:
                    return ""
        finally:
            self._is_sending = False
