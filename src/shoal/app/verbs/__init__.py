"""The verbs of the app by name: each answers a request of the library, with the options of its command."""

from __future__ import annotations

from shoal.app.verbs import asking, changing, measuring, releasing, stepping
from shoal.app.verbs.base import Task, Verb, VerbOptions

__all__ = ["VERBS", "Task", "Verb", "VerbOptions"]

VERBS: dict[str, Verb] = {
    verb.name: verb for part in (measuring, changing, releasing, asking, stepping) for verb in part.VERBS
}
