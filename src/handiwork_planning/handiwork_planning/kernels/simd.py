"""``Wide``: rows of numbers that kernels compute with as if they were one.

A row is eight float64 or sixteen float32; each place of it is called a lane.

Numba has no such type, and LLVM decides alone whether it turns a loop over neighbours into vector code. A value of
this type is an LLVM vector: one AVX-512 register, two of AVX, four of NEON. Arrays of them are arrays (rows, lanes),
C-contiguous; ``load`` and ``save`` move whole rows.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeAlias

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

LANES, SHORT_LANES = 8, 16
"""The number of float64 and of float32 in a row."""

Wide: TypeAlias = Any
"""The annotation of a row of numbers inside a kernel."""

_INDEX, _LANE = ir.IntType(64), ir.IntType(32)
_FLAGS = ("arcp", "contract", "nsz", "reassoc")
"""The same floating-point freedoms as for kernels, see kernels/jit.py."""

Opaque: TypeAlias = Any
"""Numba's own types: the target context, a signature, the values of arguments."""
Lowering: TypeAlias = Callable[[Opaque, ir.IRBuilder, Opaque, Opaque], Opaque]
Typed: TypeAlias = tuple[Any, Lowering]


class WideType(types.Type):  # type: ignore[misc] # a class without types
    """Numba's type of ``Wide``: ``lanes`` numbers of type ``scalar``."""

    def __init__(self, scalar: types.Type, lanes: int) -> None:
        super().__init__(name=f"Wide({scalar}, {lanes})")
        self.scalar, self.lanes = scalar, lanes

    @property
    def vector(self) -> ir.VectorType:
        """The corresponding type of LLVM."""
        return ir.VectorType(ir.DoubleType() if self.scalar is types.float64 else ir.FloatType(), self.lanes)


@register_model(WideType)
class _Model(models.PrimitiveModel):  # type: ignore[misc] # a class without types
    def __init__(self, manager: object, kind: WideType) -> None:
        super().__init__(manager, kind, kind.vector)


KINDS = {
    types.float64: WideType(types.float64, LANES),
    types.float32: WideType(types.float32, SHORT_LANES),
}


def _kind(value: types.Type) -> WideType:
    """Return the type of a row, or of the rows of a number's type or of an array."""
    return value if isinstance(value, WideType) else KINDS[getattr(value, "dtype", value)]


def _spread(builder: ir.IRBuilder, vector: ir.VectorType, value: ir.Value) -> ir.Value:
    if value.type == vector:
        return value
    nothing, zeros = ir.Constant(vector, ir.Undefined), ir.VectorType(_LANE, vector.count)
    first = builder.insert_element(nothing, value, ir.Constant(_LANE, 0))
    return builder.shuffle_vector(first, nothing, ir.Constant(zeros, [0] * vector.count))


def _binary(symbol: Callable[..., Any], instruction: str) -> None:
    """Define ``symbol`` for two rows, or one and a number."""

    class Template(ConcreteTemplate):  # type: ignore[misc] # a class without types
        cases = tuple(
            signature(wide, *pair)
            for scalar, wide in KINDS.items()
            for pair in ((wide, wide), (wide, scalar), (scalar, wide))
        )

    def lower(_context: object, builder: ir.IRBuilder, sig: Opaque, values: Opaque) -> ir.Value:
        a, b = (_spread(builder, sig.return_type.vector, v) for v in values)
        return getattr(builder, instruction)(a, b, flags=_FLAGS)

    infer_global(symbol)(Template)
    for case in Template.cases:
        lower_builtin(symbol, *case.args)(lower)


for _symbol, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _binary(_symbol, _instruction)


def _elementwise(name: str) -> Lowering:
    """Return a call of the LLVM intrinsic ``name`` of one argument."""

    def lower(_context: object, builder: ir.IRBuilder, sig: Opaque, values: Opaque) -> ir.Value:
        vector = sig.return_type.vector
        kind = ir.FunctionType(vector, [vector])
        bits = 64 if isinstance(vector.element, ir.DoubleType) else 32
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{vector.count}f{bits}")
        return builder.call(function, [_spread(builder, vector, values[0])])

    return lower


@intrinsic
def root(_context: object, x: types.Type) -> Typed:
    """Return the square root, lane by lane.

    Args:
        x: A row or a number.
    """
    return signature(_kind(x), x), _elementwise("sqrt")


@intrinsic
def nearest(_context: object, x: types.Type) -> Typed:
    """Return the nearest whole number, lane by lane.

    Args:
        x: A row or a number.
    """
    return signature(_kind(x), x), _elementwise("rint")


@intrinsic
def size(_context: object, x: types.Type) -> Typed:
    """Return the absolute value, lane by lane.

    Args:
        x: A row or a number.
    """
    return signature(_kind(x), x), _elementwise("fabs")


@intrinsic
def where_less(_context: object, a: types.Type, b: types.Type, x: types.Type, y: types.Type) -> Typed:
    """Return ``x`` in lanes in which ``a`` < ``b``, else ``y``; each is a row or a number, one at least a row.

    Args:
        a: Left side of the comparison.
        b: Right side of the comparison.
        x: Value if the comparison holds.
        y: Value otherwise.
    """
    kind = next(_kind(part) for part in (a, b, x, y) if isinstance(part, WideType))

    def lower(_context: object, builder: ir.IRBuilder, sig: Opaque, values: Opaque) -> ir.Value:
        p, q, u, v = (_spread(builder, sig.return_type.vector, value) for value in values)
        return builder.select(builder.fcmp_ordered("<", p, q), u, v)

    return signature(kind, a, b, x, y), lower


@intrinsic
def lanes_less(_context: object, a: types.Type, b: types.Type) -> Typed:
    """Return the set of lanes in which ``a`` < ``b``, one bit each, the lowest bit for the first lane.

    Args:
        a: A row or a number.
        b: A row or a number; one of both must be a row.
    """
    vector = _kind(a if isinstance(a, WideType) else b).vector

    def lower(_context: object, builder: ir.IRBuilder, _sig: object, values: Opaque) -> ir.Value:
        p, q = (_spread(builder, vector, value) for value in values)
        bits = builder.bitcast(builder.fcmp_ordered("<", p, q), ir.IntType(vector.count))
        return builder.zext(bits, _INDEX)

    return signature(types.int64, a, b), lower


@intrinsic
def spread(_context: object, x: types.Type) -> Typed:
    """Return the same number in all lanes.

    Args:
        x: The number.
    """
    vector = _kind(x).vector
    return signature(_kind(x), x), lambda _c, builder, _s, values: _spread(builder, vector, values[0])


def _row(
    context: Opaque, builder: ir.IRBuilder, kind: types.Type, array: ir.Value, row: ir.Value
) -> ir.Value:
    vector = _kind(kind).vector
    data = context.make_array(kind)(context, builder, array).data
    start = builder.gep(data, [builder.mul(row, ir.Constant(_INDEX, vector.count))])
    return builder.bitcast(start, vector.as_pointer())


@intrinsic
def load(_context: object, array: types.Type, row: types.Type) -> Typed:
    """Return a row of an array; the index is not checked.

    Args:
        array: Rows of lanes, (k, lanes).
        row: Index of the row.
    """

    def lower(context: Opaque, builder: ir.IRBuilder, sig: Opaque, values: Opaque) -> ir.Value:
        return builder.load(_row(context, builder, sig.args[0], *values), align=4)

    return signature(_kind(array), array, types.int64), lower


@intrinsic
def save(_context: object, array: types.Type, row: types.Type, value: types.Type) -> Typed:
    """Set a row of an array; the index is not checked.

    Args:
        array: Rows of lanes, (k, lanes).
        row: Index of the row.
        value: A row, or a number for all lanes.
    """
    vector = _kind(array).vector

    def lower(context: Opaque, builder: ir.IRBuilder, sig: Opaque, values: Opaque) -> ir.Value:
        row = _row(context, builder, sig.args[0], *values[:2])
        builder.store(_spread(builder, vector, values[2]), row, align=4)
        return context.get_dummy_value()

    return signature(types.void, array, types.int64, value), lower
