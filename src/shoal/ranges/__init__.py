"""Released values as ranges, and the trees by which columns get coarser: read, fitted into each other, written."""
