"""The table of formats equals the definitions of the messages, and the codec agrees with rclpy on each of them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message

from handiwork_ros.cdr.codec import MessageLayout, Template, numbers_at, read_layout, stamps_at
from handiwork_ros.cdr.cursors import HEAD, Unusual
from handiwork_ros.cdr.formats import FLOAT64, FLOATS, FORMATS, TEXT, TIME, UINT64, Block, MessageFormat

TEXTS = ("", "a", "ab", "cube", "a name of more than a few letters", "Größe")
PLAIN = (TEXT.name, TIME.name, UINT64.name, FLOAT64.name)
COUNTS = (0, 1, 2, 7)
every_format = pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.message.__name__)


def class_of(name: str) -> Any:
    package, kind = name.split("/")
    return getattr(importlib.import_module(f"{package}.msg"), kind)


def defined(kind: Any, array: str = "", path: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield array, path and type of each field, as the message's own definition has them."""
    for name, of in kind.get_fields_and_field_types().items():
        if of == FLOATS.name and array:
            yield array, f"{path}{name}", of
        elif of.startswith("sequence<"):
            entry = of.removeprefix("sequence<").removesuffix(">")
            yield from [(name, "", entry)] if entry in PLAIN else defined(class_of(entry), name)
        elif of in PLAIN:
            yield array, f"{path}{name}", of
        else:
            yield from defined(class_of(of), array, f"{path}{name}.")


def put(target: Any, path: str, value: Any) -> None:
    *above, name = path.split(".")
    setattr(attrgetter(".".join(above))(target) if above else target, name, value)


def get(target: Any, path: str) -> Any:
    return attrgetter(path)(target) if path else target


def filled(form: MessageFormat, rng: np.random.Generator, stamped: bool = True) -> Any:
    """Return a message with random content; ``stamped``: also the stamps of entries."""
    message = form.message()
    for block in form.blocks:
        if not block.array:
            fill(message, block, rng, True)
            continue
        of = (
            form.message.get_fields_and_field_types()[block.array].removeprefix("sequence<").removesuffix(">")
        )
        count = int(rng.choice(COUNTS))
        if of in PLAIN:
            setattr(message, block.array, [value_of(of, rng) for _ in range(count)])
        else:
            setattr(message, block.array, [fill(class_of(of)(), block, rng, stamped) for _ in range(count)])
    return message


def fill(target: Any, block: Block, rng: np.random.Generator, stamped: bool) -> Any:
    for field in block.fields:
        if field.type is FLOATS:
            continue
        if field.type is TIME:
            stamp = get(target, field.name)
            stamp.sec, stamp.nanosec = rng.integers((-5, 0), (2**31, 10**9)).tolist() if stamped else (0, 0)
        else:
            put(target, field.name, value_of(field.type.name, rng))
    return target


def value_of(of: str, rng: np.random.Generator) -> Any:
    if of == TEXT.name:
        return str(rng.choice(TEXTS))
    return int(rng.integers(2**63)) if of == UINT64.name else float(rng.normal())


def entries_of(message: Any, block: Block) -> list[Any]:
    return list(getattr(message, block.array)) if block.array else [message]


def texts_of(message: Any, block: Block) -> list[tuple[str, ...]]:
    names = [field.name for field in block.fields if field.type is TEXT]
    return [tuple(get(entry, name) for name in names) for entry in entries_of(message, block)]


def values_of(message: Any, block: Block, of: Any) -> list[list[Any]]:
    names = [field.name for field in block.fields if field.type is of]
    return [[get(entry, name) for name in names] for entry in entries_of(message, block)]


def check(layout: MessageLayout, data: bytes, message: Any, form: MessageFormat) -> None:
    """Compare everything that a layout finds with the message."""
    for block in form.blocks:
        types = {of for of, _ in block.runs}
        assert layout.counts[block.array] == len(entries_of(message, block))
        if TEXT in types:
            assert layout.texts[block.array] == texts_of(message, block)
        if FLOAT64 in types:
            numbers = numbers_at(data, layout.places(block.array, FLOAT64))
            wanted = np.array(values_of(message, block, FLOAT64)).ravel()
            np.testing.assert_array_equal(numbers.ravel(), wanted)
        if TIME in types:
            found = stamps_at(data, layout.places(block.array, TIME))
            assert found.tolist() == [s.sec + 1e-9 * s.nanosec for (s,) in values_of(message, block, TIME)]
        if UINT64 in types:
            places = HEAD + 8 * layout.places(block.array, UINT64)
            values = [[int.from_bytes(data[at : at + 8], "little") for at in row] for row in places.tolist()]
            assert values == values_of(message, block, UINT64)


@every_format
def test_the_table_has_the_fields_of_the_definition(form: MessageFormat) -> None:
    listed = [(block.array, field.name, field.type.name) for block in form.blocks for field in block.fields]
    assert listed == list(defined(form.message))


@every_format
def test_bytes_of_rclpy_are_read(form: MessageFormat) -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        message = filled(form, rng)
        data = serialize_message(message)
        check(read_layout(data, form), data, message, form)


@every_format
def test_a_layout_fits_the_same_texts_and_counts_only(form: MessageFormat) -> None:
    rng = np.random.default_rng(1)
    made = [filled(form, rng) for _ in range(40)]
    layouts = [read_layout(serialize_message(message), form) for message in made]
    fitting = 0
    for layout, message in zip(layouts, made, strict=True):
        for other in made:
            same = all(
                texts_of(message, block) == texts_of(other, block)
                and len(entries_of(message, block)) == len(entries_of(other, block))
                for block in form.blocks
            )
            data = serialize_message(other)
            assert layout.fits(data) == same
            if same:
                fitting += 1
                check(layout, data, other, form)
    assert len(made) <= fitting < len(made) ** 2


@every_format
def test_written_bytes_are_those_of_rclpy(form: MessageFormat) -> None:
    rng = np.random.default_rng(2)
    head = form.blocks[0] if not form.blocks[0].array else Block(())
    for _ in range(60):
        message = filled(form, rng, stamped=False)
        template = Template(form, {block.array: texts_of(message, block) for block in form.blocks})
        numbers = [np.ravel(values_of(message, block, FLOAT64)) for block in form.blocks if block.numbers]
        stamps = [(s.sec, s.nanosec) for row in values_of(message, head, TIME) for s in row]
        version = None
        if UINT64 in dict(head.runs):
            version = template.layout.begins["", UINT64][0][0], message.version
        data = template.write(*(stamps or [None]), np.concatenate([np.empty(0), *numbers]), version)
        assert deserialize_message(data, form.message) == message
        # Behind its end rclpy may pad the message.
        assert read_layout(data, form).fits(serialize_message(message)[: len(data)])


def test_an_entry_with_another_number_of_texts_is_refused() -> None:
    form = next(form for form in FORMATS if form.rows.array == "contacts")
    with pytest.raises(ValueError, match="has 1 texts; the message has 2"):
        Template(form, {"": [("world",)], "contacts": [("cup",)]})


@every_format
def test_a_message_that_is_cut_short_is_refused(form: MessageFormat) -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        message = filled(form, rng)
        data = serialize_message(message)
        end = len(data)
        # Padding: rclpy also keeps room to align the numbers of each list that turns out to be empty.
        lists = [block for block in form.blocks if FLOATS in dict(block.runs)]
        padding = 8 * (1 + sum(len(entries_of(message, block)) for block in lists))
        for size in range(end):
            try:
                read_layout(data[:size], form)
            except Unusual:
                continue
            # Only padding, which rclpy may add at the end, may be cut off.
            end = min(end, size)
        assert len(data) - end <= padding


@every_format
def test_changed_bytes_are_refused_or_read_as_rclpy_reads_them(form: MessageFormat) -> None:
    rng, accepted, refused = np.random.default_rng(4), 0, 0
    for _ in range(600):
        data = bytearray(serialize_message(filled(form, rng)))
        for at in rng.integers(0, len(data), 2):
            data[at] = rng.integers(256)
        try:
            layout = read_layout(bytes(data), form)
        except Unusual:
            refused += 1
            continue
        message = deserialize_message(bytes(data), form.message)
        accepted += 1
        assert [layout.counts[block.array] for block in form.blocks] == [
            len(entries_of(message, block)) for block in form.blocks
        ]
        for block in form.blocks:
            if TEXT in dict(block.runs):
                assert layout.texts[block.array] == texts_of(message, block)
    assert accepted > 20
    assert refused > 20
