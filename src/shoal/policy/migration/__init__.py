"""Policies from the projects of other tools: ARX, sdcMicro, Amnesia. What cannot be taken over is listed."""
