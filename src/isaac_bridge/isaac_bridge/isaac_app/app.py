"""All calls of Isaac Sim itself; few, because only a run in Isaac Sim can show that they work."""

# ruff: noqa: ANN401 Isaac Sim has no types that could be named here

from __future__ import annotations

from typing import Any

from handiwork_core.isaac_wire import FRAME_S
from isaac_bridge.graph.model import Graph, Targets

from .versions import UnsupportedError

FRAME_HZ = 1.0 / FRAME_S
"""The frames of the application in each simulated second; the stage gives the number of physics steps."""
SAY_ALWAYS = "/exts/isaacsim.ros2.bridge/publish_without_verification"


class IsaacApp:
    """Isaac Sim in this process; the application starts with it.

    Args:
        headless: Whether to run without a window.

    Raises:
        UnsupportedError: This Python is not that of Isaac Sim.
    """

    def __init__(self, *, headless: bool) -> None:
        try:
            from isaacsim import SimulationApp
        except ImportError as error:
            raise UnsupportedError(
                "This Python has no Isaac Sim: run it by Isaac Sim's python.sh."
            ) from error
        self._app: Any = SimulationApp({"headless": headless})
        self._graph = ""

    def version(self) -> str:
        """Return the version, such as ``5.1.0``; empty when it cannot be found."""
        try:
            from isaacsim.core.version import get_version
        except ImportError:
            return ""
        return str(get_version()[0])

    def publish_always(self) -> None:
        """Make the bridge publish also without subscribers, so that none misses the start."""
        import carb

        carb.settings.get_settings().set(SAY_ALWAYS, True)

    def enable(self, extension: str) -> None:
        """Enable an extension, by the helper that this version has.

        Args:
            extension: Name of the extension.
        """
        try:
            from isaacsim.core.experimental.utils import app as helper
        except ImportError:
            from isaacsim.core.utils import extensions as helper
        helper.enable_extension(extension)

    def update(self) -> None:
        """Run one frame."""
        self._app.update()

    def open_stage(self, path: str) -> Any:
        """Open a file.

        Args:
            path: The file.

        Returns:
            The stage.

        Raises:
            UnsupportedError: Isaac Sim cannot open it.
        """
        import omni.usd

        context = omni.usd.get_context()
        if not context.open_stage(path):
            raise UnsupportedError(f"Isaac Sim cannot open {path}: read its log.")
        return context.get_stage()

    def build(self, graph: Graph) -> None:
        """Build a graph that runs in each physics step.

        Args:
            graph: The graph.
        """
        import omni.graph.core as og
        import usdrt.Sdf

        def plain(value: Any) -> Any:
            return [usdrt.Sdf.Path(path) for path in value.paths] if isinstance(value, Targets) else value

        keys = og.Controller.Keys
        stage = og.GraphPipelineStage.GRAPH_PIPELINE_STAGE_ONDEMAND
        og.Controller.edit(
            {"graph_path": graph.path, "evaluator_name": "execution", "pipeline_stage": stage},
            {
                keys.CREATE_NODES: [(node.name, node.type) for node in graph.nodes],
                keys.SET_VALUES: [
                    (f"{node.name}.inputs:{name}", plain(value))
                    for node in graph.nodes
                    for name, value in node.values
                ],
                keys.CONNECT: [
                    (f"{k.source}.outputs:{k.output}", f"{k.sink}.inputs:{k.input}") for k in graph.links
                ],
            },
        )
        self._graph = graph.path

    def time_s(self) -> float:
        """Return the simulated time of the graph's clock, s."""
        import omni.graph.core as og

        return float(og.Controller.get(og.Controller.attribute(f"{self._graph}/Time.outputs:simulationTime")))

    def compute_on_cpu(self) -> None:
        """Run the physics on the processor, which joint states and surface grippers need."""
        from isaacsim.core.simulation_manager import SimulationManager

        SimulationManager.set_physics_sim_device("cpu")
        self._timeline().set_target_framerate(FRAME_HZ)
        self._timeline().set_time_codes_per_second(FRAME_HZ)

    def play(self) -> None:
        """Start the physics, or continue it."""
        self._timeline().play()

    def pause(self) -> None:
        """Pause the physics."""
        self._timeline().pause()

    def stop(self) -> None:
        """Stop the physics: joints return to their positions on the stage."""
        self._timeline().stop()

    def step(self) -> None:
        """Run one frame while paused."""
        self._timeline().forward_one_frame()
        self.update()

    def is_running(self) -> bool:
        """Return False after the window was closed."""
        return bool(self._app.is_running())

    def close(self) -> None:
        """End the application."""
        self._app.close()

    def contact_report(self) -> tuple[Any, Any]:
        """Return headers and points of the contacts in the last physics step."""
        from omni.physx import get_physx_simulation_interface

        headers, points = get_physx_simulation_interface().get_contact_report()
        return headers, points

    def path_of(self, number: int) -> str:
        """Return the prim's path of a collider in a contact report.

        Args:
            number: Number of the collider.
        """
        from pxr import PhysicsSchemaTools

        return str(PhysicsSchemaTools.intToSdfPath(number))

    def switch(self, gripper: str, *, close: bool) -> None:
        """Close or open a surface gripper.

        Args:
            gripper: Path of the gripper.
            close: Whether to close it.
        """
        grippers = self._grippers()
        (grippers.close_gripper if close else grippers.open_gripper)(gripper)

    def gripper(self, path: str) -> tuple[str, tuple[str, ...]]:
        """Return the status of a surface gripper (``Open``, ``Closing``, ``Closed``), and the prims that it holds.

        Args:
            path: Path of the gripper.
        """
        grippers = self._grippers()
        status = str(grippers.get_gripper_status(path)).rpartition(".")[2]
        return status, tuple(map(str, grippers.get_gripped_objects(path)))

    def _grippers(self) -> Any:
        from isaacsim.robot.surface_gripper import _surface_gripper

        return _surface_gripper.acquire_surface_gripper_interface()

    def _timeline(self) -> Any:
        import omni.timeline

        return omni.timeline.get_timeline_interface()
