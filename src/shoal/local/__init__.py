"""Local privacy: people randomise their answers themselves; whoever collects them never sees a true one."""
