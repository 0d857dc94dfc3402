"""The shortest chain of grasps: fewest regrasps, bounded, and the planner is asked only about placements in reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from skill_server.regrasping.chains import Chain, shortest_chain


@dataclass
class Table:
    """Possibilities by name: grasps are letters, placements are numbers, and 0 is the start.

    ``grasp_at`` has the grasps of each placement; ``serve`` those that reach the goal; ``down`` where each may go.
    """

    grasp_at: dict[int, str]
    serve: str
    down: dict[str, tuple[int, ...]]
    asked: list[int] = field(default_factory=list)

    def serving(self, node: int) -> str | None:
        self.asked.append(node)
        return next((grasp for grasp in self.grasp_at.get(node, "") if grasp in self.serve), None)

    def grasps(self, node: int) -> str:
        return self.grasp_at.get(node, "")

    def put_down(self, node: int, grasp: str, at: Sequence[int]) -> Sequence[int]:
        assert grasp in self.grasp_at[node]
        return [one for one in at if one in self.down.get(grasp, ())]


def links(chain: Chain[int, str] | None) -> list[tuple[int, str]]:
    assert chain is not None
    return list(chain.links)


def test_a_grasp_that_serves_the_place_needs_no_regrasp() -> None:
    table = Table({0: "ab"}, "b", {"a": (1,)})
    found = shortest_chain(0, (1,), table, 3)
    assert links(found) == [(0, "b")]
    assert found is not None and found.regrasps == 0
    assert table.asked == [0]


def test_the_object_is_put_down_where_it_can_be_grasped_for_the_place() -> None:
    table = Table({0: "ab", 1: "a", 2: "c"}, "c", {"a": (1,), "b": (2,)})
    assert links(shortest_chain(0, (1, 2), table, 1)) == [(0, "b"), (2, "c")]


def test_fewer_regrasps_come_before_earlier_grasps() -> None:
    """Grasp a leads over 1 and 2 to the place, grasp b over 3."""
    table = Table({0: "ab", 1: "c", 2: "z", 3: "z"}, "z", {"a": (1,), "c": (2,), "b": (3,)})
    assert links(shortest_chain(0, (1, 2, 3), table, 2)) == [(0, "b"), (3, "z")]


def test_two_regrasps_are_found_where_they_are_needed_and_allowed() -> None:
    table = Table({0: "a", 1: "b", 2: "z"}, "z", {"a": (1,), "b": (2,)})
    assert links(shortest_chain(0, (1, 2), table, 2)) == [(0, "a"), (1, "b"), (2, "z")]
    assert shortest_chain(0, (1, 2), table, 1) is None


def test_a_circle_ends() -> None:
    table = Table({0: "a", 1: "a", 2: "a"}, "", {"a": (1, 2)})
    assert shortest_chain(0, (1, 2), table, 9) is None
    assert table.asked == [0, 1, 2]


def test_only_placements_in_reach_are_asked_for_grasps() -> None:
    table = Table({0: "a", 1: "", 2: "z"}, "z", {"a": (1,)})
    assert shortest_chain(0, (1, 2), table, 2) is None
    assert 2 not in table.asked
