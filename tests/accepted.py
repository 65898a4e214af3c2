"""The lines of a policy by which whoever signs accepts whatever attacks gain on people who are invented."""

from typing import Any

ACCEPTED: dict[str, Any] = {
    name: {"accept": "the people are invented"} for name in ("singling_out", "linkability", "inference")
}
