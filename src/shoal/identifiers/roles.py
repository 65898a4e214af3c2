"""The role that each kind proposes for its column."""

IDENTIFIER, QUASI_IDENTIFIER, SENSITIVE, OTHER = "identifier", "quasi-identifier", "sensitive", "other"

# A kind is an identifier where one value points at one person, or at a record or device of theirs; a
# quasi-identifier where others may know it; sensitive where it is what they would want to learn. Free text may hold
# any of it and is treated as an identifier: it cannot be generalised, and it must not pass.
ROLE_OF_KIND: dict[str, str] = {
    **dict.fromkeys(
        (
            "account-number", "biometric", "device-number", "email", "fax", "free-text", "hash",
            "health-plan-number", "iban",
            "ip-address", "licence-number", "mac-address", "medical-record-number", "name", "national-id",
            "payment-card",
            "phone", "photograph", "street-address", "unique-code", "url", "username", "uuid", "vehicle-number",
        ),
        IDENTIFIER,
    ),
    **dict.fromkeys(
        (
            "age", "coordinates", "date", "date-of-birth", "education", "ethnicity", "geography", "marital-status",
            "household", "language", "nationality", "occupation", "postal-code", "relationship", "sex",
        ),
        QUASI_IDENTIFIER,
    ),
    **dict.fromkeys(
        (
            "assessment", "benefits", "criminal-record", "diagnosis", "health", "income", "medication", "opinion",
            "political-opinion", "procedure", "religion", "sexual-orientation",
        ),
        SENSITIVE,
    ),
    # what a survey needs for itself: how many people a record stands for, how it was drawn, how it was asked
    **dict.fromkeys(("survey-design", "survey-process", "survey-weight"), OTHER),
}  # fmt: skip
# whole numbers that stand for these are names, without an order
NUMBERED = ("ethnicity", "geography", "marital-status", "nationality", "occupation", "relationship", "religion", "sex")
