"""Wordings of five languages in which identifiers stand, each with what must go between brackets."""

from __future__ import annotations

import re

import pytest

from shoal.text.find import find_spans, settled_spans
from shoal.text.known import known_sets
from shoal.text.known_values import KnownValue

_MARK = re.compile(r"⟦([^⟧]*)⟧")


def _unmarked(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without its brackets, and where they stood."""
    text, places = "", []
    for number, part in enumerate(_MARK.split(marked)):
        if number % 2:
            places.append((len(text), len(text) + len(part)))
        text += part
    return text, places


def _missed(text: str, places: list[tuple[int, int]], spans: list) -> list[str]:
    covered = {place for span in spans for place in range(span.start, span.end)}
    return [
        text[start:end]
        for start, end in places
        if any(text[place].isalnum() and place not in covered for place in range(start, end))
    ]


FOUND = [
    # names: lower case after roles, sign-offs, capitals after roles, lines of their own, families
    "client ⟦hannah brookes⟧ rang re her bill",
    "la bimba ⟦giulia⟧ ha vomitato, mamma (⟦katia⟧) avvisata",
    "cliente ⟦ramiro etxeberria⟧ llama por la factura",
    "bitte zurückrufen wegen termin. lg ⟦steffi⟧",
    "HIJO ⟦RAMÓN⟧ AVISADO. LLAMAR A ⟦M. LAFUENTE⟧ SI EMPEORA",
    "Gracias por todo,\n⟦Leire⟧\nDpto. de Compras",
    "Nucleo ⟦Bevilacqua⟧, assistente sociale dott.ssa ⟦Zanin⟧",
    "Die Zeugin ⟦Annegret v. d. Heide⟧ ist nicht erschienen",
    "Il teste ⟦Mantegazza⟧ e la collega ⟦Bonaventura⟧ sono presenti",
    # numbers by their forms and labels
    "Verfahren ⟦12 C 344/21⟧ vor dem ⟦Amtsgericht Bad Homburg⟧",
    "Az. ⟦512 Js 30447/21⟧ und Betreuungssache ⟦XVII 88/19⟧",
    "Rechnung ⟦RE 2024 00318⟧ ist offen, Akte ⟦SP 2023-1187⟧ liegt vor",
    "PV n° ⟦2023/004512⟧ du ⟦commissariat de Sarcelles⟧",
    "autos de ejecución ⟦88/2021⟧ y expte. ⟦771/2020⟧ del ayuntamiento",
    "il fascicolo ⟦TM 340/2019⟧ è stato chiuso",
    "mi usuario es ⟦pgarrido⟧ y el portátil es el ⟦NVB-P-0331⟧",
    # user names
    "ma session ⟦egarnier⟧ est bloquée depuis ce matin",
    "Anmelden kann ich mich mit ⟦wuesten_c⟧ ganz normal",
    "Buongiorno, il mio utente è ⟦d.salvi⟧ e non funziona",
    "ACCOUNT ⟦VTONELLI⟧ BLOCCATO DOPO TRE TENTATIVI",
    # days and months
    "ripresa del lavoro prevista a ⟦settembre⟧ con la collega",
    "le operó usted de la rodilla en ⟦marzo⟧ y va bien",
    "feuille de transmission\n⟦18.02.⟧ fatigué\n⟦19.02.⟧ refuse la douche",
    "udienza fissata ⟦14/9⟧ e poi si vedrà",
    # ages
    "Grandad ⟦Albert⟧, ⟦91⟧, came along too",
    "Die Mutter ⟦Gerda⟧ (⟦96⟧) wohnt nebenan und ist rüstig",
    # organisations
    "RETOUR EN EHPAD ⟦LES GLYCINES⟧ LE MATIN AVEC LA FILLE",
    "USUARIA DEL ⟦AYUNTAMIENTO DE CALATAYUD⟧, NO PUEDE ENTRAR",
    "engaging with ⟦Medway Turning Point⟧ and the ⟦Sheffield Young Parents Project⟧",
    "pour le cabinet ⟦Hennebique & Fils⟧ à Tournai depuis un an",
    "wird zur ⟦Ambulanz Die Brücke⟧ begleitet, bei der ⟦Ravensberger BKK⟧ versichert",
    "lo inseriamo al ⟦Rifugio Segadelli⟧ o al ⟦Biscottificio Lenzi⟧",
    # addresses and places
    "wohnt in der ⟦Lindenstr. 14, 3. OG⟧ und ist allein",
    "vive in ⟦via Garibaldi 88/B, int. 4⟧ con la madre",
    "piso en ⟦C/ Escultor Santos 5, bloque 7, 4ºD⟧, sin luz en la casa",
    "habite avec sa mère au ⟦7 imp. des Lilas⟧ et le chien est avec elle",
    "Zuweisung durch Dr. ⟦Tscherne⟧, ⟦Kufstein⟧. Der Patient ist wach",
    "el chico llegó en patera a ⟦El Ejido⟧ y no tiene a nadie por la zona",
]
STAYS = [
    "La información se envía vía SMS. El paciente tiene TA 150/95",
    "comunicazione inviata VIA SMS al paziente con la terapia",
    "Ley 39/2006 y Reglamento (UE) 2016/679 no se aplican en este caso",
    "El usuario no puede entrar, cuenta bloqueada y sesión cerrada",
    "L'imprimante ne répond pas, session réinitialisée hier soir",
    "Er nimmt Medikinet 10 mg und lehnt Antabus ab",
    "Sertralina 50 mg por la mañana y Nolotil si dolor",
]
KNOWN = [
    ("14 Marlowe Gardens", "address", "He lives at ⟦14 Marlowe Gdns⟧ with her"),
    ("Chemin des Vignes 6", "address", "habite ⟦ch. des Vignes 6⟧ depuis un an"),
    ("Carrer de Balmes 310", "address", "recoger en ⟦c/ Balmes 310⟧ por la tarde"),
    ("7 impasse du Four à Chaux", "address", "chez moi, ⟦7 imp. du Four à Chaux⟧ merci"),
    ("INC418822", "other_number", "the ticket ⟦INC000418822⟧ is open"),
    ("INC000418822", "other_number", "the ticket ⟦INC 418822⟧ is open"),
    ("Amadou Diarra", "name", "colloquio con ⟦amadou⟧ che sta bene"),
    ("Dylan Masson", "name", "mineur ⟦dylan m.⟧, vu avec ses parents"),
    ("María del Mar Hinojosa", "name", "embarazada ⟦mª del mar⟧, viene sola"),
    ("Moritz von Alvensloh", "name", "Gruß, ⟦Moritz v. Alvensloh⟧"),
]


@pytest.mark.parametrize("marked", FOUND)
def test_what_stands_between_brackets_goes(marked: str) -> None:
    text, places = _unmarked(marked)
    assert _missed(text, places, find_spans([text])[0]) == []


@pytest.mark.parametrize("text", STAYS)
def test_what_identifies_nobody_stays(text: str) -> None:
    assert find_spans([text]) == [[]]


@pytest.mark.parametrize(("value", "kind", "marked"), KNOWN)
def test_a_known_value_goes_in_the_forms_that_people_write(value: str, kind: str, marked: str) -> None:
    text, places = _unmarked(marked)
    known = known_sets([[KnownValue(value, kind)]], [text])  # type: ignore[arg-type]
    assert _missed(text, places, settled_spans([text], known)[0]) == []
