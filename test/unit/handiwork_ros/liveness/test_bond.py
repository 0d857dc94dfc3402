"""The bond follows one DDS writer: no other writer hides its loss or causes one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from handiwork_ros.liveness.bond import ABSENT_S, CANDIDATES, UNNAMED_S, Bond
from handiwork_ros.liveness.bond_events import BondEvent, BondWriter, EventKind, Loss, Sample
from handiwork_ros.liveness.writer_sequence import NO_SEQUENCE
from handiwork_ros.rclpy_support.silence_limits import (
    DELAY_GAIN,
    GIVE_UP_SILENCE_S,
    SILENCE_S,
)

NAME = "skill_server"
TRUE, OTHER = b"\x01" * 16, b"\x02" * 16
ACTIVE, LEAVING = 3, 5
PERIOD_S, LOOK_S = 0.4, 0.25


@dataclass
class FakeProcess:
    has_ended: bool = False
    is_known: bool = True
    is_closed: bool = False

    def close(self) -> None:
        self.is_closed = True


@dataclass
class Graph:
    """A bond in a graph that the test defines."""

    writers: list[BondWriter] = field(default_factory=lambda: [BondWriter(TRUE, NAME)])
    alive: int | None = 1
    delay_s: float = 0.0
    now_s: float = 100.0
    processes: dict[int, FakeProcess] = field(default_factory=dict)
    events: list[BondEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bond = Bond(NAME, lambda pid, _space: self.processes.setdefault(pid, FakeProcess()))
        self.newest = Sample(TRUE, 0, ACTIVE, "", 10, "here", "space")

    def receive(self, sample: Sample) -> None:
        self.events += self.bond.receive(sample, self.now_s, lambda: self.writers)

    def beat(self) -> None:
        """Receive a message of the true writer."""
        sequence = self.newest.sequence + 1
        self.newest = replace(self.newest, sequence=sequence, source_ns=1000 * sequence)
        self.receive(self.newest)

    def look(self) -> None:
        self.events += self.bond.look(self.now_s, self.delay_s, lambda: self.writers, self.alive)

    def run(self, seconds: float, *, beats: bool = True, forged: Sample | None = None) -> None:
        """Let time pass with checks, and with messages if requested."""
        end_s = self.now_s + seconds
        next_beat_s, next_look_s, next_forged_s = self.now_s, self.now_s, self.now_s
        while self.now_s < end_s:
            self.now_s += 0.05
            if beats and self.now_s >= next_beat_s:
                next_beat_s += PERIOD_S
                self.beat()
            if forged is not None and self.now_s >= next_forged_s:
                next_forged_s += 0.1
                forged = replace(forged, sequence=forged.sequence + 1)
                self.receive(forged)
            if self.now_s >= next_look_s:
                next_look_s += LOOK_S
                self.look()

    def of(self, kind: EventKind) -> list[str]:
        return [event.text for event in self.events if event.kind is kind]

    @property
    def loss(self) -> Loss:
        return self.bond.loss


@pytest.fixture
def graph() -> Graph:
    made = Graph()
    made.run(2.0)
    assert made.loss is Loss.NONE and made.bond.sign is not None and made.bond.sign.gid == TRUE
    assert not made.events
    return made


def seconds_to_loss(graph: Graph, forged: Sample | None = None) -> float:
    begun_s = graph.now_s
    while not graph.of(EventKind.LOST):
        assert graph.now_s - begun_s < 20.0, "never lost"
        graph.run(0.05, beats=False, forged=forged)
        if forged is not None:
            forged = replace(forged, sequence=forged.sequence + 1)
    return graph.now_s - begun_s


def test_a_process_that_ended_is_lost_at_the_next_look(graph: Graph) -> None:
    graph.processes[10].has_ended = True
    assert seconds_to_loss(graph) <= LOOK_S + 0.1
    assert graph.loss is Loss.GONE
    assert "pid 10" in graph.bond.reason


def test_the_end_of_a_process_is_found_without_a_judgement_of_silence(graph: Graph) -> None:
    assert graph.bond.check_process() == []
    graph.processes[10].has_ended = True
    assert [event.kind for event in graph.bond.check_process()] == [EventKind.LOST]
    assert graph.bond.check_process() == []


def test_a_silent_writer_is_lost_within_the_limit(graph: Graph) -> None:
    graph.alive = 0
    assert SILENCE_S - PERIOD_S <= seconds_to_loss(graph) <= SILENCE_S + LOOK_S + 0.1
    assert graph.loss is Loss.SILENT


@pytest.mark.parametrize("who", ["reader", "writer"])
def test_the_limit_grows_with_the_delay_of_either_side(graph: Graph, who: str) -> None:
    delay_s = 0.5
    if who == "reader":
        graph.delay_s = delay_s
    else:
        graph.newest = replace(graph.newest, delay_s=delay_s)
        graph.run(1.0)
        assert graph.bond.delay_s == delay_s
    graph.alive = 0
    took_s = seconds_to_loss(graph)
    assert (
        SILENCE_S + DELAY_GAIN * delay_s - PERIOD_S
        <= took_s
        <= SILENCE_S + DELAY_GAIN * delay_s + LOOK_S + 0.1
    )


def test_messages_that_were_received_and_not_read_are_no_silence(graph: Graph) -> None:
    graph.run(SILENCE_S + 1.0, beats=False)
    assert graph.loss is Loss.NONE, "DDS holds the writer for alive"
    graph.run(GIVE_UP_SILENCE_S, beats=False)
    assert graph.loss is Loss.SILENT, "but not for ever"


def test_a_writer_of_another_machine_that_left_the_graph_is_gone(graph: Graph) -> None:
    graph.processes[10].is_known = False
    graph.writers.clear()
    graph.alive = 0
    graph.run(ABSENT_S + 1.0, beats=False)
    assert graph.loss is Loss.GONE


def test_a_process_that_lives_is_silent_when_the_graph_has_forgotten_it(graph: Graph) -> None:
    graph.writers.clear()
    graph.alive = 0
    graph.run(10.0, beats=False)
    assert graph.loss is Loss.SILENT
    graph.writers.append(BondWriter(TRUE, NAME))
    graph.run(1.0)
    assert graph.loss is Loss.NONE


def test_a_writer_that_the_graph_forgets_for_a_moment_is_not_lost(graph: Graph) -> None:
    graph.writers.clear()
    graph.run(0.5)
    graph.writers.append(BondWriter(TRUE, NAME))
    graph.run(2.0)
    assert not graph.events


def test_a_stopped_process_returns_with_its_writer(graph: Graph) -> None:
    graph.alive = 0
    graph.run(3.0, beats=False)
    assert graph.loss is Loss.SILENT
    graph.alive = 1
    graph.run(1.0)
    assert graph.loss is Loss.NONE
    assert len(graph.of(EventKind.LOST)) == 1
    assert len(graph.of(EventKind.RETURNED)) == 1


def test_a_restart_is_one_loss_and_a_new_bond(graph: Graph) -> None:
    graph.processes[10].has_ended = True
    graph.writers.append(BondWriter(OTHER, NAME))
    graph.receive(Sample(OTHER, 1, ACTIVE, "", 11))
    assert len(graph.of(EventKind.LOST)) == 1
    assert "restarted" in graph.of(EventKind.LOST)[0]
    assert graph.bond.sign is not None and graph.bond.sign.pid == 11
    assert graph.loss is Loss.NONE
    assert graph.processes[10].is_closed


def test_a_restart_after_the_loss_was_reported_is_no_second_loss(graph: Graph) -> None:
    graph.processes[10].has_ended = True
    graph.run(1.0, beats=False)
    graph.writers.append(BondWriter(OTHER, NAME))
    graph.receive(Sample(OTHER, 1, ACTIVE, "", 11))
    assert len(graph.of(EventKind.LOST)) == 1
    assert graph.bond.sign is not None and graph.bond.sign.gid == OTHER


@pytest.mark.parametrize("is_local", [True, False])
def test_a_second_node_takes_the_place_of_a_silent_one_unless_that_ones_process_lives(
    graph: Graph, is_local: bool
) -> None:
    graph.processes[10].is_known = is_local
    graph.writers.append(BondWriter(OTHER, NAME))
    graph.run(2.0, beats=False, forged=Sample(OTHER, 1, ACTIVE, "", 11))
    assert graph.bond.sign is not None
    assert graph.bond.sign.pid == (10 if is_local else 11)
    graph.writers.remove(BondWriter(TRUE, NAME))
    graph.run(1.0, beats=False, forged=Sample(OTHER, 100, ACTIVE, "", 11))
    assert graph.bond.sign.pid == 11


FORGERIES = {
    "another pid, no writer": Sample(b"\0" * 16, 0, ACTIVE, "", 666, "there"),
    "another pid, a made-up writer": Sample(b"\x07" * 16, 0, LEAVING, "", 666, "there", is_leaving=True),
    "its own writer": Sample(OTHER, 0, ACTIVE, "", 666, "there"),
    "the true writer repeated": Sample(TRUE, 0, ACTIVE, "", 10, "here", "space"),
    "the true writer, leaving": Sample(TRUE, 0, LEAVING, "", 10, "here", "space", is_leaving=True),
}


@pytest.mark.parametrize("what", FORGERIES)
@pytest.mark.parametrize("node", ["rogue", NAME])
def test_a_forged_status_causes_no_loss_and_is_named_once(graph: Graph, what: str, node: str) -> None:
    graph.run(10.0)
    graph.writers.append(BondWriter(OTHER, node))
    graph.alive = 2
    graph.run(UNNAMED_S + 3.0, forged=FORGERIES[what])
    assert not graph.of(EventKind.LOST)
    assert len(graph.of(EventKind.INTRUDER)) == 1
    assert graph.bond.sign is not None
    assert (graph.bond.sign.pid, graph.bond.sign.gid) == (10, TRUE)


@pytest.mark.parametrize("what", FORGERIES)
@pytest.mark.parametrize("node", ["rogue", NAME])
@pytest.mark.parametrize("is_local", [True, False])
def test_a_forged_status_hides_no_loss(graph: Graph, what: str, node: str, is_local: bool) -> None:
    graph.run(10.0)
    graph.writers.append(BondWriter(OTHER, node))
    graph.run(3.0, forged=FORGERIES[what])
    graph.alive = 1  # of the two
    graph.processes[10].has_ended = graph.processes[10].is_known = is_local
    limit_s = LOOK_S if is_local else SILENCE_S + LOOK_S
    assert seconds_to_loss(graph, FORGERIES[what]) <= limit_s + 0.1


def test_a_message_before_the_graph_knows_the_node_is_taken_at_a_later_look() -> None:
    graph = Graph(writers=[])
    graph.beat()
    assert graph.bond.sign is None
    graph.writers.append(BondWriter(TRUE, "_NODE_NAME_UNKNOWN_"))
    graph.look()
    assert graph.bond.sign is None
    graph.writers[:] = [BondWriter(TRUE, NAME)]
    graph.now_s += LOOK_S
    graph.look()
    assert graph.bond.sign is not None and graph.bond.sign.pid == 10
    assert not graph.events


def test_a_node_that_shuts_down_is_lost_once_and_may_still_send(graph: Graph) -> None:
    graph.newest = replace(graph.newest, state=LEAVING, is_leaving=True)
    graph.run(1.0)
    assert graph.loss is Loss.LEAVING
    graph.processes[10].has_ended = True
    graph.run(1.0, beats=False)
    assert graph.loss is Loss.GONE
    assert len(graph.of(EventKind.LOST)) == 1


def test_a_middleware_without_sequence_numbers_is_believed() -> None:
    graph = Graph()
    for _ in range(3):
        graph.now_s += PERIOD_S
        graph.receive(Sample(TRUE, NO_SEQUENCE, ACTIVE, "", 10))
    assert graph.bond.sign is not None and graph.bond.sign.heard_s == graph.now_s
    assert not graph.events


@pytest.mark.parametrize("writers", [1, 2])
def test_a_message_that_is_delivered_again_disturbs_nothing(graph: Graph, writers: int) -> None:
    graph.writers += [BondWriter(OTHER, "rogue")] * (writers - 1)
    graph.receive(graph.newest)
    graph.run(3.0)
    assert not graph.events
    assert graph.bond.sign is not None and graph.now_s - graph.bond.sign.heard_s < 2 * PERIOD_S


@pytest.mark.parametrize("step", [-20, 1000])
def test_numbers_that_jump_are_believed_while_there_is_one_writer(graph: Graph, step: int) -> None:
    graph.newest = replace(graph.newest, sequence=graph.newest.sequence + step)
    graph.run(3.0)
    assert not graph.events
    assert graph.bond.sign is not None and graph.now_s - graph.bond.sign.heard_s < 2 * PERIOD_S


def test_a_status_that_was_repeated_leaves_nothing_behind(graph: Graph) -> None:
    graph.run(10.0)
    graph.writers.append(BondWriter(OTHER, "rogue"))
    graph.run(5.0, forged=FORGERIES["the true writer repeated"])
    graph.writers.pop()
    graph.run(20.0)
    assert not graph.of(EventKind.LOST)
    assert graph.bond.sign is not None and graph.now_s - graph.bond.sign.heard_s < 2 * PERIOD_S


def test_many_unknown_writers_take_bounded_room(graph: Graph) -> None:
    for number in range(10 * CANDIDATES):
        graph.receive(Sample(number.to_bytes(16, "big"), 1, ACTIVE, "", number))
    graph.run(UNNAMED_S + 1.0)
    assert len(graph.of(EventKind.INTRUDER)) <= CANDIDATES
    assert len(graph.bond._candidates) <= CANDIDATES
