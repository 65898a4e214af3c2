"""UUIDs (RFC 9562): 8-4-4-4-12 hexadecimal digits."""

from shoal.identifiers.header import words
from shoal.identifiers.shape import Shape

recognise = Shape(
    kind="uuid",
    rule="rfc-9562",
    noun="a UUID",
    pattern=r"(?i)^(urn:uuid:)?\{?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}?$",
    words=words("uuid, guid, unique id, uid"),
    alone=0.98,
)
