"""The kinds of identifiers that are found in free text, and the letter of each in HIPAA's list."""

from __future__ import annotations

from typing import Literal, get_args

TextKind = Literal[
    "name", "organisation", "address", "postal_code", "place", "date", "age_over_89", "phone", "fax", "email",
    "national_id", "record_number", "health_plan_number", "account_number", "licence_number", "vehicle_number",
    "device_number", "url", "ip", "username", "other_number",
]  # fmt: skip

TEXT_KINDS: tuple[TextKind, ...] = get_args(TextKind)

# 45 CFR 164.514(b)(2)(i): the letter under which the kind is listed; (R) is any other unique number or code
HIPAA_LETTERS: dict[TextKind, str] = {
    "name": "A", "organisation": "A", "address": "B", "postal_code": "B", "place": "B", "date": "C",
    "age_over_89": "C", "phone": "D", "fax": "E", "email": "F", "national_id": "G", "record_number": "H",
    "health_plan_number": "I", "account_number": "J", "licence_number": "K", "vehicle_number": "L",
    "device_number": "M", "url": "N", "ip": "O", "username": "R", "other_number": "R",
}  # fmt: skip
