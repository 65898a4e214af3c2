"""Ireland: personal public service number (check letter modulo 23) and Eircode."""

from shoal.identifiers.countries.pack import Country, national_id, postal_code
from shoal.identifiers.header import words
from shoal.identifiers.shape import stdnum

# the 139 routing keys that there are (eircode.ie): R00 is not one of them, so that R000123 is a number of its owner
_ROUTING = (
    "A(4[125]|6[37]|75|8[1-6]|9[12468])|C15|D(0[1-9]|1[0-8]|2[024]|6W)|E(2[15]|3[24]|4[15]|53|91)|"
    "F(12|2[368]|3[15]|4[25]|5[26]|9[1-4])|H(1[2468]|23|5[34]|6[25]|[79]1)|K(3[246]|45|56|67|78)|N(3[79]|[49]1)|"
    "P(1[247]|2[45]|3[126]|4[37]|5[16]|6[17]|7[25]|8[15])|R(14|21|3[25]|4[25]|5[16]|9[35])|T(12|23|34|45|56)|"
    "V(1[45]|23|3[15]|42|9[2-5])|W(12|23|34|91)|X(35|42|91)|Y(14|2[15]|3[45])"
)

PACK = Country(
    "IE",
    (
        national_id(
            "ie-pps",
            "an Irish PPS number",
            r"(?i)^\d{7}[A-W][A-IW]?$",
            words("pps, ppsn, pps number, pps no"),
            check=stdnum("ie.pps"),
            chance=1 / 23,
            alone=0.9,
            width=0,
        ),
    ),
    (
        postal_code(
            "ie-eircode",
            "an Eircode",
            rf"(?i)^({_ROUTING}) ?[0-9AC-FHKNPRTV-Y]{{4}}$",
            "eircode, postcode",
            0.7,
        ),
    ),
)
