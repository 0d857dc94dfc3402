"""Export as a tree of BehaviorTree.CPP 4: the rules of the format, the meaning of the nodes, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.outcome import Code
from skill_server.task.behavior_tree import behavior_tree_xml
from skill_server.task.model import Barrier, Task, TaskStep
from skill_server.task.reading.entries import Site
from skill_server.task.reading.read import read_task

from .flow_support import Facts, Robot, run_flow, steps
from .test_task_file import CATALOG, two_armed

ROBOT = two_armed()
PICK = "{left: [{name: pick, object: cube}]}"
PLACE = "{left: [{name: place, container: tray}]}"
CHILDREN = {
    "Sequence": (1, 99),
    "Fallback": (1, 99),
    "Parallel": (1, 99),
    "IfThenElse": (2, 3),
    "Repeat": (1, 1),
    "RetryUntilSuccessful": (1, 1),
    "AlwaysSuccess": (0, 0),
    "Action": (0, 0),
    "Condition": (0, 0),
}
"""The built-in nodes that an export uses, with the numbers of their children."""


def task_of(*lines: str) -> Task:
    site = Site(CATALOG, ROBOT, conditions=Facts())
    return read_task(steps(*lines), "flow.yaml", site)


def tree_of(*lines: str) -> ElementTree.Element:
    """Return the root of an export that obeys the rules of the format."""
    root = ElementTree.fromstring(behavior_tree_xml(task_of(*lines), "flow.yaml", ROBOT))
    check_format(root)
    return root


def check_format(root: ElementTree.Element) -> None:
    """Check the rules of the format: the root, the main tree, children, ports, and the model of all custom nodes."""
    assert root.tag == "root" and root.get("BTCPP_format") == "4"
    (tree,) = root.findall("BehaviorTree")
    assert tree.get("ID") == root.get("main_tree_to_execute") and len(tree) == 1
    models = root.find("TreeNodesModel")
    assert models is not None
    model = {(one.tag, one.get("ID")): {port.get("name") for port in one} for one in models}
    for node in tree[0].iter():
        least, most = CHILDREN[node.tag]
        assert least <= len(node) <= most, node.tag
        if node.tag in ("Action", "Condition"):
            ports = model[node.tag, node.get("ID")]
            assert set(node.attrib) - {"ID", "name"} <= ports
            assert not any(value.startswith("{") for value in node.attrib.values())
    used = {
        (node.tag, node.get("ID")) for node in tree.iter() if node.get("ID") and node.tag != "BehaviorTree"
    }
    assert used == set(model)


def text_of(node: ElementTree.Element) -> str:
    """Return a tree in one line: control nodes with their children, leaves by their first ports."""
    if node.tag in ("Action", "Condition"):
        keys = [key for key in node.attrib if key not in ("ID", "name", "arm", "within_s")]
        return f"{node.get('ID')}({', '.join(node.attrib[key] for key in keys)})"
    numbers = "".join(f" {value}" for value in node.attrib.values())
    return f"{node.tag}{numbers}[{', '.join(text_of(child) for child in node)}]"


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ((PICK, PLACE), "Sequence[pick(cube), place(tray)]"),
        ((f"repeat: {{times: 3, steps: [{PICK}, {PLACE}]}}",), "Repeat 3[Sequence[pick(cube), place(tray)]]"),
        ((f"retry: {{times: 2, steps: [{PICK}]}}",), "RetryUntilSuccessful 2[pick(cube)]"),
        ((f"try: [[{PICK}], [{PLACE}]]",), "Fallback[pick(cube), place(tray)]"),
        (
            (f"repeat: {{until: on(cube), max: 4, steps: [{PICK}]}}",),
            "Sequence[Repeat 4[Fallback[condition(on(cube)), pick(cube)]], condition(on(cube))]",
        ),
        (
            (f"if: {{condition: on(cube), then: [{PICK}]}}",),
            "IfThenElse[condition(on(cube)), pick(cube), AlwaysSuccess[]]",
        ),
        (
            ("for_each: {among: [cube, ball], as: x, steps: [{left: [{name: pick, object: $x}]}]}",),
            "Sequence[pick(cube), pick(ball)]",
        ),
        (
            ("left: [{name: pick, object: cube}, {name: home}]\n    right: [{name: pick, object: ball}]",),
            "Parallel -1 1[Sequence[pick(cube), home()], pick(ball)]",
        ),
        (
            (
                "left: [{name: pick, object: cube}, {barrier: b}, {name: home}]\n"
                "    right: [{name: pick, object: ball}, {barrier: b}]",
            ),
            "Sequence[Parallel -1 1[pick(cube), pick(ball)], home()]",
        ),
    ],
)
def test_nodes_of_a_task_are_nodes_of_the_tree(lines: tuple[str, ...], text: str) -> None:
    tree = tree_of(*lines).find("BehaviorTree")
    assert tree is not None
    assert text_of(tree[0]) == text


def test_leaves_have_their_place_their_arm_and_typed_ports() -> None:
    root = tree_of(
        "left: [{name: pick, object: cube, pre_grasp_offset: 0.1, filter_z_dir: [downward, 20]},"
        " {name: place, container: tray, x_ratio_range: [0.2, 1]}]",
        "condition: {expression: on(cube), within_s: 2}",
    )
    leaves = {
        node.get("ID"): dict(node.attrib) for node in root.iter() if node.get("name") and node.get("ID")
    }
    assert leaves["pick"] == {
        "ID": "pick",
        "name": "1.1.1",
        "arm": "left_arm",
        "object": "cube",
        "pre_grasp_offset": "0.1",
        "filter_z_dir": 'json:["downward", 20]',
    }
    assert leaves["place"]["x_ratio_range"] == "0.2;1"
    assert leaves["condition"]["within_s"] == "2.0"
    types = {
        (one.get("ID"), port.get("name")): port.get("type")
        for one in root.find("TreeNodesModel")  # type: ignore[union-attr]
        for port in one
    }
    assert types["pick", "pre_grasp_offset"] == "double"
    assert types["place", "x_ratio_range"] == "std::vector<double>"
    assert types["pick", "object"] == types["pick", "filter_z_dir"] == "std::string"


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (
            "for_each: {object_where: on($x), as: x, max: 3, steps: [{left: [{name: pick, object: $x}]}]}",
            "skills[0].gantry[0].for_each: object_where selects objects while the task runs",
        ),
        (
            "left: [{name: pick, object: '{cube}'}]",
            "left[0].object: is '{cube}', which a tree reads as a blackboard",
        ),
    ],
)
def test_what_a_tree_cannot_express_is_refused_with_its_name(line: str, fault: str) -> None:
    with pytest.raises(ConfigError) as caught:
        behavior_tree_xml(task_of(line), "flow.yaml", ROBOT)
    assert any(fault in one for one in caught.value.faults), caught.value.faults


def test_barriers_in_different_lists_are_refused_by_their_name() -> None:
    step = TaskStep("1.1", {"a": (Barrier("p.a[0]", "x"),), "b": (Barrier("p.b[0]", "y"),)})
    with pytest.raises(ConfigError, match=r"p\.a\[0\]: barrier 'x' has no node"):
        behavior_tree_xml(Task("t", 1, (step,), robot=ROBOT), "flow.yaml", ROBOT)


@pytest.mark.parametrize("name", ["root", "two words", "a/b"])
def test_the_name_of_a_tree_is_one_that_the_format_allows(name: str) -> None:
    task = task_of(PICK)
    root = ElementTree.fromstring(behavior_tree_xml(replace(task, name=name), "flow.yaml", ROBOT))
    check_format(root)
    made = root.get("main_tree_to_execute", "")
    assert made.lower() != "root" and not set(made) & set(" /")


def test_the_robot_of_a_robot_file_is_refused() -> None:
    with pytest.raises(ConfigError, match="robots: changes the robot, which a tree cannot"):
        behavior_tree_xml(task_of(PICK), "flow.yaml", two_armed())


class Ticks:
    """Runs an exported tree by the rules of the library's nodes, on the same facts and skills as the task."""

    def __init__(self, robot: Robot) -> None:
        self.robot, self.log = robot, list[str]()

    def run(self, node: ElementTree.Element) -> bool:
        match node.tag:
            case "AlwaysSuccess":
                return True
            case "Action":
                name = node.get("ID")
                what = node.get("object") or node.get("container") or ""
                self.log.append(f"{name} {what}".strip())
                codes = next((c for words, c in self.robot.fails.items() if words in self.log[-1] and c), [])
                return not codes or codes.pop(0) is Code.OK
            case "Condition":
                return node.get("expression") in self.robot.facts.true
            case "Sequence" | "Parallel":
                return all(self.run(child) for child in node)
            case "Fallback":
                return any(self.run(child) for child in node)
            case "IfThenElse":
                return self.run(node[1] if self.run(node[0]) else node[2])
            case "Repeat":
                return all(self.run(node[0]) for _ in range(int(node.get("num_cycles", "0"))))
            case "RetryUntilSuccessful":
                return any(self.run(node[0]) for _ in range(int(node.get("num_attempts", "0"))))
        raise AssertionError(node.tag)


def words_of(log: list[str]) -> Iterator[str]:
    return (line.partition(" ")[2] for line in log)


@pytest.mark.parametrize("failures", range(4))
@pytest.mark.parametrize("true", [set[str](), {"on(cube)"}, {"full(tray)"}])
def test_a_tree_runs_the_same_skills_as_its_task(failures: int, true: set[str]) -> None:
    lines = (
        f"try: [[{{condition: on(cube)}}, {PICK}], [{PLACE}]]",
        f"retry: {{times: 3, steps: [{PICK}]}}",
        f"if: {{condition: full(tray), then: [{PLACE}], else: [{PICK}]}}",
        f"repeat: {{until: full(tray), max: 2, steps: [{PLACE}]}}",
    )
    of_task = Robot(Facts(true=set(true)), fails={"pick": [Code.NO_IK] * failures})
    of_tree = Robot(Facts(true=set(true)), fails={"pick": [Code.NO_IK] * failures})
    ended, _ = run_flow(steps(*lines), of_task)
    ticks, tree = Ticks(of_tree), tree_of(*lines).find("BehaviorTree")
    assert tree is not None
    assert ticks.run(tree[0]) == ended.outcome.ok
    assert ticks.log == list(words_of(of_task.log))
