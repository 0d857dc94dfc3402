"""The tab with which goals are sent: a form for every skill, Run, Preview, Cancel and Stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from handiwork_core.contracts.skill import Skill
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_ros.actions.skill_report import SkillPreview, SkillReport
from handiwork_viz.view.model.forms import Form, changed_choices, form_of, parameters_of, pose_values
from handiwork_viz.view.model.scene_state import link_places
from handiwork_viz.view.model.texts import goals_html
from handiwork_viz.view.ros.stack_link import StackLink, now_s

from .commands import Commands
from .form_panel import FormPanel

if TYPE_CHECKING:
    import viser

FIRST = "pick"
GIZMO_SCALE = 0.18


class RunPanel:
    """Sends goals and shows those that run.

    Args:
        server: The page's server.
        link: The connection to the stack.
        robot: The robot.
        skills: The skills by name.
        commands: Runs the work of buttons.
        on_preview: Called with the plan of a preview; None when it was executed or discarded.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        link: StackLink,
        robot: Robot,
        skills: dict[str, Skill[Any]],
        commands: Commands,
        on_preview: Callable[[SkillPreview | None], None],
    ) -> None:
        self._server, self._link, self._robot, self._skills = server, link, robot, skills
        self._commands, self._on_preview = commands, on_preview
        self._form: FormPanel | None = None
        self._objects: tuple[str, ...] = ()
        self._plan: SkillPreview | None = None
        self._gizmo: Any = None
        self._shown = (-1, -1)
        gui = server.gui
        self._goals = gui.add_html(goals_html((), 0.0))
        self._progress = gui.add_progress_bar(0.0, visible=False)
        names = tuple(sorted(skills))
        self._skill = gui.add_dropdown("skill", names, initial_value=FIRST if FIRST in names else names[0])
        self._arm = gui.add_dropdown("arm", tuple(robot.arms), visible=len(robot.arms) > 1)
        self._place = gui.add_folder("form", expand_by_default=True)
        self._buttons(gui)
        self._skill.on_update(lambda _event: self._remake({}))
        self._arm.on_update(lambda _event: self._remake({}))

    def _buttons(self, gui: viser.GuiApi) -> None:
        for title, colour, press in (
            ("Run", "green", lambda: self._send(plan_only=False)),
            ("Preview", "blue", lambda: self._send(plan_only=True)),
        ):
            gui.add_button(title, color=colour).on_click(lambda _event, press=press: press())
        self._execute = gui.add_button("Execute the preview", color="teal", visible=False)
        self._execute.on_click(lambda _event: self._execute_plan())
        gui.add_button("Cancel", color="orange").on_click(lambda _event: self._cancel("Cancel"))
        stop = gui.add_button(
            "Stop all", color="red", hint="cancel every goal, then stop the arms by the safety layer"
        )
        stop.on_click(lambda _event: self._stop_all())

    @property
    def arm(self) -> ArmSpec:
        """The chosen arm."""
        return self._robot.arms[self._arm.value]

    def update(self, world: World) -> None:
        """Show the goals, and the choices of the present world.

        Args:
            world: The snapshot.
        """
        if self._form is None or changed_choices(self._objects, world):
            self._remake({} if self._form is None else self._form.values(), world)
        now = now_s()
        running = self._link.board.running()
        shown = (self._link.board.version, int(10.0 * now) if running else 0)
        if shown != self._shown:
            self._shown = shown
            self._goals.content = goals_html(self._link.board.all(), now)
            self._progress.visible = bool(running)
            if running:
                self._progress.value = 100.0 * running[0].fraction

    def _remake(self, given: dict[str, Any], world: World | None = None) -> None:
        world = world or self._link.world()
        if world is None:
            return
        if self._form is not None:
            self._form.remove()
        self._objects = tuple(sorted(world.objects))
        form = form_of(self._skills[self._skill.value], self._robot, self.arm, world)
        with self._place:
            self._form = FormPanel(self._server.gui, form, given)
        self._place.label = form.about or form.skill
        self._show_gizmo(form, world)

    def _show_gizmo(self, form: Form, world: World) -> None:
        """Offer a gizmo at the EE where the form has a pose."""
        if self._gizmo is not None:
            self._gizmo.remove()
            self._gizmo = None
        if not form.pose_fields:
            return
        here = link_places(self._robot, world)[self.arm.ee_link]
        is_list = "position" not in form.pose_fields
        self._gizmo = self._server.scene.add_transform_controls(
            "/target",
            scale=GIZMO_SCALE,
            position=here.translation_m,
            wxyz=here.rotation.wxyz,
            visible=not is_list,
        )
        self._gizmo.on_update(lambda _event: self._take_gizmo())
        if not is_list:  # the goal begins where the hand is
            self._take_gizmo()
        if is_list and self._form is not None:
            with self._place:
                box = self._server.gui.add_checkbox("drag a pose in the scene", False)
            self._form._folders.append(box)
            box.on_update(lambda _event: setattr(self._gizmo, "visible", box.value))

    def _take_gizmo(self) -> None:
        world, gizmo = self._link.world(), self._gizmo
        if world is None or gizmo is None or self._form is None:
            return
        world_T_tool = Pose.of(gizmo.position, Rotation.from_wxyz(gizmo.wxyz))
        base_T_tool = link_places(self._robot, world)[self.arm.base_link].inverse() @ world_T_tool
        values = pose_values(self._form.form, base_T_tool, world_T_tool)
        self._form.fill(values)

    def _send(self, *, plan_only: bool) -> None:
        panel = self._form
        if panel is None:
            self._commands.tell("Run", "The stack is not there yet; wait until its nodes are active.")
            return
        skill, arm = panel.form.skill, self._arm.value

        def work() -> str | None:
            if not self._link.is_ready():
                return "skill_server is not active; wait until it is, or start the stack"
            parameters = parameters_of(panel.form, panel.values())
            about = " ".join(str(parameters[key]) for key in ("object", "container") if key in parameters)
            label = f"{'preview of ' if plan_only else ''}{skill} {about}".strip()
            report = self._link.run_skill(skill, parameters, arm, plan_only=plan_only, label=label)
            self._show_plan(report if plan_only else None)
            return None if report.ok or report.outcome.code is Code.CANCELED else report.message

        self._commands.start(f"{skill}", work)

    def _show_plan(self, report: SkillReport | None) -> None:
        self._plan = None if report is None else report.plan
        self._execute.visible = self._plan is not None
        self._on_preview(self._plan)

    def _execute_plan(self) -> None:
        plan = self._plan
        if plan is None:
            return

        def work() -> str | None:
            self._show_plan(None)
            report = self._link.execute(plan.plan_id, f"{plan.skill} as previewed")
            return None if report.ok or report.outcome.code is Code.CANCELED else report.message

        self._commands.start("execute", work)

    def _cancel(self, title: str) -> None:
        if not self._link.cancel_all():
            self._commands.tell(title, "No goal runs.", is_good=True)

    def _stop_all(self) -> None:
        self._link.cancel_all()
        self._commands.start("Stop all", self._link.emergency_stop)
