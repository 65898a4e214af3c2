"""Labelled tables that rules are written against, of sources without a list: the words of a header must carry them."""

from labelled_tables import LabelledTable, table

TUNED_MORE: list[LabelledTable] = [
    table("australia census", "unlisted census", """
        ABSHID    I   #19999999999
        ABSPID    OI  1-9
        AGEP      Q   0-85
        SEXP      Q   1-2
        MSTP      Q   1-5
        BPLP      Q   1-30
        YARP      Q   1-20
        LANP      Q   1-20
        ENGLP     QO  1-5
        RELP      S   1-12
        ANCP      Q   1-30
        HSCP      Q   1-7
        QALLP     Q   1-9
        LFSP      QS  1-6
        OCCP      Q   1-9
        INDP      Q   1-20
        INCP      S   1-17
        HIED      S   1-20
        ASSNP     S   1-2
        AREAENUM  Q   1-60
        TENLLD    QO  1-9
        """),
    table("casen chile", "unlisted survey", """
        folio     I   #110110299999
        id_persona  IO  1-9
        region    Q   1-16
        zona      Q   1-2
        expr      O   20-900
        varstrat  O   1-400
        varunit   OQ  1-4000
        sexo      Q   1-2
        edad      Q   0-99
        ecivil    Q   1-8
        pco1      QO  1-15
        e6a       QO  1-17
        educ      Q   0-12
        activ     QS  1-3
        oficio4   Q   1111-9629
        rama1     Q   1-21
        yautcor   S   ~300000
        ytotcor   S   ~400000
        ysub      S   ~20000
        pobreza   S   1-3
        s13       SO  1-9
        pueblos_indigenas  Q   1-2
        discapacidad  S   0-1
        """),
    table("nids south africa", "unlisted survey", """
        hhid      I   100001-109999
        pid       I   300001-399999
        w1_best_age_yrs  Q   0-99
        w1_best_gen  Q   1-2
        w1_best_race  Q   1-4
        w1_best_marstt  Q   1-5
        w1_best_edu  Q   0-25
        w1_prov2011  Q   1-9
        w1_geo2011  Q   1-3
        w1_empl_stat  QS  0-3
        w1_fwag   S   ~4000
        w1_cwag   S   ~900
        w1_spen   S   ~900
        w1_chld   S   ~200
        w1_hlthdes  S   1-5
        w1_bmi    S   w:15-45
        w1_smk    S   1-2
        w1_depr   S   1-4
        w1_relig  S   1-10
        w1_wgt    O   w:50-3000
        w1_hhinc  S   ~5000
        """),
    table("personal de", "unlisted office", """
        PersNr    I   #00999999
        Nachname  I   @surname:de
        Eintritt  Q   @date:1990-2021-%d.%m.%Y
        Geb_Jahr  Q   1955-2002
        Geschl    Q   m|w
        Abteilung  Q   Einkauf|Vertrieb|IT
        EntgGr    SQ  E5|E9|E13
        Bruttogehalt  S   ~3500
        Zulage    S   ~150
        Steuerkl  SO  1-5
        Konf      S   rk|ev|--
        Krankentage  S   0-60
        SB_Status  SO  J|N
        Pfaendung  S   J|N
        Abmahnungen  S   0-3
        Beurteilung  S   1-5
        Betriebsrat  S   J|N
        Notfallkontakt  I   @name:de
        """),
    table("insurance claims", "unlisted office", """
        claim_ref  I   #CLM99999999
        policy_no  I   #P999999
        insured_dob  Q   @date:1940-2003
        insured_sex  Q   MALE|FEMALE
        insured_occupation  Q   craft-repair|sales|tech-support
        insured_hobbies  QO  chess|golf|reading
        incident_city  Q   @city
        injury_type  S   minor|major|total
        bodily_injuries  S   0-2
        hospitalised  S   Y|N
        fraud_reported  S   Y|N
        prior_claims  SO  0-5
        credit_rating  S   AAA|B|C
        bankruptcy_flag  S   0-1
        adjuster_notes  I   @prose
        payout    OS  ~4000
        """),
    table("credit bureau", "unlisted office", """
        consumer_key  I   #hhhhhhhhhhhhhhhh
        postcode_sector  Q   #AA9 9
        age_band  Q   18-25|26-35|36-50
        residential_status  QO  owner|tenant|parents
        months_at_address  OQ  0-300
        employment_status  QS  employed|retired|student
        net_monthly_income  S   ~2000
        outstanding_balance  S   ~5000
        arrears_months  S   0-6
        ccj_count  S   0-3
        defaults_6y  S   0-4
        iva_flag  S   0-1
        payday_loans  S   0-5
        gambling_spend  S   ~100
        utilisation  SO  w:0-1
        credit_limit  SO  ~3000
        """),
    table("ngo beneficiaries", "unlisted office", """
        benef_id  I   #BEN-99999
        hh_head_name  I   @name:fr
        gps_lat   Q   w:12.1-14.9
        camp      Q   A|B|C
        arrival_dt  Q   @date:2015-2021
        origin_country  Q   Syria|Sudan|Iraq
        ethnicity_group  Q   Fur|Zaghawa|Kurd
        religion_hh  S   Muslim|Christian
        pregnant_lact  S   0-1
        gbv_survivor  S   0-1
        disability_type  S   none|physical|visual
        torture_history  S   0-1
        asylum_status  SQ  recognised|pending|rejected
        cash_transfer  S   ~50
        food_ration  SO  0-3
        vulnerability  S   1-5
        hiv_test  S   pos|neg
        phone_msisdn  I   #+249 999 999999
        """),
    table("clinic fr", "unlisted health", """
        ipp       I   #99999999
        nom_patient  I   @surname:fr
        date_naissance  Q   @date:1930-2018-%d/%m/%Y
        sexe      Q   M|F
        cp        Q   #99999
        motif_consultation  S   fièvre|douleur|contrôle
        antecedents  S   diabète|HTA|aucun
        traitement  S   metformine|ramipril|aucun
        tabac     S   oui|non
        alcool    S   oui|non
        grossesse  S   oui|non
        ald       SO  oui|non
        c2s       SO  oui|non
        poids     SOQ  45-120
        resultat_labo  S   w:0.1-90
        medecin_traitant  I   @name:fr
        """),
    table("custody record", "unlisted justice", """
        custody_no  I   #CU99999999
        pnc_id    I   #99/9999999A
        detainee_dob  Q   @date:1960-2004
        self_defined_ethnicity  Q   W1|A1|B9
        nationality  Q   GBR|POL|ROU
        offence   S   Theft|Assault|Drugs
        arrest_reason  S   warrant|offence|breach
        strip_search  S   Y|N
        appropriate_adult  SO  Y|N
        drug_test_result  S   pos|neg
        mental_health_flag  S   Y|N
        self_harm_marker  S   Y|N
        outcome   S   charged|bailed|NFA
        solicitor  IO  @name
        officer_no  IO  #99999
        """),
    table("university", "unlisted school", """
        matric_no  I   #U9999999
        surname   I   @surname
        programme  QO  BSc Physics|MA History
        entry_year  QO  2017-2021
        domicile  Q   UK|EU|Overseas
        fee_status  QSO  H|O
        gender_id  QS  1-4
        ethnic_code  Q   10-99
        disab_code  S   0-10
        care_leaver  S   Y|N
        parental_educ  QS  1-4
        bursary   S   ~800
        fail_count  SO  0-5
        degree_class  SQ  1|2.1|2.2|3
        plagiarism_case  S   0-1
        counselling_ref  S   0-1
        religion_belief  S   1-9
        sexual_orient  S   1-5
        """),
]  # fmt: skip
