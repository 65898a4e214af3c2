"""Names that stand for names: given names of women and men and surnames for every letter, so that initials agree."""

from __future__ import annotations

from functools import cache
from typing import Literal

from shoal.text.word_sets import words_set
from shoal.text.words import is_word, strata

Gender = Literal["f", "m"]

_WOMEN = """
Ada Agnes Alma Amelia Annika Audrey Bianca Blanche Bridget Britta Beryl Carla Cecilia Clara Colette Cora Dagmar Daphne
Delia Doris Dina Edith Elena Elise Esther Eva Fabia Fiona Flora Frieda Francine Gerda Gilda Greta Gwen Gloria Hanna
Harriet Hedda Helene Hilda Ida Ilse Imogen Ines Iris Jana Jasmin Johanna Josie Julia Karla Katja Kirsten Klara Kara Lara
Leona Lidia Lorena Lucia Mabel Marta Melina Mina Miriam Nadia Nelly Nina Nora Norma Odette Olga Olivia Oriana Ottilie
Pamela Paula Petra Phoebe Pia Quinta Quirina Queenie Quilla Questa Ramona Regina Renata Rita Romy Sabine Selma Sonja
Stella Sylvia Tamara Thea Tilda Tonia Tessa Ulla Una Ulrike Undine Ursula Valeria Vanessa Vera Vilma Viola Wanda Wilma
Winona Winifred Waltraud Xenia Ximena Xandra Xaviera Xanthe Yara Yasmin Ylva Yolanda Yvette Zara Zelda Zita Zoe Zuzana
"""
_MEN = """
Aaron Abel Albert Alfred Anton Axel Basil Benno Boris Bruno Bernard Caleb Carlo Cedric Clemens Conrad Damian Dario
Detlef Dominic Duncan Edgar Egon Emil Ernst Enzo Fabian Felix Finn Franco Friedrich Gavin Georg Gideon Gregor Gustav
Hans Hector Hendrik Hugo Horst Ian Igor Ilario Isidor Ivo Jakob Jasper Jerome Joachim Jonas Karl Kaspar Kevin Klaus Kurt
Lars Leander Leo Lorenz Ludwig Malcolm Marco Martin Milo Moritz Nathan Neil Nico Nils Norbert Olaf Oliver Orlando Oscar
Otto Pablo Pascal Paul Peter Philip Quentin Quincy Quirin Quinn Quido Ralf Raoul Reto Roland Rufus Samuel Saul Sergio
Simon Stefan Theo Thomas Tobias Tristan Tyler Ugo Ulf Ulrich Umberto Urban Valentin Victor Vincent Vito Volker Walter
Warren Werner Wilhelm Wolfgang Xander Xaver Xavier Xerxes Ximo Yann Yannick Yorick Yusuf Yves Zachary Zeno Zoltan Zeb
Zane
"""
_RARE_SURNAMES = {"q": "Quigley Quintana Quiroga Quesada Quade", "x": "Xander Xenakis Ximenes Xavier Xiques"}
FEMALE_TITLES = words_set(
    """
    mrs ms miss frau mme madame mlle mademoiselle signora signorina dottoressa sra srta senora lady
    """
)
MALE_TITLES = words_set(
    """
    mr herr monsieur signor sig sr senor sir lord
    """
)
# words of kin that stand before a given name and tell its gender
FEMALE_KIN = words_set(
    """
    wife mother sister daughter aunt grandmother mom mum niece girlfriend ehefrau mutter schwester tochter tante oma
    epouse mere soeur fille moglie madre sorella figlia zia nonna esposa hermana hija tia abuela
    """
)
MALE_KIN = words_set(
    """
    husband father brother son uncle grandfather dad nephew boyfriend ehemann vater bruder sohn onkel opa mari pere
    frere fils marito padre fratello figlio zio nonno esposo marido hermano hijo tio abuelo
    """
)
_COMMON = 4


@cache
def given_names(gender: Gender | None) -> dict[str, list[str]]:
    """Given names by their first letter; of women and men in turn where the gender is not known."""
    women, men = _WOMEN.split(), _MEN.split()
    names = {"f": women, "m": men}.get(gender or "", [name for pair in zip(women, men, strict=False) for name in pair])
    return _by_letter(names)


@cache
def surnames() -> dict[str, list[str]]:
    """Frequent surnames by their first letter, without those that are words too."""
    frequent = [name for name, power in strata("surnames").items() if power >= _COMMON and len(name) > 3]
    names = [name.capitalize() for name in frequent if name.isascii() and not is_word(name)]
    found = _by_letter(sorted(names))
    for letter, rare in _RARE_SURNAMES.items():
        found[letter] = list(dict.fromkeys([*found.get(letter, []), *rare.split()]))
    return found


def _by_letter(names: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name[0].lower(), []).append(name)
    return found


@cache
def gender_of(name: str) -> Gender | None:
    """The gender of a folded given name, where our own lists tell it.

    >>> gender_of("petra"), gender_of("otto"), gender_of("kim")
    ('f', 'm', None)
    """
    women, men = ({entry.lower() for entry in text.split()} for text in (_WOMEN + _MORE_WOMEN, _MEN + _MORE_MEN))
    if (name in women) == (name in men):
        return None
    return "f" if name in women else "m"


_MORE_WOMEN = """
Mary Patricia Jennifer Linda Elizabeth Barbara Susan Jessica Sarah Karen Lisa Nancy Betty Sandra Margaret Ashley
Kimberly Emily Donna Michelle Carol Amanda Melissa Deborah Stephanie Rebecca Sharon Laura Cynthia Kathleen Amy Angela
Shirley Anna Brenda Emma Nicole Helen Samantha Katherine Christine Debra Rachel Carolyn Janet Catherine Maria Heather
Diane Ruth Julie Rose Giulia Chiara Francesca Valentina Alessia Martina Elisa Federica Giovanna Rosa Caterina Paola
Silvia Claudia Monica Helga Monika Renate Ingrid Gisela Brigitte Sabine Susanne Birgit Heike Katrin Anja Lena Mia Lea
Ute Karin Marie Jeanne Francoise Nathalie Isabelle Sylvie Anne Valerie Sandrine Celine Camille Manon Chloe Louise
Carmen Ana Isabel Pilar Marta Raquel Beatriz Alba Irene Fatima Aisha Priya
"""
_MORE_MEN = """
James John Robert Michael William David Richard Joseph Charles Christopher Daniel Matthew Anthony Mark Donald Steven
Andrew Joshua Kenneth Brian George Timothy Ronald Edward Jason Jeffrey Ryan Jacob Gary Nicholas Eric Jonathan Stephen
Larry Justin Scott Brandon Benjamin Gregory Alexander Patrick Frank Raymond Jack Dennis Jerry Jose Henry Adam Douglas
Giuseppe Giovanni Antonio Mario Luigi Francesco Angelo Vincenzo Pietro Paolo Giorgio Stefano Alessandro Matteo Lorenzo
Luca Jurgen Heinz Dieter Gunter Uwe Bernd Andreas Markus Christian Sebastian Florian Lukas Matthias Pierre Michel
Jacques Philippe Louis Alain Nicolas Julien Laurent Guillaume Antoine Hugo Lucas Juan Javier Carlos Alejandro Miguel
Rafael Pedro Fernando Luis Jorge Alberto Mohamed Ahmed Omar Hassan Ibrahim Raj Sanjay
"""
