"""What people would not have told: health, income, religion, opinion, orientation, offences, biometrics."""

from collections.abc import Iterator
from dataclasses import replace

from shoal.identifiers.base import Finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.header import words
from shoal.identifiers.shape import Identifier, Vocabulary, vocabulary

_ANY_CATEGORY = r"^[\p{L}\d<>=\[(][^@]{0,200}$"
_AMOUNT = (
    r"(?i)^[<>≤≥=~]{0,2}\s?[$€£]?\s?-?\d[\d.,' ]*\s?(k|m|mln|eur|usd|€|\$|£)?"
    r"(\s?[-\u2013]\s?[$€£]?\d[\d.,' ]*\s?k?)?\+?$"
)
_LEVEL = r"|^(low|medium|middle|high|very high|very low|basso|medio|alto|niedrig|mittel|hoch|faible|moyen|élevé|bajo)$"

_ICD = Identifier(
    kind="diagnosis",
    rule="icd-10",
    noun="an ICD-10 code",
    form=r"^[A-TV-Z]\d[\dAB](\.?[\dA-Z]{1,4})?$",
    words=words(
        """diagnosis, diagnosis code, diag, dx, dx code, icd, icd10, icd 10, icd9, icd code, principal diagnosis,
        diagnosi, codice diagnosi, patologia, malattia, diagnose, diagnoseschlussel, krankheit, erkrankung,
        diagnostic, code diagnostic, maladie, pathologie, diagnostico, enfermedad, disease, condition, ziekte,
        doenca, cause of death, comorbidity, morbidity, hiv, hiv status, disability, disabled, cancer, diabetes,
        pregnant, pregnancy, smoker, allergy, allergies, causa di morte, todesursache, cause de deces, disabilita,
        behinderung, handicap, discapacidad, fumatore, raucher""",
        block="date, air, weather, road, new, item, product",
        flags=True,
    ),
    alone=0.3,
)
# With its dot the code looks like little else.
_ICD_DOTTED = replace(_ICD, rule="icd-10-dotted", form=r"^[A-TV-Z]\d[\dAB]\.[\dA-Z]{1,4}$", alone=0.55)
_DIAGNOSIS = Vocabulary(
    kind="diagnosis",
    rule="category",
    noun="a diagnosis or state of health",
    words=_ICD.words,
    values=vocabulary(
        """cancer, hiv, hiv positive, asthma, influenza, flu, tuberculosis, broken leg, diabetes, diabetes
        mellitus, hypertension, pneumonia, bronchitis, gastritis, gastric ulcer, heart disease, heart attack,
        stroke, depression, anxiety, hepatitis, epilepsy, migraine, arthritis, copd, covid-19, obesity, anemia,
        leukemia, sepsis, heart failure, viral infection, diabete, ipertensione, polmonite, asma, tumore, ictus,
        bluthochdruck, lungenentzündung, krebs, schlaganfall, grippe, hypertension artérielle, pneumonie, asthme,
        dépression, hipertensión, neumonía, gripe, cáncer, depresión, fracture"""
    ),
    alone=0.8,
    form=_ANY_CATEGORY,
    least_known=3,
)


_OPINION = Vocabulary(
    kind="opinion",
    rule="scale",
    noun="an opinion",
    words=words("opinion, attitude, meinung, opinione, opinion sur", flags=True),
    values=vocabulary(
        """strongly agree, agree, tend to agree, somewhat agree, neither agree nor disagree, somewhat disagree, tend to
        disagree, disagree, strongly disagree, strongly favor, favor, oppose, strongly oppose, trust completely, tend to
        trust, tend not to trust, stimme voll zu, stimme eher zu, stimme eher nicht zu, stimme nicht zu, stimme gar
        nicht zu, tout à fait d'accord, plutôt d'accord, plutôt pas d'accord, pas du tout d'accord, molto d'accordo,
        abbastanza d'accordo, poco d'accordo, per niente d'accordo, muy de acuerdo, de acuerdo, en desacuerdo, muy
        en desacuerdo"""
    ),
    alone=0.65,
    form=_ANY_CATEGORY,
    least_known=3,
)


def _by_header(kind: str, noun: str, strong: str, form: str, block: str = "", values: str = "") -> Vocabulary:
    """A kind that its header names; the values must have a possible form."""
    # An income is itself a measure, the other kinds are not.
    book = words(strong, block=block, flags=True, measures=kind == "income")
    return Vocabulary(kind, "by-header", noun, book, vocabulary(values), 0.0, form)


_RULES = (
    _by_header(
        "income", "income",
        """income, salary, wage, wages, earnings, salary class, annual income, household income, net worth,
        savings, pay, payroll, reddito, stipendio, salario, retribuzione, gehalt, einkommen, lohn, verdienst,
        nettoeinkommen, salaire, revenu, revenus, remuneration, sueldo, ingresos, renta, inkomen, salaris,
        rendimento, agi, taxable income, credit score, debt""",
        _AMOUNT + _LEVEL, block="date, day, id, type, tax bracket id",
    ),
    _by_header(
        "medication", "medication",
        """medication, medications, drug, drug name, prescription, medicine, atc, atc code, ndc, farmaco,
        medicinale, terapia, medikament, arzneimittel, wirkstoff, medicament, traitement, medicamento, farmaco,
        tratamiento, medicijn, dosage""",
        _ANY_CATEGORY, block="date, count, price, cost",
    ),
    _by_header(
        "procedure", "a medical procedure",
        """procedure, procedure code, cpt, cpt code, drg, drg code, surgery, operation code, hcpcs, intervento,
        prestazione, ops code, eingriff, acte, ccam, procedimiento, cirugia, verrichting""",
        _ANY_CATEGORY, block="date, count, stored, sql",
    ),
    _by_header(
        "religion", "religion",
        """religion, religious affiliation, faith, denomination, religione, konfession, kirche, glaube,
        confession, culte, religio, geloof, religiao, kirchensteuer""",
        _ANY_CATEGORY,
        values="""catholic, protestant, muslim, jewish, hindu, buddhist, orthodox, atheist, agnostic, christian,
        none, sikh, cattolica, musulmana, ebraica, ortodossa, evangelisch, katholisch, rk, ev, muslimisch,
        catholique, protestante, musulmane, juive, católica, musulmán, judía, other""",
    ),
    _by_header(
        "political-opinion", "political opinion",
        """party, political party, political affiliation, political opinion, vote, voted for, party registration,
        partito, voto, orientamento politico, partei, parteizugehorigkeit, parti, opinion politique, partido,
        afiliacion politica, union member, trade union, sindacato, gewerkschaft, syndicat, sindicato, partij""",
        _ANY_CATEGORY, block="third, size, date, birthday, counter",
    ),
    _by_header(
        "sexual-orientation", "sexual orientation",
        """sexual orientation, orientation sexuelle, orientamento sessuale, sexuelle orientierung, orientacion
        sexual, seksuele geaardheid""",
        _ANY_CATEGORY,
    ),
    _by_header(
        "criminal-record", "a criminal record",
        """criminal record, conviction, convictions, offense, offence, arrest, arrests, crime, casellario, reato,
        condanna, vorstrafe, vorstrafen, straftat, condamnation, casier judiciaire, infraction, antecedentes
        penales, delito, strafblad""",
        _ANY_CATEGORY, block="date",
    ),
    _by_header(
        "biometric", "biometric data",
        """biometric, fingerprint, finger print, iris, retina, voiceprint, voice print, face encoding, dna,
        genotype, snp, impronta digitale, fingerabdruck, empreinte digitale, huella, huella dactilar,
        vingerafdruck, impressao digital""",
        r".", block="hash, browser, species, flower",
    ),
    _by_header(
        "photograph", "a picture",
        """photo, photograph, picture, image, portrait, selfie, face image, avatar, foto, fotografia, immagine,
        bild, lichtbild, passbild, image visage, imagen, afbeelding, photo url, x ray, scan""",
        r"(?i)^\S+\.(jpe?g|png|gif|tiff?|bmp|webp|heic|dcm)(\?\S*)?$|^(data:image/|/9j/|iVBOR)\S*$",
        block="date, count",
    ),
)  # fmt: skip


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """Health by its code and its words, then each kind that its header names."""
    yield from _ICD_DOTTED(column)
    yield from _ICD(column)
    yield from _DIAGNOSIS(column)
    yield from _OPINION(column)
    for rule in _RULES:
        yield from rule(column)
