"""E-mail addresses: one @ between a local part and a domain with a dot (the common subset of RFC 5321)."""

from shoal.identifiers.header import words
from shoal.identifiers.shape import Shape

recognise = Shape(
    kind="email",
    rule="address",
    noun="an e-mail address",
    pattern=r"^(mailto:)?<?[^\s@<>,;:\"]{1,64}@([\p{L}\d]([\p{L}\d-]{0,61}[\p{L}\d])?\.)+[\p{L}]{2,24}>?$",
    words=words(
        """email, e-mail, mail, email address, indirizzo email, posta elettronica, pec, mailadresse, emailadresse,
        courriel, mel, adresse mail, adresse electronique, correo, correo electronico, e-mailadres, endereco de
        email""",
    ),
    alone=0.98,
)
