"""Machine code written by hand for a few functions of `compiled_in_lanes`: 16 numbers are worked on at once.

numba unrolls loops of fixed length before it looks for numbers to take together, and then finds none. Here they are
vectors from the start; whatever the processor, each lane adds in the same order, so that results are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing import templates

LANES = 16
# where nothing is: its square is still a number, and more than the square of any distance that is looked at
AWAY, GONE = 1e18, 1e17
_WORD, _FLOAT = ir.IntType(64), ir.FloatType()
_VECTOR, _DOUBLES = ir.VectorType(_FLOAT, LANES), ir.VectorType(ir.DoubleType(), LANES)
# what goes on in a lane: the builder, the vectors loaded for a column, and the number there
Step = Callable[[ir.IRBuilder, list[Any], Any], Any]


def function_type(loop: Any) -> Any:
    """The function as numba calls it: its machine code is that of the same name in this file."""
    written: Any = _WRITTEN[loop.__name__]
    return types.Function(cast(Any, templates).make_intrinsic_template(loop, written, loop.__name__))


def _array(context: Any, builder: ir.IRBuilder, kind: Any, value: Any) -> Any:
    return context.make_array(kind)(context, builder, value)


def _variable(builder: ir.IRBuilder, value: Any) -> Any:
    return cast(Any, cgutils).alloca_once_value(builder, value)


def _splat(builder: ir.IRBuilder, number: Any) -> Any:
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, one, zeros)


def _larger(builder: ir.IRBuilder, one: Any, two: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", one, two), one, two)


def _smaller(builder: ir.IRBuilder, one: Any, two: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", one, two), one, two)


def _of_all(builder: ir.IRBuilder, vector: Any, of_two: Callable[..., Any]) -> Any:
    """The largest or the smallest of all lanes."""
    half = LANES // 2
    while half:
        sides = [ir.Constant(ir.VectorType(ir.IntType(32), half), list(range(a, a + half))) for a in (0, half)]
        one, two = (builder.shuffle_vector(vector, vector, side) for side in sides)
        vector, half = of_two(builder, one, two), half // 2
    return builder.extract_element(vector, ir.IntType(32)(0))


def _side(builder: ir.IRBuilder, loaded: list[Any], x: Any) -> Any:
    """How far points are."""
    return builder.fsub(loaded[0], x)


def _side_of_box(builder: ir.IRBuilder, loaded: list[Any], x: Any) -> Any:
    """How far boxes are: 0 where they hold the number."""
    under, over = builder.fsub(loaded[0], x), builder.fsub(x, loaded[1])
    return _larger(builder, _larger(builder, under, over), ir.Constant(_VECTOR, [0.0] * LANES))


def _sum_of_squares(blocks: int, side: Step) -> Callable[..., Any]:
    """Code that fills lanes with sums of squared sides, and tells those that are within a bound by their bits."""

    def write(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        given = zip(signature.args, arguments, strict=True)
        arrays = [_array(context, builder, kind, value) for kind, value in given if isinstance(kind, types.Array)]
        number, bound = arguments[blocks], arguments[blocks + 2]
        row, lanes = arrays[blocks], arrays[blocks + 1]
        columns = builder.extract_value(row.shape, 0)
        first = builder.mul(number, columns)
        total = _variable(builder, ir.Constant(_VECTOR, [0.0] * LANES))
        with cgutils.for_range(builder, columns) as loop:
            at = builder.mul(builder.add(first, loop.index), _WORD(LANES))
            loaded = [_load(builder, builder.gep(array.data, [at])) for array in arrays[:blocks]]
            x = _splat(builder, builder.load(builder.gep(row.data, [loop.index])))
            far = side(builder, loaded, x)
            builder.store(builder.fadd(builder.load(total), builder.fmul(far, far)), total)
        found = builder.load(total)
        to = builder.bitcast(lanes.data, _VECTOR.as_pointer())
        builder.store(found, to, align=4)
        near = builder.fcmp_ordered("<=", found, _splat(builder, bound))
        return builder.zext(builder.bitcast(near, ir.IntType(LANES)), _WORD)

    return write


def _load(builder: ir.IRBuilder, at: Any) -> Any:
    return builder.load(builder.bitcast(at, _VECTOR.as_pointer()), align=4)


def _within(context: Any, leaves: Any, leaf: Any, row: Any, bound: Any, lanes: Any) -> Any:
    return types.int64(leaves, types.int64, row, types.float32, lanes), _sum_of_squares(1, _side)


def _boxes_within(context: Any, low: Any, high: Any, node: Any, row: Any, bound: Any, lanes: Any) -> Any:
    return types.int64(low, high, types.int64, row, types.float32, lanes), _sum_of_squares(2, _side_of_box)


def _lowest_bit(context: Any, bits: Any) -> Any:
    def write(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(types.int64), write


def _widths(context: Any, near: Any, block: Any, box: Any, lanes: Any) -> Any:
    def write(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        near, box, lanes = (_array(context, builder, signature.args[i], arguments[i]) for i in (0, 2, 3))
        columns = builder.extract_value(near.shape, 1)
        first = builder.mul(arguments[1], columns)
        total = _variable(builder, ir.Constant(_DOUBLES, [0.0] * LANES))
        with cgutils.for_range(builder, columns) as loop:
            x = _load(builder, builder.gep(near.data, [builder.mul(builder.add(first, loop.index), _WORD(LANES))]))
            places = loop.index, builder.add(loop.index, columns)
            bottom, top = (_splat(builder, builder.load(builder.gep(box.data, [at]))) for at in places)
            side = builder.fsub(_larger(builder, x, top), _smaller(builder, x, bottom))
            square = builder.fpext(builder.fmul(side, side), _DOUBLES)
            builder.store(builder.fadd(builder.load(total), square), total)
        builder.store(builder.load(total), builder.bitcast(lanes.data, _DOUBLES.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.none(near, types.int64, box, lanes), write


def _tighten(context: Any, lows: Any, highs: Any, of: Any, low: Any, high: Any, node: Any, lane: Any) -> Any:
    def write(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        lows, highs, low, high = (_array(context, builder, signature.args[i], arguments[i]) for i in (0, 1, 3, 4))
        columns = builder.extract_value(low.shape, 1)
        of, node = (builder.mul(arguments[i], columns) for i in (2, 5))
        changed = _variable(builder, ir.IntType(1)(0))
        gone, away = (ir.Constant(_VECTOR, [_FLOAT(number)] * LANES) for number in (GONE, -AWAY))
        with cgutils.for_range(builder, columns) as loop:
            at = builder.mul(builder.add(of, loop.index), _WORD(LANES))
            to = builder.add(builder.mul(builder.add(node, loop.index), _WORD(LANES)), arguments[6])
            bottoms, tops = (_load(builder, builder.gep(array.data, [at])) for array in (lows, highs))
            tops = builder.select(builder.fcmp_ordered(">", tops, gone), away, tops)
            for array, end in ((low, _of_all(builder, bottoms, _smaller)), (high, _of_all(builder, tops, _larger))):
                place = builder.gep(array.data, [to])
                differs = builder.fcmp_unordered("!=", end, builder.load(place))
                builder.store(builder.or_(builder.load(changed), differs), changed)
                builder.store(end, place)
        return builder.load(changed)

    return types.boolean(lows, highs, types.int64, low, high, types.int64, types.int64), write


_WRITTEN = {
    "within": _within,
    "boxes_within": _boxes_within,
    "lowest_bit": _lowest_bit,
    "widths": _widths,
    "tighten": _tighten,
}
