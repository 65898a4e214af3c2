"""Traits that people around somebody know: ethnicity, marital status, education, occupation and the like."""

from collections.abc import Iterator

from shoal.identifiers.base import Finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.header import words
from shoal.identifiers.shape import Vocabulary, vocabulary

# A trait is a category: words or short codes, no long numbers.
_CATEGORY = (
    r"^[\p{L}][\p{L}\d\s.'\u2019,()/&+<>=:\-]{0,80}$|^\d{1,4}$|^\d{1,2}(st|nd|rd|th)\b"
    r"|^\d[\d\-]{0,6}[\p{L}]|^(true|false)$"
)
_MOST_VALUES = 1_500

RULES = (
    Vocabulary(
        kind="ethnicity",
        rule="category",
        noun="ethnicity",
        words=words(
            """race, ethnicity, ethnic, ethncty, ethnic group, race ethnicity, ethnic origin, hispanic, hispanic
            origin, etnia, razza, gruppo etnico, origine etnica, ethnie, ethnische herkunft, ethnische gruppe,
            origine ethnique, raza, grupo etnico, origen etnico, ras, etniciteit, etnische groep, raca, skin
            color, tribe""",
            block="car, horse, bike, condition, f1, grand, track, distance, time",
        ),
        values=vocabulary(
            """white, black, asian, hispanic, latino, hispanic or latino, not hispanic or latino, non-hispanic,
            caucasian, african american, black or african american, native american, american indian, american
            indian or alaska native, amer-indian-eskimo, asian-pac-islander, native hawaiian, pacific islander,
            native hawaiian or other pacific islander, two or more races, mixed, multiracial, other, white
            british, white other, black african, black caribbean, chinese, indian, pakistani, bangladeshi, arab,
            bianca, nera, asiatica, caucasica, weiß, schwarz, asiatisch, blanc, noir, asiatique, blanco, negro,
            asiático, mestizo, indígena, other race, roma, non-hispanic white, non-hispanic black"""
        ),
        alone=0.0,
        form=_CATEGORY,
    ),
    Vocabulary(
        kind="marital-status",
        rule="category",
        noun="marital status",
        words=words(
            """marital status, marital, maritalstatus, marriage status, civil status, hhcivil, civil state, stato
            civile, familienstand, zivilstand, etat civil, situation familiale, situation matrimoniale, estado
            civil, burgerlijke staat, estadocivil""",
            flags=True,
        ),
        values=vocabulary(
            """single, married, divorced, widowed, separated, never-married, never married, married-civ-spouse,
            married-spouse-absent, married-af-spouse, domestic partner, civil partnership, unmarried, cohabiting,
            celibe, nubile, coniugato, coniugata, sposato, sposata, divorziato, divorziata, vedovo, vedova,
            separato, separata, ledig, verheiratet, geschieden, verwitwet, getrennt, célibataire, marié, mariée,
            divorcé, divorcée, veuf, veuve, pacsé, soltero, soltera, casado, casada, divorciado, divorciada,
            viudo, viuda, separado, ongehuwd, gehuwd, gescheiden, weduwe, eingetragene lebenspartnerschaft, widow,
            widower"""
        ),
        alone=0.8,
        form=_CATEGORY,
        least_known=3,
    ),
    Vocabulary(
        kind="education",
        rule="category",
        noun="education",
        words=words(
            """education, education level, educ, edu, education num, schooling, degree, highest degree,
            qualification, istruzione, titolo di studio, livello di istruzione, grado istruzione, bildung,
            bildungsabschluss, schulabschluss, abschluss, niveau d etudes, niveau etude, diplome, scolarite,
            educacion, nivel de estudios, nivel educativo, estudios, opleiding, opleidingsniveau, escolaridade,
            habilitacoes, titolo studio""",
            block="temperature, budget, charge, burn",
        ),
        values=vocabulary(
            """bachelors, bachelor, bachelor's degree, masters, master, master's degree, doctorate, phd,
            prof-school, hs-grad, high school, high school diploma, some-college, some college, assoc-acdm,
            assoc-voc, associate degree, 1st-4th, 5th-6th, 7th-8th, 9th, 10th, 11th, 12th, preschool, primary,
            primary school, secondary, secondary school, tertiary, graduate, undergraduate, postgraduate, licenza
            elementare, licenza media, diploma, laurea, laurea triennale, laurea magistrale, dottorato,
            hauptschule, realschule, gymnasium, abitur, hochschule, promotion, bac, baccalauréat, licence,
            doctorat, brevet, cap, bachillerato, primaria, secundaria, universidad, licenciatura, doctorado, eso,
            vmbo, havo, vwo, hbo, wo, mbo"""
        ),
        alone=0.75,
        form=_CATEGORY,
        least_known=4,
    ),
    Vocabulary(
        kind="occupation",
        rule="category",
        noun="occupation",
        words=words(
            """occupation, profession, job, job title, jobtitle, employment, employment status, workclass, work
            class, employer, isco, soc code, industry, professione, lavoro, mestiere, occupazione, qualifica,
            condizione lavorativa, beruf, tatigkeit, taetigkeit, berufsbezeichnung, arbeitgeber, stellung, metier,
            emploi, csp, categorie socioprofessionnelle, poste, profesion, ocupacion, oficio, puesto, empleo,
            situacion laboral, beroep, functie, werkgever, profissao, emprego""",
            block="id, date, run, duration, cron",
            flags=True,
        ),
        values=vocabulary(
            """adm-clerical, exec-managerial, prof-specialty, tech-support, craft-repair, sales, other-service,
            farming-fishing, handlers-cleaners, machine-op-inspct, transport-moving, priv-house-serv,
            protective-serv, armed-forces, private, self-emp-inc, self-emp-not-inc, local-gov, state-gov,
            federal-gov, without-pay, never-worked, employed, unemployed, retired, student, self-employed,
            homemaker, teacher, nurse, physician, engineer, lawyer, accountant, driver, farmer, cook, waiter,
            electrician, plumber, carpenter, mechanic, police officer, firefighter, clerk, manager, cashier,
            software engineer, secretary, insegnante, infermiere, infermiera, medico, operaio, impiegato,
            impiegata, pensionato, disoccupato, casalinga, studente, avvocato, ingegnere, lehrer, lehrerin, arzt,
            krankenschwester, ingenieur, arbeiter, angestellter, beamter, rentner, student, arbeitslos,
            enseignant, infirmier, infirmière, médecin, ouvrier, employé, cadre, retraité, étudiant, chômeur,
            profesor, enfermera, médico, obrero, empleado, jubilado, estudiante, abogado, ingeniero, camarero,
            desempleado"""
        ),
        alone=0.75,
        form=_CATEGORY,
        least_known=5,
    ),
    Vocabulary(
        kind="relationship",
        rule="category",
        noun="place in the household",
        words=words(
            """relationship, relat, relation to head, relationship to head, household relation, parentela,
            relazione di parentela, verwandtschaft, lien de parente, parentesco, relatie""",
            block="manager, entity, customer",
        ),
        values=vocabulary(
            """husband, wife, own-child, not-in-family, other-relative, unmarried, spouse, child, son, daughter,
            head, parent, marito, moglie, figlio, figlia, ehemann, ehefrau, kind, mari, enfant, esposo, esposa,
            hijo, hija"""
        ),
        alone=0.7,
        form=_CATEGORY,
        least_known=4,
    ),
    Vocabulary(
        kind="nationality",
        rule="category",
        noun="nationality",
        words=words(
            """nationality, citizenship, nazionalita, cittadinanza, staatsangehorigkeit, staatsangehoerigkeit,
            nationalitat, nationalitaet, nationalite, citoyennete, nacionalidad, ciudadania, nationaliteit,
            nacionalidade""",
            weak="citizen",
        ),
        values=vocabulary(
            """american, british, french, german, italian, spanish, portuguese, dutch, belgian, swiss, austrian,
            polish, romanian, greek, turkish, russian, ukrainian, chinese, indian, japanese, moroccan, mexican,
            brazilian, canadian, irish, swedish, italiana, italiano, francese, tedesca, tedesco, spagnola, rumena,
            albanese, marocchina, deutsch, französisch, italienisch, türkisch, polnisch, française, français,
            allemande, italienne, espagnole, marocaine, algérienne, española, español, francesa, alemana, rumana,
            marroquí, portuguesa, nederlandse"""
        ),
        alone=0.75,
        form=_CATEGORY,
        least_known=5,
    ),
)  # fmt: skip


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """Each trait in turn; a column with thousands of values is no list of categories."""
    if column.distinct > _MOST_VALUES or (column.numbers is not None and not column.whole):
        return
    for rule in RULES:
        yield from rule(column)
