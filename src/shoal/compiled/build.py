"""Loops compiled by numba: the one place that imports it, and only when something is to be compiled.

The machine code of a loop is taken from numba, with an entry of our own that reads arrays as numpy keeps them, and laid
out as an image. Where that is not possible, numba runs the loop itself, and keeps it its own way.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba.core import types
from numba.core.caching import IndexDataCacheFile
from numba.np.arrayobj import populate_array

from shoal.compiled.image import Image, UnsupportedError, laid_out
from shoal.compiled.machine import ENTRY, RELEASE, Kind, can_load
from shoal.compiled.stamp import stamp

_BYTE, _WORD, _STATUS = ir.IntType(8), ir.IntType(64), ir.IntType(32)
_POINTER = _BYTE.as_pointer()
# an array of numpy's in memory: where its elements are, their number along each axis, and the steps between them
_ELEMENTS, _SHAPE, _STRIDES = 16, 32, 40
# memory for arrays as numba keeps it: references, three pointers of which the last is the array, its size
_HEAD = 40
_TAKE, _GIVE_BACK = "NRT_MemInfo_alloc_aligned", "NRT_MemInfo_call_dtor"


class StampedFile(IndexDataCacheFile):
    """The index of a loop's machine code; its stamp is taken when it is first looked at: then all names are known."""

    def __init__(self, file: IndexDataCacheFile, loop: Any) -> None:
        self.__dict__.update(vars(file))
        self._of_its_file, self._loop = self.__dict__.pop("_source_stamp"), loop

    @cached_property
    def _source_stamp(self) -> tuple[Any, str]:
        return self._of_its_file, stamp(self._loop)


def dispatcher(loop: Any) -> Any:
    """The loop as numba runs and keeps it."""
    try:
        made = cast(Any, numba.njit)(**loop.targetoptions, cache=True)(loop.py_func)
    except RuntimeError:  # there is no folder to keep it in
        return cast(Any, numba.njit)(**loop.targetoptions)(loop.py_func)
    if type(getattr(made._cache, "_cache_file", None)) is IndexDataCacheFile:
        made._cache._cache_file = StampedFile(made._cache._cache_file, loop)
    return made


def part(loop: Any) -> Any:
    """The loop as numba builds it into others."""
    return cast(Any, numba.njit)(**loop.targetoptions, no_cpython_wrapper=True)(loop.py_func)


def built(loop: Any, arguments: tuple[Any, ...]) -> tuple[Image, Kind] | None:
    """The machine code of a loop for arguments like these, and what it returns; nothing where only numba can run it.

    An error of numba's, as for a loop that it cannot compile, is raised.
    """
    kinds = tuple(cast(Any, numba.typeof)(argument) for argument in arguments)
    made = part(loop)._compiler.compile(kinds, None)
    try:
        result = _kind(made.signature.return_type)
        library = made.library
        machine = library._codegen._tm
        entry = llvm.parse_assembly(str(_entry(made)))
        entry.triple, entry.data_layout = machine.triple, str(machine.target_data)
        objects = [library._get_compiled_object(), machine.emit_object(entry)]
        image = laid_out(objects, [ENTRY, RELEASE])
    except (UnsupportedError, AttributeError, RuntimeError, TypeError, ValueError):
        return None
    return (image, result) if can_load(image) else None


def _kind(result: Any) -> Kind:
    """What a loop returns, by name."""
    if isinstance(result, types.NoneType):
        return None
    if isinstance(result, types.BaseTuple) and not isinstance(result, types.BaseNamedTuple):
        return {"tuple": [_kind(part) for part in cast(Any, result).types]}
    if isinstance(result, types.Array) and isinstance(result.dtype, (types.Integer, types.Float, types.Boolean)):
        return [result.dtype.name, result.ndim]
    if isinstance(result, (types.Integer, types.Float, types.Boolean)):
        return result.name
    raise UnsupportedError(f"a result of type {result}")


def _entry(made: Any) -> ir.Module:
    """The code around a loop: it takes arrays as Python has them, and gives the loop its memory."""
    module, context, kinds = ir.Module(), made.target_context, made.signature.args
    kind = context.call_conv.get_function_type(made.signature.return_type, kinds)
    loop = ir.Function(module, kind, made.fndesc.llvm_func_name)
    packer = context.get_arg_packer(kinds)
    takes = [
        _POINTER if isinstance(one, types.Array) else context.data_model_manager[one].get_argument_type()
        for one in kinds
    ]
    entry = ir.Function(module, ir.FunctionType(_STATUS, [*kind.args[:2], *takes]), ENTRY)
    builder = ir.IRBuilder(entry.append_basic_block())
    values = [
        _array(context, builder, one, value)
        if isinstance(one, types.Array)
        else context.data_model_manager[one].from_argument(builder, value)
        for one, value in zip(kinds, entry.args[2:], strict=True)
    ]
    builder.ret(builder.call(loop, [*entry.args[:2], *packer.as_arguments(builder, values)]))
    _memory(module)
    return module


def _array(context: Any, builder: ir.IRBuilder, kind: Any, value: Any) -> Any:
    """An array of numpy's as numba sees it."""

    def field(offset: int, of: Any) -> Any:
        at = builder.gep(value, [_WORD(offset)])
        return builder.load(builder.bitcast(at, of.as_pointer()))

    def numbers(offset: int) -> list[Any]:
        first = field(offset, _WORD.as_pointer())
        return [builder.load(builder.gep(first, [_WORD(axis)])) for axis in range(kind.ndim)]

    made = context.make_array(kind)(context, builder)
    element = context.get_data_type(kind.dtype)
    cast(Any, populate_array)(
        made,
        data=field(_ELEMENTS, element.as_pointer()),
        shape=numbers(_SHAPE),
        strides=numbers(_STRIDES),
        itemsize=context.get_abi_sizeof(element),
        meminfo=None,
    )
    return made._getvalue()


def _memory(module: ir.Module) -> None:
    """Memory from the C library, counted as numba counts its own: taken, given back, and let go by Python."""
    take = ir.Function(module, ir.FunctionType(_POINTER, [_WORD]), "malloc")
    free = ir.Function(module, ir.FunctionType(ir.VoidType(), [_POINTER]), "free")

    taken = ir.Function(module, ir.FunctionType(_POINTER, [_WORD, _STATUS]), _TAKE)
    builder = ir.IRBuilder(taken.append_basic_block())
    size, alignment = taken.args[0], builder.zext(taken.args[1], _WORD)
    block = builder.call(take, [builder.add(size, builder.add(alignment, _WORD(_HEAD)))])
    with builder.if_then(builder.icmp_unsigned("==", block, _POINTER(None))):
        builder.ret(block)
    end = builder.add(builder.ptrtoint(block, _WORD), builder.add(_WORD(_HEAD - 1), alignment))
    content = builder.and_(end, builder.neg(alignment))
    words = builder.bitcast(block, _WORD.as_pointer())
    for at, word in enumerate((_WORD(1), _WORD(0), _WORD(0), content, size)):
        builder.store(word, builder.gep(words, [_WORD(at)]))
    builder.ret(block)

    given_back = ir.Function(module, ir.FunctionType(ir.VoidType(), [_POINTER]), _GIVE_BACK)
    builder = ir.IRBuilder(given_back.append_basic_block())
    builder.call(free, [given_back.args[0]])
    builder.ret_void()

    release = ir.Function(module, ir.FunctionType(ir.VoidType(), [_POINTER]), RELEASE)
    builder = ir.IRBuilder(release.append_basic_block())
    count = builder.bitcast(release.args[0], _WORD.as_pointer())
    before = builder.atomic_rmw("sub", count, _WORD(1), ordering="acq_rel")
    with builder.if_then(builder.icmp_unsigned("==", before, _WORD(1))):
        builder.call(free, [release.args[0]])
    builder.ret_void()
