"""The form of a skill as inputs of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from handiwork_viz.view.model.forms import FieldKind, Form, FormField, text_of

if TYPE_CHECKING:
    import viser


class FormPanel:
    """The inputs of one form, below the container in which it is made.

    Args:
        gui: The page's inputs.
        form: The form.
        given: Values by field that replace the defaults, as after a change of the world.
    """

    def __init__(self, gui: viser.GuiApi, form: Form, given: dict[str, Any]) -> None:
        self.form = form
        self._inputs: dict[str, Any] = {}
        self._folders = []
        shown = [field for field in form.fields if form.is_prominent(field)]
        rest = [field for field in form.fields if not form.is_prominent(field)]
        for title, fields, is_open in (
            ("parameters", shown, True),
            (f"{len(rest)} more parameters", rest, False),
        ):
            if fields:
                folder = gui.add_folder(title, expand_by_default=is_open)
                self._folders.append(folder)
                with folder:
                    for field in fields:
                        self._inputs[field.name] = _input(gui, field, given.get(field.name, field.default))

    def values(self) -> dict[str, Any]:
        """Return what is filled in, by field."""
        return {name: node.value for name, node in self._inputs.items()}

    def fill(self, values: dict[str, Any]) -> None:
        """Fill in some fields.

        Args:
            values: Values by field.
        """
        for name, value in values.items():
            if name in self._inputs:
                self._inputs[name].value = value

    def remove(self) -> None:
        """Remove the inputs."""
        for folder in self._folders:
            folder.remove()


def _input(gui: viser.GuiApi, field: FormField, value: Any) -> Any:
    hint = " ".join(filter(None, (field.hint, "(required)" if field.is_required else "")))[:300] or None
    kind, name = field.kind, field.name
    if kind is FieldKind.SWITCH:
        return gui.add_checkbox(name, bool(value), hint=hint)
    if kind is FieldKind.WHOLE:
        low, high = (None if end is None else int(end) for end in (field.low, field.high))
        return gui.add_number(name, int(value), min=low, max=high, step=1, hint=hint)
    if kind is FieldKind.NUMBER:
        return gui.add_number(name, float(value), min=field.low, max=field.high, step=1e-4, hint=hint)
    if kind is FieldKind.CHOICE:
        first = value if value in field.choices else field.choices[0]
        return gui.add_dropdown(name, field.choices, initial_value=first, hint=hint)
    if kind is FieldKind.VECTOR:
        return gui.add_vector3(
            name, (float(value[0]), float(value[1]), float(value[2])), step=1e-3, hint=hint
        )
    text = value if isinstance(value, str) else text_of(value)
    return gui.add_text(name, text, hint=hint)
