"""Data, manifest, dictionary and private record leave together; and what left is measured afresh."""
