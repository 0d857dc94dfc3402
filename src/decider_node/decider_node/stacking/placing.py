"""The targets of a held bin: the shelf, to be turned, or its place in the stack, with the place corrected."""

from __future__ import annotations

import numpy as np

from decider_node.motion.approach import Approach
from decider_node.motion.command import MotionCommand
from handiwork_core.model.geometry import Array, Pose, Rotation

from .bin import HEIGHT_M, INSIDE, LENGTH_M, OUTSIDE, WIDTH_M, turned
from .cell import place_on_shelf, shelf_axis
from .context import StackContext

UP = np.array([0.0, 0.0, 1.0])
NEAR_SHELF_M = 0.06
"""Distance of the tip from its target above the shelf below which it follows the measured bin, m."""
MOST_CORRECTION = np.array([0.03, 0.03, 0.2])
RELEASE_M = 0.0005
"""Height above the place at which the bin is let go, m: a bin that is pressed down shears the cup."""
TOUCHING_M = 0.002
"""Height above the place below which a bin may touch the one below, so that its target stays, m."""


def tip_for(context: StackContext, world_T_bin: Pose) -> tuple[Pose, Array | None, Pose]:
    """Return the pose of the tip that would bring a well held bin to a pose, half a turn or not, and joints for it.

    Args:
        context: The logical state.
        world_T_bin: Wanted pose of the bin.

    Returns:
        Pose of the tip; joint positions, (n,), rad, None when the arm does not reach it; chosen pose of the bin.
    """
    q = context.cell.joints()
    options = []
    for pose in (world_T_bin, turned(world_T_bin)):
        tip = pose @ (INSIDE if context.needs_flip else OUTSIDE) @ _heading(context)
        near = context.cell.configuration(tip, q)
        cost = float("inf") if near is None else float(np.abs(near - q).sum())
        options.append((cost, tip, near, pose))
    _, tip, near, pose = min(options, key=lambda option: option[0])
    return tip, near, pose


def tip_by_wall(context: StackContext) -> tuple[Pose, Array | None]:
    """Return the pose of the tip that brings a bin, held by a wall, onto the shelf with its open side to the robot.

    Args:
        context: The logical state.

    Returns:
        Pose of the tip, and joint positions, (n,), rad; these are None when the arm does not reach it.
    """
    assert context.active is not None
    held = context.bins[context.active].world_T_object
    bin_T_tip = held.inverse() @ context.tip
    up = np.round(bin_T_tip.rotation.matrix()[:, 2]) * -1.0
    shelf = place_on_shelf(context.site.shelf)
    out = shelf.rotation.matrix()[:, 2]
    # Columns of the wanted rotation in a frame whose z is the open side: "up" becomes the z of world.
    side = np.cross(up, (0.0, 0.0, 1.0))
    turn = Rotation.from_matrix(
        np.column_stack([UP, np.cross(UP, out), out]) @ np.column_stack([up, side, (0.0, 0.0, 1.0)]).T
    )
    lower = 0.5 * WIDTH_M  # of a bin in its nominal pose on the shelf
    height = 0.5 * float(np.array([LENGTH_M, WIDTH_M, HEIGHT_M]) @ np.abs(up)) - lower
    tip = Pose.of(shelf.translation_m + (0.0, 0.0, height), turn) @ bin_T_tip
    return tip, context.cell.configuration(tip, context.cell.joints())


def _heading(context: StackContext) -> Pose:
    """Return the turn of the cup against the bin, which it may hold half turned about its axis."""
    return Pose.of((0.0, 0.0, 0.0), Rotation.from_axis_angle((0.0, 0.0, 1.0), np.pi * context.half_turned))


class PlacePlan:
    """The target of one held bin, chosen once and then corrected at each tick."""

    def __init__(self) -> None:
        self._tip: Pose = Pose.identity()
        self._place: Pose = Pose.identity()
        self._index = 0
        self._posture: Array | None = None
        self._by_wall = self._from_outside = False
        self._over = MotionCommand(self._tip)

    def to_stack(self, context: StackContext) -> None:
        """Begin towards the next free place.

        Args:
            context: The logical state.

        Raises:
            RuntimeError: No place is open.
        """
        context.correction[:] = 0.0
        if context.place is None:
            raise RuntimeError("no place is open: dispatch may decide for place_bin only with one")
        self._index, self._place = context.place, context.layout.place(context.place)
        self._tip, self._posture, _ = tip_for(context, self._place)
        at = self._tip.translation_m
        high = Pose.of(
            (at[0], at[1], max(context.site.carry_z, at[2] + context.site.actions.place.length)),
            self._tip.rotation,
        )
        self._over = MotionCommand(high, posture=context.cell.configuration(high, self._posture))

    def to_shelf(self, context: StackContext) -> None:
        """Begin towards the shelf: a bin that is held by a wall comes down on the wall opposite to that.

        Args:
            context: The logical state.
        """
        context.correction[:] = 0.0
        self._by_wall, self._from_outside = context.holds_wall, not context.needs_flip
        if self._by_wall:
            self._tip, self._posture = tip_by_wall(context)
        else:
            self._tip, self._posture, self._place = tip_for(context, place_on_shelf(context.site.shelf))

    def off_shelf(self, context: StackContext) -> Array:
        """Return the way of the cup off a bin on the shelf.

        It leads out of the bin's cavity, back from its bottom, or up from its wall.

        Args:
            context: The logical state.

        Returns:
            The way in world, (3,), m.
        """
        if self._by_wall:
            return np.array([0.0, 0.0, 0.2])
        shelf = context.site.shelf
        return (shelf.out if self._from_outside else -shelf.out) * shelf_axis(shelf)

    def over_command(self, context: StackContext) -> MotionCommand:
        """Return a command high above the place: on the way there the bin clears the shelf and the stack.

        Args:
            context: The logical state.
        """
        return self._over

    def stack_command(self, context: StackContext) -> MotionCommand:
        """Return a command down the funnel, to a place that is corrected by the measured misalignment.

        Args:
            context: The logical state.
        """
        if context.corrects:
            self._correct(context)
        x, y, heading = context.correction
        turn = Rotation.from_axis_angle((0.0, 0.0, 1.0), heading)
        goal = self._tip.translation_m + (x, y, RELEASE_M)
        actions = context.site.actions
        approach = Approach.along((0.0, 0.0, -actions.place.length), actions.place.deviation)
        return MotionCommand(
            Pose.of(goal, turn @ self._tip.rotation), approach, self._posture, speed=actions.place_speed
        )

    def shelf_command(self, context: StackContext) -> MotionCommand:
        """Return a command down onto the shelf, onto which a bin that has slid under the cup is not pressed.

        Args:
            context: The logical state.
        """
        if context.corrects and not self._by_wall:
            self._follow_hold(context)
        funnel = context.site.actions.shelf
        approach = Approach.along((0.0, 0.0, -funnel.length), funnel.deviation)
        goal = Pose.of(self._tip.translation_m + (0.0, 0.0, RELEASE_M), self._tip.rotation)
        return MotionCommand(goal, approach, self._posture)

    def wanted(self, context: StackContext) -> Array:
        """Return the wanted middle of the bin: over the bin below, but not far from its own place.

        Args:
            context: The logical state.

        Returns:
            x and y in world, (2,), m.
        """
        place: Array = self._place.translation_m[:2]
        below = context.layout.below(self._index)
        name = None if below is None else context.places.get(below)
        if name is None:
            return place
        under = context.bins[name].world_T_object.translation_m[:2]
        most = context.site.actions.correction.most
        return np.asarray(place + np.clip(under - place, -most, most))

    def _follow_hold(self, context: StackContext) -> None:
        """Aim with the bin as the cup really holds it, while the tip is near and slow and the bin hangs free."""
        if context.active is None or not context.is_attached:
            return
        held = context.bins[context.active].world_T_object
        away = float(np.linalg.norm(self._tip.translation_m - context.tip.translation_m))
        if away < NEAR_SHELF_M and held.translation_m[2] - self._place.translation_m[2] > TOUCHING_M:
            self._tip = self._place @ held.inverse() @ context.tip

    def _correct(self, context: StackContext) -> None:
        """Move the target by a share of the misalignment, when the tip follows it already."""
        if context.active is None or not context.is_attached:
            return
        rule = context.site.actions.correction
        offset = self._tip.translation_m[:2] + context.correction[:2] - context.tip.translation_m[:2]
        held = context.bins[context.active].world_T_object
        height = held.translation_m[2] - self._place.translation_m[2]
        if float(np.linalg.norm(offset)) > rule.near or height < TOUCHING_M:
            return
        apart = self.wanted(context) - held.translation_m[:2]
        turn = self._heading_error(held) - self._tip_heading(context) if rule.turns else 0.0
        step = rule.share * np.array([*(apart - offset), turn])
        context.correction[:] = np.clip(context.correction + step, -MOST_CORRECTION, MOST_CORRECTION)

    def _tip_heading(self, context: StackContext) -> float:
        """Return the turn about z, rad, that the tip still has to make to its target."""
        turn = Rotation.from_axis_angle((0.0, 0.0, 1.0), context.correction[2])
        target, now = (turn @ self._tip.rotation).matrix()[:, 0], context.tip.rotation.matrix()[:, 0]
        return float(
            np.arctan2(now[0] * target[1] - now[1] * target[0], now[0] * target[0] + now[1] * target[1])
        )

    def _heading_error(self, held: Pose) -> float:
        """Return the turn about z, rad, that is left to the place, either way round."""
        x, wanted = held.rotation.matrix()[:, 0], self._place.rotation.matrix()[:, 0]
        angle = float(np.arctan2(x[0] * wanted[1] - x[1] * wanted[0], x[0] * wanted[0] + x[1] * wanted[1]))
        return (angle + 0.5 * np.pi) % np.pi - 0.5 * np.pi
