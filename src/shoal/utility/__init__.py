"""What a change cost, and what is left."""
