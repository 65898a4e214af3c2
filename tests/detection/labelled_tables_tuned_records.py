"""Labelled tables that rules and lists are written against: records of institutions, and answers with a code book."""

from labelled_tables import LabelledTable, table

TUNED_RECORDS: list[LabelledTable] = [
    table("hcup nis", "listed health", """
        KEY_NIS   I   #10999999
        HOSP_NIS  IQ  10001-90999
        AGE       Q   0-90
        AMONTH    Q   1-12
        AWEEKEND  O   0-1
        DIED      SQ  0-1
        DISCWT    O   w:4-6
        DRG       S   1-999
        ELECTIVE  O   0-1
        FEMALE    Q   0-1
        HOSP_DIVISION  Q   1-9
        I10_DX1   S   #J999
        I10_PR1   S   #0AA9999?0.6
        LOS       OQS  0-40
        MDC       S   1-25
        NIS_STRATUM  O   1011-9413
        PAY1      SOQ  1-6
        PL_NCHS   Q   1-6
        RACE      Q   1-6
        TOTCHG    SO  ~20000
        TRAN_IN   O   0-2
        YEAR      OQ  2019|2019
        ZIPINC_QRTL  SQ  1-4
        APRDRG_Severity  S   0-4
        """),
    table("drg daten", "listed health", """
        IK        IQ  #260999999
        KH-internes-Kennzeichen  I   #F99999999
        Versichertennummer  I   #A999999999
        Geburtsjahr  Q   1930-2020
        Geschlecht  Q   m|w|d
        PLZ       Q   #99999
        Aufnahmedatum  Q   @date:2020-2021-%Y%m%d
        Aufnahmeanlass  OS  E|N|Z
        Aufnahmegrund  OS  0101|0102
        Entlassungsdatum  Q   @date:2020-2021-%Y%m%d
        Entlassungsgrund  SO  011|012|079
        Beatmungsstunden  S   0-400?0.7
        Hauptdiagnose  S   #I99.9
        Nebendiagnose  S   #E11.9
        OPS       S   #9-999.9
        DRG       S   #A99A
        PCCL      S   0-6
        Verweildauer  OQS  0-40
        """),
    table("hospital discharge it", "unlisted health", """
        cod_istituto  IQ  #999999
        progr_sdo  I   #2021999999
        sesso     Q   1-2
        data_nascita  Q   @date:1930-2020-%d/%m/%Y
        comune_residenza  Q   #001999
        stato_civile  Q   1-6
        titolo_studio  Q   1-5
        regime_ricovero  O   1-2
        data_ricovero  Q   @date:2020-2021-%d/%m/%Y
        diagnosi_principale  S   #4999
        intervento_princ  S   #3999?0.5
        modalita_dimissione  SO  1-9
        onere_degenza  SO  1-9
        drg       S   001-579
        """),
    table("compas", "unlisted justice", """
        id        I   @seq
        name      I   @name
        sex       Q   Male|Female
        dob       Q   @date:1950-1997
        race      Q   African-American|Caucasian|Hispanic
        juv_fel_count  S   0-4
        decile_score  S   1-10
        priors_count  S   0-20
        c_jail_in  QO  @date:2013-2014
        c_case_number  I   #13999999CF10A
        c_offense_date  QO  @date:2013-2014
        c_charge_degree  S   F|M
        c_charge_desc  S   Battery|Grand Theft|Possession of Cocaine
        is_recid  S   0-1
        v_score_text  S   Low|Medium|High
        """),
    table("police incidents", "unlisted justice", """
        incident_no  I   #2020-999999
        reported_at  QO  @date:2020-2021
        block_address  QI  @street
        beat      Q   111-2535
        latitude  Q   w:41.6-42.0
        longitude  Q   w:87.5-87.9
        offence_type  S   BURGLARY|ROBBERY|ASSAULT
        victim_age  Q   1-90
        victim_sex  Q   F|M
        victim_race  Q   BLK|WHI|API
        suspect_id  I   #S999999
        weapon_used  SO  KNIFE|HANDGUN|NONE
        arrest_made  S   Y|N
        drug_test  S   POS|NEG|ND
        narrative  I   @prose:the_victim_stated_that_the_suspect_ran_away
        """),
    table("income tax it", "unlisted tax", """
        codice_dichiarante  I   #999999999
        anno_imposta  OQ  2018|2019
        comune_domicilio  Q   #A999
        anno_nascita  Q   1930-2000
        sesso     Q   M|F
        reddito_complessivo  S   ~20000
        reddito_fabbricati  S   ~900
        imposta_netta  S   ~4000
        oneri_deducibili  S   ~700
        spese_sanitarie  S   ~300
        familiari_carico  QO  0-5
        otto_per_mille  S   1-12
        erogazioni_partiti  S   ~50
        """),
    table("pupils uk", "unlisted school", """
        UPN       I   #A999999999999
        URN       QI  100000-149999
        PupilSurname  I   @surname
        YearGroup  QO  1-13
        DoB       Q   @date:2004-2015
        Ethnicity  Q   WBRI|APKN|BCRB
        FirstLanguage  Q   ENG|URD|POL
        FSMEligible  S   Y|N
        SENProvision  S   N|K|E
        SENtype   S   ASD|SLCN|SEMH?0.8
        InCareFlag  S   0-1
        UnauthorisedAbsences  SO  0-60
        Exclusions  S   0-5
        KS2_MATSCORE  SO  80-120
        IDACIScore  SQ  w:0-1
        Postcode  Q   #AA9 9AA
        """),
    table("german credit", "unlisted office", """
        kredit_nr  I   @seq
        laufzeit  O   4-72
        verwendungszweck  OS  Auto|Möbel|Bildung
        kreditbetrag  SO  ~3000
        sparkonto  S   1-5
        beschaeftigt_seit  QO  1-5
        familienstand_geschlecht  Q   1-4
        alter     Q   19-75
        wohnsituation  QO  1-3
        beruf     Q   1-4
        telefon   I   #030 9999999
        gastarbeiter  Q   ja|nein
        schufa_score  S   200-999
        zahlungsverzug  S   0-3
        kontostand  S   ~900
        """),
    table("gym members", "unlisted office", """
        MemberNo  I   #M99999
        CardUID   I   #hhhhhhhh
        DeviceId  I   @uuid
        PhoneHash  I   #hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh
        Joined    Q   @date:2015-2021
        BirthYear  Q   1940-2005
        Sex       Q   F|M|X
        HomeClub  Q   North|South|East
        PlanType  O   Basic|Plus|Premium
        FeePaid   O   ~40
        WeightKg  SQO  45-140
        BodyFatPct  S   w:8-45
        RestingHR  S   45-100
        Injuries  S   knee|back|none|shoulder
        VisitsLastMonth  O   0-30
        StaffNote  I   @prose:member_asked_to_pause_until_spring_because_of_surgery
        """),
    table("answers us", "code book", """
        CASE      I   @seq  Case identification number
        A1        Q   18-95  Age of respondent in years
        A2        Q   1-2  Respondent's gender
        A3        Q   1-5  Race of respondent
        A4        Q   1-6  Are you currently married, widowed, divorced, separated, or never married?
        A5        Q   0-20  Highest year of school completed
        A6        Q   1-999  Census occupation code of present job
        A7        S   1-26  In which of these groups did your total family income fall last year?
        B1        S   1-7  Do you usually think of yourself as a Republican, Democrat, Independent, or what?
        B2        S   1-5  Do you favor or oppose the death penalty for persons convicted of murder?
        B3        S   1-8  How often do you attend religious services?
        B4        S   1-5  Would you say your own health is excellent, good, fair, or poor?
        B5        S   1-2  Has a doctor ever told you that you have high blood pressure?
        B6        S   1-4  How many drinks of alcohol do you have on a typical day?
        B7        S   1-2  Did you receive food stamps in the last year?
        B8        S   0-30  Number of sexual partners in the last 12 months
        B9        S   1-2  Were you the victim of a crime in the last year?
        C1        O   1-4  Language of interview version
        C2        O   1-31  Interviewer rating of cooperation
        C3        O   w:0.3-4  Post-stratification weight
        C4        O   1-30  Primary sampling unit
        C5        QO  1-51  State of interview
        C6        QO  0-9  Number of persons in household
        """),
    table("allbus", "code book", """
        respid    I   @seq  Identifikationsnummer des Befragten
        a1        Q   1-2  Geschlecht, Befragte<r>
        a2        Q   18-95  Alter: Befragte<r>
        a3        Q   1-6  Allgemeiner Schulabschluss
        a4        Q   1-9  Derzeitige berufliche Stellung
        a5        Q   1-6  Familienstand, Befragte<r>
        a6        Q   1-200  Geburtsland
        a7        Q   1-16  Bundesland, in dem Befragte<r> wohnt
        a8        S   1-6  Konfession, Befragte<r>
        a9        S   1-10  Links-Rechts-Selbsteinstufung
        b1        S   1-9  Wahlabsicht, Bundestagswahl
        b2        S   1-2  Mitglied in einer Gewerkschaft?
        b3        S   ~1500  Nettoeinkommen, offene Abfrage
        b4        S   1-5  Gesundheitszustand Befragte<r>
        b5        S   1-7  Meinung zu Ausländern: sollten ihren Lebensstil anpassen
        b6        S   1-2  Bezug von Arbeitslosengeld II
        b7        O   1-3  Erhebungsmethode
        b8        O   w:0.2-3  Personenbezogenes Ost-West-Gewicht
        b9        O   10-120  Dauer des Interviews in Minuten
        """),
    table("enquete sante", "code book", """
        id_men    I   1-9000  Identifiant du ménage
        s1        Q   1-2  Sexe de l'individu
        s2        Q   0-99  Âge au 31 décembre
        s3        Q   1-4  État matrimonial légal
        s4        Q   1-9  Diplôme le plus élevé obtenu
        s5        Q   1-9  Profession et catégorie sociale
        s6        Q   1-99  Pays de naissance
        s7        Q   1-3  Nationalité
        s8        Q   1-13  Région de résidence
        t1        S   1-5  Comment est votre état de santé en général ?
        t2        S   1-2  Au cours des 12 derniers mois, avez-vous eu de l'asthme ?
        t3        S   1-2  Fumez-vous, ne serait-ce que de temps en temps ?
        t4        S   ~1800  Revenu mensuel net du ménage
        t5        S   1-2  Bénéficiez-vous de l'allocation aux adultes handicapés ?
        t6        S   1-9  Appartenance religieuse
        t7        S   1-5  Confiance dans le gouvernement
        pond      O   w:100-9000  Pondération individuelle finale
        """),
]  # fmt: skip
