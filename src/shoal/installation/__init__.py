"""What is installed here, and what keeps shoal from working: versions, extras, programs, caches, disk."""
