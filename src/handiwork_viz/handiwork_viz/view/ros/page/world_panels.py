"""The tabs for the simulation, for task files, for layers, and the panel of conditions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.world import World
from handiwork_viz.view.model.scene_state import Pace
from handiwork_viz.view.model.texts import conditions_html, end_html, network_html, nodes_html, progress_html
from handiwork_viz.view.ros.stack_link import StackLink
from skill_server.task.reading.robot_files import with_robot_files

from .commands import Commands
from .scene_view import LAYERS, SceneView
from .server import PANEL_PX, set_lighting

if TYPE_CHECKING:
    import viser

SPEEDS = {"0.25 x": 0.25, "0.5 x": 0.5, "1 x": 1.0, "2 x": 2.0, "5 x": 5.0, "as fast as possible": 0.0}
LARGEST_TASK = 200_000
"""The size of a task file that is read, in bytes."""
UPLOADED = 20
"""Task files of browsers that are kept; the oldest go first."""


class SimulationPanel:
    """Pause, step, reset, randomise and speed of a simulation; says so where the robot is real.

    Args:
        server: The page's server.
        link: The connection to the stack.
        commands: Runs the work of buttons.
    """

    def __init__(self, server: viser.ViserServer, link: StackLink, commands: Commands) -> None:
        self._link, self._commands, gui = link, commands, server.gui
        self._pace_text = gui.add_markdown("")
        self._parts: list[Any] = []
        self._pause = self._button(gui, "Pause", lambda: link.pause(True))
        self._go_on = self._button(gui, "Continue", lambda: link.pause(False))
        self._step_s = gui.add_number("step [s]", 0.1, min=0.002, max=10.0, step=0.002)
        self._button(gui, "Step", lambda: link.step(self._step_s.value))
        self._seed = gui.add_number("seed", 0, min=0, max=2**31 - 1, step=1)
        self._button(gui, "Reset", lambda: link.reset(0, is_random=False))
        self._button(gui, "Randomise", self._randomise)
        speed = gui.add_dropdown("speed", tuple(SPEEDS), initial_value="1 x")
        speed.on_update(lambda _event: commands.start("speed", lambda: link.set_speed(SPEEDS[speed.value])))
        self._button(gui, "Recover after Stop all", link.recover)
        gui.add_markdown("Drag an object in the scene with the mouse to move it.")
        self._parts += [self._step_s, self._seed, speed]

    def _button(self, gui: viser.GuiApi, title: str, work: Any) -> Any:
        made = gui.add_button(title)
        made.on_click(lambda _event: self._commands.start(title, work))
        self._parts.append(made)
        return made

    def _randomise(self) -> str:
        seed = int(self._seed.value)
        fault = self._link.reset(seed, is_random=True)
        self._seed.value = seed + 1
        return fault

    def update(self, pace: Pace, *, has_simulation: bool) -> None:
        """Show the pace of time.

        Args:
            pace: The pace.
            has_simulation: False for a real robot.
        """
        text = (
            f"Simulation: **{pace.text()}**" if has_simulation else "This stack does not simulate its world."
        )
        if self._pace_text.content != text:
            self._pace_text.content = text
            for part in self._parts:
                part.disabled = not has_simulation
            self._pause.disabled = not has_simulation or pace.is_paused
            self._go_on.disabled = not has_simulation or not pace.is_paused


class TaskPanel:
    """Checks and runs task files.

    Args:
        server: The page's server.
        link: The connection to the stack.
        commands: Runs the work of buttons.
        folder: Folder of task files that are offered.
    """

    def __init__(self, server: viser.ViserServer, link: StackLink, commands: Commands, folder: Path) -> None:
        self._link, self._commands, gui = link, commands, server.gui
        self._files = {path.name: path for path in sorted(folder.glob("*.yaml"))}
        self._uploaded: dict[str, str] = {}
        self._choice = gui.add_dropdown("task file", tuple(self._files) or ("",))
        upload = gui.add_upload_button("Open a file of this computer", mime_type=".yaml,.yml")
        upload.on_upload(lambda _event: self._take(upload.value.name, upload.value.content))
        gui.add_button("Check", color="blue").on_click(lambda _event: self._start(check_only=True))
        gui.add_button("Run task", color="green").on_click(lambda _event: self._start(check_only=False))
        self._answer = gui.add_html("")

    def _take(self, name: str, content: bytes) -> None:
        try:
            if len(content) > LARGEST_TASK:
                raise ValueError(f"has {len(content)} bytes; a task file has at most {LARGEST_TASK}")
            text = content.decode()
        except ValueError as error:
            self._commands.tell(name, f"{name}: {error}")
            return
        self._uploaded.pop(name, None)
        self._uploaded[name] = text
        while len(self._uploaded) > UPLOADED:
            del self._uploaded[next(iter(self._uploaded))]
        self._choice.options = (*self._files, *self._uploaded)
        self._choice.value = name

    def _start(self, *, check_only: bool) -> None:
        name = self._choice.value

        def work() -> str | None:
            if not self._link.is_ready():
                return "skill_server is not active; wait until it is, or start the stack"
            report = self._link.run_task(self._text(name), name, check_only=check_only)
            outcome = report.outcome
            words = outcome.message or ("every step is valid" if check_only else "done")
            self._answer.content = end_html(outcome.code.name, words, (*report.faults, *report.notes))
            return None

        self._commands.start(f"task {name}", work)

    def _text(self, name: str) -> str:
        if name in self._uploaded:
            return self._uploaded[name]
        path = self._files.get(name)
        if path is None:
            raise ConfigError("task file", [f"{name!r} is not there; choose another"])
        return with_robot_files(path.read_text(encoding="utf-8"), path)


def add_layers(server: viser.ViserServer, scene: SceneView, *, simple_lighting: bool) -> None:
    """Add a switch for each layer of the scene, and one for its lighting.

    Args:
        server: The page's server.
        scene: The scene.
        simple_lighting: The scene has no shadows and reflections now.
    """
    for layer in LAYERS:
        box = server.gui.add_checkbox(layer, scene.is_on(layer))
        box.on_update(lambda _event, layer=layer, box=box: scene.show(layer, box.value))
    hint = "without them a browser that has no GPU draws several times as fast"
    lit = server.gui.add_checkbox("shadows and reflections", not simple_lighting, hint=hint)
    lit.on_update(lambda _event: set_lighting(server, is_simple=not lit.value))


class StatePanel:
    """The panel beside the scene: conditions, task progress, decider network, nodes.

    Args:
        server: The page's server.
        link: The connection to the stack.
    """

    def __init__(self, server: viser.ViserServer, link: StackLink) -> None:
        self._link = link
        panel = server.gui.add_panel()
        with panel.add_tab("Conditions"):
            self._conditions = server.gui.add_html("")
        with panel.add_tab("Progress"):
            self._progress = server.gui.add_html("")
        with panel.add_tab("Decider"):
            self._network = server.gui.add_html("")
        with panel.add_tab("Nodes"):
            self._nodes = server.gui.add_html("")
        panel.dock_left()
        panel.set_width(PANEL_PX)

    def update(self, world: World | None, pace: Pace) -> None:
        """Show the newest messages.

        Args:
            world: The snapshot; None before the first.
            pace: Pace of the world's time.
        """
        link, stamp_s = self._link, 0.0 if world is None else world.stamp_s
        rows = () if link.conditions is None else link.conditions.conditions
        cups = {} if world is None else world.suction
        for part, text in (
            (self._conditions, conditions_html(rows, stamp_s)),
            (self._progress, progress_html(link.progress)),
            (self._network, network_html(link.network)),
            (self._nodes, nodes_html(_states(link.nodes), pace.text(), cups)),
        ):
            if part.content != text:
                part.content = text


def _states(nodes: Mapping[str, tuple[int, str]]) -> dict[str, tuple[int, str]]:
    return dict(nodes)
