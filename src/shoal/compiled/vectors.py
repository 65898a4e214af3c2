"""Machine code written by hand for a few functions of `compiled_in_lanes`: 8 or 16 numbers are worked on at once.

numba unrolls loops of fixed length before it looks for numbers to take together, and then finds none; in loops of a
few columns it finds too few. Here they are vectors from the start: 16 or 8 records, column by column, or 8 columns of
one record. Whatever the processor, numbers are added in the same order, so that results are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing import templates

LANES, EIGHT = 16, 8
# where nothing is: its square is still a number, and more than the square of any distance that is looked at
AWAY, GONE = 1e18, 1e17
_WORD, _FLOAT = ir.IntType(64), ir.FloatType()
_VECTOR, _DOUBLES = ir.VectorType(_FLOAT, LANES), ir.VectorType(ir.DoubleType(), LANES)
_EIGHT = ir.VectorType(_FLOAT, EIGHT)
# where the costs of a group without one member start, among its costs
_WITHOUT = 2
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


def _splat(builder: ir.IRBuilder, number: Any, lanes: int = LANES) -> Any:
    undefined = ir.Constant(ir.VectorType(_FLOAT, lanes), ir.Undefined)
    one = builder.insert_element(undefined, number, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
    return builder.shuffle_vector(one, one, zeros)


def _larger(builder: ir.IRBuilder, one: Any, two: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", one, two), one, two)


def _smaller(builder: ir.IRBuilder, one: Any, two: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", one, two), one, two)


def _add(builder: ir.IRBuilder, one: Any, two: Any) -> Any:
    return builder.fadd(one, two)


def _of_all(builder: ir.IRBuilder, vector: Any, of_two: Callable[..., Any]) -> Any:
    """The largest or the smallest of all lanes, or their sum: that of the halves, again and again."""
    half = vector.type.count // 2
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


def _row(builder: ir.IRBuilder, array: Any, *at: Any) -> Any:
    """Where the numbers of a record or of one end of a box start: the last axis of an array."""
    place: Any = _WORD(0)
    for axis, number in enumerate(at):
        place = builder.add(builder.mul(place, builder.extract_value(array.shape, axis)), number)
    width = builder.extract_value(array.shape, len(at))
    return builder.gep(array.data, [builder.mul(place, width)])


def _eight(builder: ir.IRBuilder, row: Any, block: Any) -> Any:
    """Where the eight numbers of a block start."""
    return builder.bitcast(builder.gep(row, [builder.mul(block, _WORD(EIGHT))]), _EIGHT.as_pointer())


def _of_eight(builder: ir.IRBuilder, rows: list[Any], block: Any) -> list[Any]:
    return [builder.load(_eight(builder, row, block), align=4) for row in rows]


def _keep(builder: ir.IRBuilder, rows: list[Any], eights: list[Any], block: Any) -> None:
    for row, eight in zip(rows, eights, strict=True):
        builder.store(eight, _eight(builder, row, block), align=4)


def _blocks(builder: ir.IRBuilder, xs: Any) -> Any:
    """How many times eight columns there are; as many as to fill the last are added where records are laid out."""
    return builder.udiv(builder.extract_value(xs.shape, 1), _WORD(EIGHT))


def _taken_out(builder: ir.IRBuilder, ends: list[Any], gone: Any) -> tuple[Any, Any]:
    """A box without one of its members: where that was at the end, the next takes its place."""
    low, high, next_low, next_high = ends
    low = builder.select(builder.fcmp_ordered(">", gone, low), low, next_low)
    return low, builder.select(builder.fcmp_ordered("<", gone, high), high, next_high)


def _add_square(builder: ir.IRBuilder, x: Any, low: Any, high: Any, total: Any) -> None:
    """Add the squared distances to the farther of two ends."""
    side = _larger(builder, builder.fsub(high, x), builder.fsub(x, low))
    side = _larger(builder, side, ir.Constant(_EIGHT, [0.0] * EIGHT))
    builder.store(_add(builder, builder.load(total), builder.fmul(side, side)), total)


def _sum_of_farther(builder: ir.IRBuilder, xs: Any, sides_of: Callable[[Any], tuple[Any, Any, Any]]) -> Any:
    """The sum over columns of the squared distance to the farther end: `sides_of` gives x, low and high of a block."""
    nothing = ir.Constant(_EIGHT, [0.0] * EIGHT)
    total = _variable(builder, nothing)
    with cgutils.for_range(builder, _blocks(builder, xs)) as loop:
        x, low, high = sides_of(loop.index)
        _add_square(builder, x, low, high, total)
    return _of_all(builder, builder.load(total), _add)


def _square_far(context: Any, xs: Any, i: Any, ends: Any, g: Any, low: Any, high: Any) -> Any:
    def write(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        xs, ends = (_array(context, builder, signature.args[at], arguments[at]) for at in (0, 2))
        rows = [_row(builder, xs, arguments[1]), *(_row(builder, ends, arguments[3], end) for end in arguments[4:])]

        def sides_of(block: Any) -> tuple[Any, Any, Any]:
            x, low, high = _of_eight(builder, rows, block)
            return x, low, high

        return _sum_of_farther(builder, xs, sides_of)

    number = types.int64
    return types.float32(xs, number, ends, number, number, number), write


def _square_far_without(context: Any, xs: Any, i: Any, ends: Any, g: Any, out: Any) -> Any:
    def write(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        xs, ends = (_array(context, builder, signature.args[at], arguments[at]) for at in (0, 2))
        rows = [_row(builder, xs, arguments[at]) for at in (1, 4)]
        rows += [_row(builder, ends, arguments[3], _WORD(end)) for end in range(4)]

        def sides_of(block: Any) -> tuple[Any, Any, Any]:
            x, gone, *four = _of_eight(builder, rows, block)
            return x, *_taken_out(builder, four, gone)

        return _sum_of_farther(builder, xs, sides_of)

    return types.float32(xs, types.int64, ends, types.int64, types.int64), write


def _widened(context: Any, xs: Any, new: Any, ends: Any, g: Any, to: Any) -> Any:
    def write(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        xs, ends = (_array(context, builder, signature.args[at], arguments[at]) for at in (0, 2))
        rows = [_row(builder, xs, arguments[1]), *(_row(builder, ends, arguments[3], _WORD(at)) for at in range(2))]
        targets = [_row(builder, ends, arguments[4], _WORD(at)) for at in range(2)]
        with cgutils.for_range(builder, _blocks(builder, xs)) as loop:
            x, low, high = _of_eight(builder, rows, loop.index)
            _keep(builder, targets, [_smaller(builder, x, low), _larger(builder, x, high)], loop.index)
        return context.get_dummy_value()

    return types.none(xs, types.int64, ends, types.int64, types.int64), write


def _exchanged(context: Any, xs: Any, out: Any, new: Any, ends: Any, g: Any, to: Any) -> Any:
    def write(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        xs, ends = (_array(context, builder, signature.args[at], arguments[at]) for at in (0, 3))
        rows = [_row(builder, xs, arguments[at]) for at in (1, 2)]
        rows += [_row(builder, ends, arguments[4], _WORD(end)) for end in range(4)]
        targets = [_row(builder, ends, arguments[5], _WORD(at)) for at in range(2)]
        with cgutils.for_range(builder, _blocks(builder, xs)) as loop:
            gone, x, *four = _of_eight(builder, rows, loop.index)
            low, high = _taken_out(builder, four, gone)
            _keep(builder, targets, [_smaller(builder, x, low), _larger(builder, x, high)], loop.index)
        return context.get_dummy_value()

    return types.none(xs, types.int64, types.int64, ends, types.int64, types.int64), write


def _hold(context: Any, xs: Any, i: Any, ends: Any, g: Any) -> Any:
    def write(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        xs, ends = (_array(context, builder, signature.args[at], arguments[at]) for at in (0, 2))
        row, four = _row(builder, xs, arguments[1]), [_row(builder, ends, arguments[3], _WORD(end)) for end in range(4)]
        with cgutils.for_range(builder, _blocks(builder, xs)) as loop:
            x, low, high, next_low, next_high = _of_eight(builder, [row, *four], loop.index)
            held = [
                _smaller(builder, x, low),
                _larger(builder, x, high),
                _smaller(builder, _larger(builder, x, low), next_low),
                _larger(builder, _smaller(builder, x, high), next_high),
            ]
            _keep(builder, four, held, loop.index)
        return context.get_dummy_value()

    return types.none(xs, types.int64, ends, types.int64), write


def _root(builder: ir.IRBuilder, eight: Any) -> Any:
    name = "llvm.sqrt.v8f32"
    root = builder.module.globals.get(name) or ir.Function(builder.module, ir.FunctionType(_EIGHT, [_EIGHT]), name)
    return builder.call(root, [eight])


def _far_of_members(
    builder: ir.IRBuilder, laid: Any, at: tuple[Any, Any], rows: list[Any], box_of: Callable[..., tuple[Any, Any, Any]]
) -> Any:
    """How far eight members are from the farthest corner: `box_of` gives x, low and high, from theirs and the rows'.

    Columns with an even number are added for themselves, as are the others: one sum does not wait for the other.
    """
    members, columns = _row(builder, laid, *at, _WORD(0)), builder.extract_value(laid.shape, 2)
    nothing = ir.Constant(_EIGHT, [0.0] * EIGHT)
    even, odd = _variable(builder, nothing), _variable(builder, nothing)

    def add(column: Any, total: Any) -> None:
        [own] = _of_eight(builder, [members], column)
        numbers = [_splat(builder, builder.load(builder.gep(row, [column])), EIGHT) for row in rows]
        x, low, high = box_of(own, *numbers)
        _add_square(builder, x, low, high, total)

    with cgutils.for_range(builder, builder.lshr(columns, _WORD(1))) as loop:
        column = builder.shl(loop.index, _WORD(1))
        add(column, even)
        add(builder.add(column, _WORD(1)), odd)
    with builder.if_then(builder.trunc(columns, ir.IntType(1))):
        add(builder.sub(columns, _WORD(1)), even)
    return _root(builder, _add(builder, builder.load(even), builder.load(odd)))


def _bits(builder: ir.IRBuilder, near: Any) -> Any:
    return builder.zext(builder.bitcast(near, ir.IntType(EIGHT)), _WORD)


def _from_box(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any, first: int) -> Any:
    """How far eight members are from the farthest corner of the box that two rows of ends are."""
    laid, ends = (_array(context, builder, signature.args[at], arguments[at]) for at in (0, 3))
    rows = [_row(builder, ends, arguments[4], _WORD(first + end)) for end in range(2)]
    return _far_of_members(builder, laid, (arguments[1], arguments[2]), rows, lambda *of: of)


def _near_core(context: Any, laid: Any, g: Any, block: Any, ends: Any, of: Any, bound: Any) -> Any:
    def write(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        far = _from_box(context, builder, signature, arguments, 2)
        return _bits(builder, builder.fcmp_ordered("<", far, _splat(builder, arguments[5], EIGHT)))

    return types.int64(laid, types.int64, types.int64, ends, types.int64, types.float32), write


def _sum_of_far(context: Any, laid: Any, g: Any, block: Any, ends: Any, of: Any, counted: Any) -> Any:
    def write(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        far = _from_box(context, builder, signature, arguments, 0)
        chosen = builder.bitcast(builder.trunc(arguments[5], ir.IntType(EIGHT)), ir.VectorType(ir.IntType(1), EIGHT))
        return _of_all(builder, builder.select(chosen, far, ir.Constant(_EIGHT, [0.0] * EIGHT)), _add)

    return types.float32(laid, types.int64, types.int64, ends, types.int64, types.int64), write


def _keep_least_far(context: Any, laid: Any, g: Any, block: Any, ends: Any, of: Any, least: Any) -> Any:
    def write(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        far = _from_box(context, builder, signature, arguments, 0)
        place = _eight(builder, _array(context, builder, signature.args[5], arguments[5]).data, arguments[2])
        builder.store(_smaller(builder, far, builder.load(place, align=4)), place, align=4)
        return context.get_dummy_value()

    return types.none(laid, types.int64, types.int64, ends, types.int64, least), write


def _far_with_one_out(
    context: Any, laid: Any, g: Any, block: Any, xs: Any, i: Any, ends: Any, costs: Any, limit: Any, far: Any
) -> Any:
    def write(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        arrays = {at: _array(context, builder, signature.args[at], arguments[at]) for at in (0, 3, 5, 6, 8)}
        g, block = arguments[1], arguments[2]
        rows = [_row(builder, arrays[3], arguments[4])]
        rows += [_row(builder, arrays[5], g, _WORD(end)) for end in range(4)]

        def box_of(gone: Any, x: Any, *four: Any) -> tuple[Any, Any, Any]:
            return x, *_taken_out(builder, list(four), gone)

        found = _far_of_members(builder, arrays[0], (g, block), rows, box_of)
        builder.store(found, _eight(builder, arrays[8].data, block), align=4)
        without = builder.gep(_row(builder, arrays[6], g), [_WORD(_WITHOUT)])
        [cost] = _of_eight(builder, [without], block)
        limit = _splat(builder, arguments[7], EIGHT)
        return _bits(builder, builder.fcmp_ordered("<", _add(builder, cost, found), limit))

    number = types.int64
    return number(laid, number, number, xs, number, ends, costs, types.float32, far), write


_WRITTEN = {
    "within": _within,
    "boxes_within": _boxes_within,
    "lowest_bit": _lowest_bit,
    "widths": _widths,
    "tighten": _tighten,
    "square_far": _square_far,
    "square_far_without": _square_far_without,
    "widened": _widened,
    "exchanged": _exchanged,
    "hold": _hold,
    "near_core": _near_core,
    "sum_of_far": _sum_of_far,
    "keep_least_far": _keep_least_far,
    "far_with_one_out": _far_with_one_out,
}
