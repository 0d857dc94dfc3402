"""``Wide``: eight float64 numbers that kernels compute with as if they were one; each place is called a lane.

Numba has no such type, and whether LLVM turns a loop over neighbours into vector code is its own choice. A value of
this type is an LLVM vector: one AVX-512 register, two of AVX, four of NEON. Arrays of them are float64 arrays
(rows, LANES), C-contiguous; ``load`` and ``save`` move whole rows.
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

LANES = 8

Wide: TypeAlias = Any
"""For annotations: eight float64 inside a kernel."""

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_INDEX, _LANE = ir.IntType(64), ir.IntType(32)
_ZEROS = ir.Constant(ir.VectorType(_LANE, LANES), [0] * LANES)
_NOTHING = ir.Constant(_VECTOR, ir.Undefined)
_FLAGS = ("arcp", "contract", "nsz", "reassoc")
"""As for kernels, see jit.py."""

Opaque: TypeAlias = Any
"""Numba's own: the target context, a signature, the values of arguments."""
Lowering: TypeAlias = Callable[[Opaque, ir.IRBuilder, Opaque, Opaque], Opaque]
Typed: TypeAlias = tuple[Any, Lowering]


class WideType(types.Type):  # type: ignore[misc] # a class without types
    """What Numba knows of ``Wide``."""

    def __init__(self) -> None:
        super().__init__(name="Wide")


@register_model(WideType)
class _Model(models.PrimitiveModel):  # type: ignore[misc] # a class without types
    def __init__(self, manager: object, kind: object) -> None:
        super().__init__(manager, kind, _VECTOR)


WIDE, FLOAT = WideType(), types.float64


def _spread(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    if value.type == _VECTOR:
        return value
    first = builder.insert_element(_NOTHING, value, ir.Constant(_LANE, 0))
    return builder.shuffle_vector(first, _NOTHING, _ZEROS)


def _binary(symbol: Callable[..., Any], instruction: str) -> None:
    """Define ``symbol`` for two Wide, or one and a number."""

    class Template(ConcreteTemplate):  # type: ignore[misc] # a class without types
        cases = (signature(WIDE, WIDE, WIDE), signature(WIDE, WIDE, FLOAT), signature(WIDE, FLOAT, WIDE))

    def lower(_context: object, builder: ir.IRBuilder, _sig: object, values: Opaque) -> ir.Value:
        a, b = (_spread(builder, v) for v in values)
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
    """A call of the LLVM intrinsic ``name`` of one argument."""

    def lower(_context: object, builder: ir.IRBuilder, _sig: object, values: Opaque) -> ir.Value:
        kind = ir.FunctionType(_VECTOR, [_VECTOR])
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{LANES}f64")
        return builder.call(function, [_spread(builder, values[0])])

    return lower


@intrinsic
def root(_context: object, x: types.Type) -> Typed:
    """Square root, lane by lane."""
    return signature(WIDE, x), _elementwise("sqrt")


@intrinsic
def nearest(_context: object, x: types.Type) -> Typed:
    """Nearest whole number, lane by lane."""
    return signature(WIDE, x), _elementwise("rint")


@intrinsic
def size(_context: object, x: types.Type) -> Typed:
    """Absolute value, lane by lane."""
    return signature(WIDE, x), _elementwise("fabs")


@intrinsic
def where_less(_context: object, a: types.Type, b: types.Type, x: types.Type, y: types.Type) -> Typed:
    """``x`` in lanes where ``a`` < ``b``, else ``y``; each is Wide or a number."""

    def lower(_context: object, builder: ir.IRBuilder, _sig: object, values: Opaque) -> ir.Value:
        p, q, u, v = (_spread(builder, value) for value in values)
        return builder.select(builder.fcmp_ordered("<", p, q), u, v)

    return signature(WIDE, a, b, x, y), lower


@intrinsic
def spread(_context: object, x: types.Type) -> Typed:
    """The same number in all lanes."""
    return signature(WIDE, x), lambda _c, builder, _s, values: _spread(builder, values[0])


def _row(
    context: Opaque, builder: ir.IRBuilder, kind: types.Type, array: ir.Value, row: ir.Value
) -> ir.Value:
    data = context.make_array(kind)(context, builder, array).data
    start = builder.gep(data, [builder.mul(row, ir.Constant(_INDEX, LANES))])
    return builder.bitcast(start, _VECTOR.as_pointer())


@intrinsic
def load(_context: object, array: types.Type, row: types.Type) -> Typed:
    """Row ``row`` of ``array`` (k, LANES) float64; the index is not checked."""

    def lower(context: Opaque, builder: ir.IRBuilder, sig: Opaque, values: Opaque) -> ir.Value:
        return builder.load(_row(context, builder, sig.args[0], *values), align=8)

    return signature(WIDE, array, types.int64), lower


@intrinsic
def save(_context: object, array: types.Type, row: types.Type, value: types.Type) -> Typed:
    """Set row ``row`` of ``array`` (k, LANES) float64; the index is not checked."""

    def lower(context: Opaque, builder: ir.IRBuilder, sig: Opaque, values: Opaque) -> ir.Value:
        builder.store(_spread(builder, values[2]), _row(context, builder, sig.args[0], *values[:2]), align=8)
        return context.get_dummy_value()

    return signature(types.void, array, types.int64, value), lower
