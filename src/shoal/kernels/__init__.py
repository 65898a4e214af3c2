"""Loops over rows, compiled by Cython when shoal is built: each module stays Python, and gives the same uncompiled.

Numbers have 64 bits on every system unless a type says otherwise, arrays are contiguous, other threads run meanwhile.
"""
