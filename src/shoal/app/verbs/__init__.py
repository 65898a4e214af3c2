"""The verbs of the app by name: each is a function of the library with the options of its command."""

from __future__ import annotations

from shoal.app.verbs import asking, attacking, changing, looking, measuring, releasing, scrubbing, stepping
from shoal.app.verbs.base import Option, Task, Verb, VerbOptions

__all__ = ["VERBS", "Option", "Task", "Verb", "VerbOptions"]

VERBS: dict[str, Verb] = {
    verb.name: verb
    for part in (looking, measuring, changing, scrubbing, releasing, attacking, asking, stepping)
    for verb in part.VERBS
}
