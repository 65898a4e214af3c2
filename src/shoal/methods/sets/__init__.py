"""Sets of items and histories of events: made coarser by one cut of their tree, and rid of the few that stand out."""
