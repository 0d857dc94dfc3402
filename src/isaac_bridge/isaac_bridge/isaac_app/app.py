"""All that is asked of Isaac Sim itself; kept small, because nothing but a run in Isaac Sim can show that it works."""

# ruff: noqa: ANN401 Isaac Sim has no types that could be named here

from __future__ import annotations

from typing import Any

from handiwork_core.isaac_wire import FRAME_S
from isaac_bridge.graph.model import Graph, Targets

from .versions import UnsupportedError

FRAME_HZ = 1.0 / FRAME_S
"""Frames of the application each simulated second; the stage says how many physics steps that are."""
SAY_ALWAYS = "/exts/isaacsim.ros2.bridge/publish_without_verification"


class IsaacApp:
    """Isaac Sim in this process; the application starts with it.

    Raises:
        UnsupportedError: this Python is not that of Isaac Sim.
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
        """As ``5.1.0``; empty where it cannot be found."""
        try:
            from isaacsim.core.version import get_version
        except ImportError:
            return ""
        return str(get_version()[0])

    def publish_always(self) -> None:
        """Let the bridge publish what nobody has subscribed to yet, so that nobody misses a start."""
        import carb

        carb.settings.get_settings().set(SAY_ALWAYS, True)

    def enable(self, extension: str) -> None:
        """Enable an extension, by the helper that this version has."""
        try:
            from isaacsim.core.experimental.utils import app as helper
        except ImportError:
            from isaacsim.core.utils import extensions as helper
        helper.enable_extension(extension)

    def update(self) -> None:
        """One frame."""
        self._app.update()

    def open_stage(self, path: str) -> Any:
        """Open a file; the stage."""
        import omni.usd

        context = omni.usd.get_context()
        if not context.open_stage(path):
            raise UnsupportedError(f"Isaac Sim cannot open {path}: look at its log.")
        return context.get_stage()

    def build(self, graph: Graph) -> None:
        """Build the graph, to be run in each physics step."""
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
        """The time that the graph's clock tells."""
        import omni.graph.core as og

        return float(og.Controller.get(og.Controller.attribute(f"{self._graph}/Time.outputs:simulationTime")))

    def compute_on_cpu(self) -> None:
        """Joint states and surface grippers need physics on the processor."""
        from isaacsim.core.simulation_manager import SimulationManager

        SimulationManager.set_physics_sim_device("cpu")
        self._timeline().set_target_framerate(FRAME_HZ)
        self._timeline().set_time_codes_per_second(FRAME_HZ)

    def play(self) -> None:
        """Let the physics run."""
        self._timeline().play()

    def pause(self) -> None:
        """Hold the physics where it is."""
        self._timeline().pause()

    def stop(self) -> None:
        """End the physics: joints go back to where the stage has them."""
        self._timeline().stop()

    def step(self) -> None:
        """One frame while paused."""
        self._timeline().forward_one_frame()
        self.update()

    def is_running(self) -> bool:
        """False when the window was closed."""
        return bool(self._app.is_running())

    def close(self) -> None:
        """End the application."""
        self._app.close()

    def contact_report(self) -> tuple[Any, Any]:
        """Headers and points of the last physics step."""
        from omni.physx import get_physx_simulation_interface

        headers, points = get_physx_simulation_interface().get_contact_report()
        return headers, points

    def path_of(self, number: int) -> str:
        """The prim of a collider in a contact report."""
        from pxr import PhysicsSchemaTools

        return str(PhysicsSchemaTools.intToSdfPath(number))

    def switch(self, gripper: str, *, close: bool) -> None:
        """Close or open the surface gripper of a path."""
        grippers = self._grippers()
        (grippers.close_gripper if close else grippers.open_gripper)(gripper)

    def gripper(self, path: str) -> tuple[str, tuple[str, ...]]:
        """Status of a surface gripper (``Open``, ``Closing``, ``Closed``), and the prims that it holds."""
        grippers = self._grippers()
        status = str(grippers.get_gripper_status(path)).rpartition(".")[2]
        return status, tuple(map(str, grippers.get_gripped_objects(path)))

    def _grippers(self) -> Any:
        from isaacsim.robot.surface_gripper import _surface_gripper

        return _surface_gripper.acquire_surface_gripper_interface()

    def _timeline(self) -> Any:
        import omni.timeline

        return omni.timeline.get_timeline_interface()
