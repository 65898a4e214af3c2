"""Streams: records that are published while they arrive, each in a group of k persons and after few others (CASTLE)"""
