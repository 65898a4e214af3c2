"""The verbs of the app by name: each is a function of the library with the options of its command."""

from __future__ import annotations

from shoal.app.verbs import asking, changing, looking, measuring, releasing, stepping
from shoal.app.verbs.base import Option, Task, Verb, VerbOptions

__all__ = ["VERBS", "Option", "Task", "Verb", "VerbOptions"]

VERBS: dict[str, Verb] = {
    verb.name: verb for part in (looking, measuring, changing, releasing, asking, stepping) for verb in part.VERBS
}
