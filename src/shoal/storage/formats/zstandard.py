"""Zstandard as the standard library has it from Python 3.14 on, or as it is brought to Python before that."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import DecompressionParameter, ZstdError, ZstdFile, compress, get_frame_size
else:
    from backports.zstd import DecompressionParameter, ZstdError, ZstdFile, compress, get_frame_size

__all__ = ["DecompressionParameter", "ZstdError", "ZstdFile", "compress", "get_frame_size"]
