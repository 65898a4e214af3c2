"""`shoal dp-release`: a table or tables of counts under differential privacy, written with all that belongs to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal.dp.desk import Desk
from shoal.dp.tables.account import Account
from shoal.dp.tables.counts import LIST
from shoal.dp.tables.make import DrawPlan, make, plan_of, preview
from shoal.dp.tables.results import PrivateTable
from shoal.errors import InputError, Message
from shoal.policy import Policy, as_policy
from shoal.policy.manifest import files_of, policy_path
from shoal.releases import folder as folders
from shoal.releases.documents import ReleaseDocuments
from shoal.releases.places import Place, check_free, check_not_input, place_of, write_release
from shoal.releases.private_table import documents_of, public_part
from shoal.releases.published import cover_files
from shoal.releases.signing import check_signing_key
from shoal.storage.reading import Options, read
from shoal.storage.writing import check_apart, digest_of_file, sha256, write_bytes
from shoal.verbs.base import takes
from shoal.verbs.releasing import DpReleaseRequest


@takes(DpReleaseRequest)
def dp_release(source: Any, request: DpReleaseRequest) -> PrivateTable:
    """Draw a table, or tables of counts, under differential privacy, and release it.

    Domains, bounds and the number of records are public only if the policy (`domains`, `public_records`), a hierarchy
    or a code book says so; the values of other columns are bought (`domain_from_data`). With `output` the release is
    written: data, manifest, dictionary, private record. Errors against the original are for the owner: they stand in
    the result and in the private record. `preview` looks at the domains and the budget only.

    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["F", "M"] * 500, "age": [30, 41, 58, 77] * 250})
    >>> public = {"domains": {"sex": ["F", "M"], "age": {"min": 0, "max": 99, "width": 10}}}
    >>> made = dp_release(people, public, epsilon="1", delta="1e-6")
    >>> made.frame.columns, abs(made.records - 1000) < 200, made.unit
    (['sex', 'age'], True, 'record')
    """
    policy, options = as_policy(request.policy), request.options or Options()
    if request.preview:
        names = [*policy.domains, *_named(policy), *(request.domain_from_data or ())]
        return preview(plan_of(policy, request, list(dict.fromkeys(names)), options))
    output = None if request.output is None else str(request.output)
    place = None if output is None or request.tables else place_of(output)
    _check_places(source, request, place)
    table = read(source, None, replace(options, as_text=True))
    plan = plan_of(policy, request, table.names, options)
    digest = digest_of_file(source)
    with _ledger(request, plan, digest) as desk:

        def afford(account: Account) -> None:
            if desk is not None:
                desk.check_release(account.price(desk.terms.accounting), plan.person, digest)

        def pay(data_sha256: str) -> None:
            if desk is not None:
                price = plan.account.price(desk.terms.accounting)
                told = {"epsilon": made.epsilon, "delta": made.delta, "synthesizer": made.synthesizer}
                desk.pay_release(price, {**told, "data_sha256": data_sha256})

        made = make(plan, table, options, afford)
        if output is None:
            pay(made.unit)
            return made
        public = public_part(policy, list(made.public["domains"]), plan.person)
        if place is None:
            return _write_tables(made, plan, public, Path(output), request, digest, pay)
        return write_table(made, plan, public, place, digest, request.sign, pay, request.force)


def _named(policy: Policy) -> list[str]:
    """The columns that a policy knows to be in the table, in a preview that reads none."""
    treed = policy.hierarchies if isinstance(policy.hierarchies, dict) else ()
    return [*(name for name, role in policy.columns.items() if role not in ("identifier", "text")), *treed]


def _check_places(source: Any, request: DpReleaseRequest, place: Place | None) -> None:
    if request.output is None:
        return
    check_signing_key(request.sign)
    if place is None:
        folders.check_outside(
            source, request.policy, as_policy(request.policy), request.sign, Path(request.output), None
        )
        folders.check_free(Path(request.output), request.force)
        return
    check_apart(input=source, signing_key=request.sign, output=files_of(place.path))
    check_not_input([source], place)
    check_free(place, request.force)


@contextmanager
def _ledger(request: DpReleaseRequest, plan: DrawPlan, digest: str | None) -> Iterator[Desk | None]:
    if request.desk is None:
        if request.ledger_key is not None or request.witness is not None:
            raise InputError(Message("A ledger's key is given, and no {desk}."), "Name the desk too.")
        yield None
        return
    if plan.synthesizer == "microaggregate" and not plan.tables:
        raise InputError(
            "Microaggregation hides which record was replaced, a desk whether one is there: they do not add up.",
            Message("Take another synthesizer, or release without {desk}."),
        )
    with Desk(request.desk, ledger_key=request.ledger_key, witness=request.witness) as desk:
        yield desk


def write_table(
    made: PrivateTable,
    plan: DrawPlan,
    public: Policy,
    place: Place,
    digest: str | None,
    sign: str | Path | None,
    pay: Callable[[str], None] = lambda digest: None,
    force: bool = False,
) -> PrivateTable:
    """Write a table that was drawn with all that belongs to it, once `pay` has paid for the bytes that are to leave."""
    assert made.frame is not None
    frame = made.frame

    def documents() -> ReleaseDocuments:
        written = place.digest()
        pay(written)
        return documents_of(made, plan.account, public, frame, place.path, written, digest, sign, place.stored_in)

    write_release(lambda: place.stage(frame, public.output), place, force, documents)
    return replace(made, output=str(place.shown))


def _write_tables(
    made: PrivateTable,
    plan: DrawPlan,
    public: Policy,
    output: Path,
    request: DpReleaseRequest,
    digest: str | None,
    pay: Callable[[str], None],
) -> PrivateTable:
    """A folder of tables with a list of them, and beside it the owner's folder."""
    assert made.tables is not None
    rows = [(name, ",".join(frame.columns[:-1]), len(frame)) for name, frame in made.tables.items()]
    listed = pl.DataFrame(rows, schema=["file", "columns", "cells"], orient="row")
    with folders.staged(output) as drafts:
        for name, frame in {LIST: listed, **made.tables}.items():
            write_bytes(drafts.public / name, frame.write_csv().encode(), 0o644)
        data = drafts.public / LIST
        pay(sha256(data))
        parts = documents_of(made, plan.account, public, listed, data, sha256(data), digest, None)
        for part, (content, mode) in parts.files(data).items():
            name = "policy.yaml" if part == policy_path(data) else part.name
            write_bytes((drafts.public if mode == 0o644 else drafts.private) / name, content, mode)
        cover_files(data, drafts.private, request.sign)
        folders.take_place(drafts, output, request.force)
    return replace(made, output=str(output))
