"""The web app of this machine: pages and a JSON API around the library's verbs. It holds no rules.

The way of a request: `security.Guard` (host, origin, session, size) → a page of `pages/` or a route of `api.py` →
`project.Workspace` (what is known about one opened file, on disk) → where something must be computed, `jobs.Jobs`
starts a child process (`worker.py`) that calls one entry of `verbs/` → the verb's `to_dict()` and `sections()` are
written to the workspace → the page renders them. The server itself never reads a table.
"""
