"""Arrays whose references are not counted, for the inside of kernels."""

from __future__ import annotations

from typing import Any, TypeAlias

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types  # type: ignore[import-untyped]
from numba.core import cgutils  # type: ignore[import-untyped]
from numba.extending import intrinsic  # type: ignore[import-untyped]

Opaque: TypeAlias = Any
"""Numba's own types: types, the target context, LLVM values."""


@intrinsic  # type: ignore[untyped-decorator]
def borrowed(typing_context: Opaque, value: Opaque) -> Opaque:
    """Return the same array, or tuple of such, without an owner: it can then be taken apart and passed on at no cost.

    Counting references is an atomic addition each time an array leaves a tuple or enters a function; in kernels of a
    microsecond that is most of the time. The caller's own reference keeps the memory alive while the kernel runs.

    Args:
        typing_context: Numba's, not used.
        value: In a kernel the array or tuple; here its type.
    """

    def build(context: Opaque, builder: Opaque, signature: Opaque, args: Opaque) -> Opaque:
        return _without_owner(context, builder, value, args[0])

    return value(value), build


def _without_owner(context: Opaque, builder: Opaque, kind: Opaque, value: Opaque) -> Opaque:
    if isinstance(kind, types.Array):
        array = cgutils.create_struct_proxy(kind)(context, builder, value=value)
        array.meminfo = ir.Constant(array.meminfo.type, None)
        array.parent = ir.Constant(array.parent.type, None)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        for i, part in enumerate(kind):
            bare = _without_owner(context, builder, part, builder.extract_value(value, i))
            value = builder.insert_value(value, bare, i)
    return value
