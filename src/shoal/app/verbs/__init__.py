"""The verbs of the app by name: each is a function of the library with the options of its command."""

from __future__ import annotations

from shoal.app.verbs import asking, looking, measuring, releasing, stepping
from shoal.app.verbs.base import Option, Task, Verb, VerbOptions

__all__ = ["VERBS", "Option", "Task", "Verb", "VerbOptions"]

VERBS: dict[str, Verb] = {
    verb.name: verb for verb in (*looking.VERBS, *measuring.VERBS, *releasing.VERBS, *asking.VERBS, *stepping.VERBS)
}
