"""The built-in skills keep the contract."""

from __future__ import annotations

import numpy as np

from handiwork_core.contracts.planning import Attachment
from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.testing.fakes import Cell, Fakes, fakes
from handiwork_core.testing.gantry import gantry_pose, gantry_q
from handiwork_core.testing.skill_contract import SkillContract
from skill_server.execution.run import run_skill
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams

CUBE_M = 0.045


def box(name: str, size: tuple[float, float, float], *, static: bool = False) -> WorldObject:
    return WorldObject(name, (Shape(ShapeKind.BOX, np.array(size), Pose.identity()),), static)


def cell() -> Cell:
    objects = {
        "cube": box("cube", (CUBE_M, CUBE_M, CUBE_M)),
        "tray": box("tray", (0.3, 0.3, 0.02), static=True),
        "table": box("table", (2.0, 2.0, 0.05), static=True),
    }
    poses = {
        "cube": Pose.of((0.4, 0.1, CUBE_M / 2.0)),
        "tray": Pose.of((0.4, -0.3, 0.01)),
        "table": Pose.of((0.0, 0.0, -0.025)),
    }
    return Cell(objects, poses, {"cube": CUBE_M})


def carrying(seed: int = 0) -> Fakes:
    made = fakes(cell(), seed)
    hand = Pose.of((0.4, 0.1, 0.35), gantry_pose(np.array([0, 0, 0, 0, 0, np.pi])).rotation)
    made.cell.q = gantry_q(hand)
    made.cell.poses["cube"] = hand @ Pose.of((0.0, 0.0, 0.1))
    made.cell.in_hand, made.cell.hand_T_object = "cube", Pose.of((0.0, 0.0, 0.1))
    made.cell.width_m = CUBE_M
    made.context.held["cube"] = Attachment("cube", "hand", made.cell.hand_T_object)
    return made


class TestPickContract(SkillContract[PickParams]):
    run = staticmethod(run_skill)

    def skill(self) -> Pick:
        return Pick()

    def params(self) -> PickParams:
        return PickParams(object="cube")

    def unknown(self) -> PickParams:
        return PickParams(object="cub")

    def fakes(self, seed: int = 0) -> Fakes:
        return fakes(cell(), seed)


class TestPlaceContract(SkillContract[PlaceParams]):
    run = staticmethod(run_skill)

    def skill(self) -> Place:
        return Place()

    def params(self) -> PlaceParams:
        return PlaceParams(container="tray")

    def unknown(self) -> PlaceParams:
        return PlaceParams(container="tary")

    def fakes(self, seed: int = 0) -> Fakes:
        return carrying(seed)
