"""Labelled tables kept apart, records of health, courts, taxes, schools and offices, and answers with a code book."""

from labelled_tables import LabelledTable, table

APART_RECORDS: list[LabelledTable] = [
    table("medicare claims", "listed health", """
        DESYNPUF_ID  I   #hhhhhhhhhhhhhhhh
        CLM_ID    I   #196999999999999
        BENE_BIRTH_DT  Q   @date:1920-1943-%Y%m%d
        BENE_DEATH_DT  QS  @date:2008-2010-%Y%m%d?0.95
        BENE_SEX_IDENT_CD  Q   1-2
        BENE_RACE_CD  Q   1-5
        BENE_ESRD_IND  S   0|Y
        SP_STATE_CODE  Q   1-54
        BENE_COUNTY_CD  Q   000-999
        SP_ALZHDMTA  S   1-2
        SP_CHF    S   1-2
        SP_DEPRESSN  S   1-2
        SP_DIABETES  S   1-2
        MEDREIMB_IP  SO  ~5000
        CLM_FROM_DT  Q   @date:2008-2010-%Y%m%d
        PRVDR_NUM  IQO  #9999AA
        AT_PHYSN_NPI  I   #9999999999
        CLM_PMT_AMT  SO  ~7000
        ICD9_DGNS_CD_1  S   #4999
        ICD9_PRCDR_CD_1  S   #3999?0.6
        HCPCS_CD_1  S   #A9999
        CLM_DRG_CD  S   001-999
        CLM_UTLZTN_DAY_CNT  OQS  0-40
        """),
    table("hcup sid", "listed health", """
        KEY       I   #25201912345999
        VisitLink  I   1000000-9999999
        DaysToEvent  OQ  14000-22000
        AGE       Q   0-90
        AGEMONTH  QO  0-11?0.95
        AMONTH    Q   1-12
        AYEAR     OQ  2018|2019
        AWEEKEND  O   0-1
        DIED      SQ  0-1
        DISPUNIFORM  SOQ  1-20
        DQTR      OQ  1-4
        DRG       S   1-999
        DSHOSPID  IQ  #99999
        FEMALE    Q   0-1
        HISPANIC  Q   1-4
        I10_DX1   S   #I999
        I10_DX2   S   #E119?0.2
        I10_PR1   S   #0AA9999?0.6
        I10_NDX   OS  1-30
        LOS       OQS  0-40
        MARITALSTATUSUB04  Q   I|M|S|D|W
        MDC       S   1-25
        MRN_R     I   1000000-9999999
        PAY1      SOQ  1-6
        PSTCO2    Q   1001-56045
        RACE      Q   1-6
        TOTCHG    SO  ~20000
        ZIP       Q   01001-99950
        HOMELESS  S   0-1
        """),
    table("pmsi", "listed health", """
        NUM_ENQ   I   #hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh
        ETA_NUM   IQ  #999999999
        RSA_NUM   I   0000000001-0000099999
        AGE_ANN   Q   0-105
        AGE_JOU   QO  0-365?0.97
        COD_SEX   Q   1-2
        COD_POST  Q   #99999
        BDI_DEP   Q   01-95
        DGN_PAL   S   #A999
        DGN_REL   S   #Z999?0.6
        GRG_GHM   S   #99C999
        CDC_ACT   S   #AAAA999
        SEJ_NBJ   OQS  0-60
        ENT_MOD   O   6-8
        SOR_MOD   OSQ  6-9
        SOR_MOI   Q   1-12
        SOR_ANN   OQ  2019|2020
        NBR_SEA   O   0-12
        """),
    table("trial sdtm", "unlisted health", """
        STUDYID   O   ABC-123|ABC-123
        USUBJID   I   #ABC-123-999-9999
        SUBJID    I   #9999
        SITEID    QO  001-040
        AGE       Q   18-88
        AGEU      O   YEARS|YEARS
        SEX       Q   M|F
        RACE      Q   WHITE|ASIAN|BLACK OR AFRICAN AMERICAN
        ETHNIC    Q   HISPANIC OR LATINO|NOT HISPANIC OR LATINO
        COUNTRY   Q   USA|DEU|FRA
        ARM       OS  Placebo|Drug 10 mg|Drug 20 mg
        RFSTDTC   Q   @date:2018-2020
        DTHDTC    QS  @date:2019-2021?0.96
        BRTHDTC   Q   @date:1930-2000
        AETERM    S   HEADACHE|NAUSEA|DIZZINESS|RASH
        AEDECOD   S   Headache|Nausea|Dizziness|Rash
        AESER     SO  Y|N
        MHTERM    S   HYPERTENSION|ASTHMA|DIABETES MELLITUS
        CMTRT     S   ASPIRIN|METFORMIN|LISINOPRIL
        VSORRES   SO  60-180
        """),
    table("lab export de", "unlisted health", """
        Auftrag_Nr  I   #L2021999999
        PatNr     I   100000-999999
        GebDat    Q   @date:1930-2019-%d.%m.%Y
        Geschl    Q   m|w
        PLZ       Q   #99999
        Einsender  QOI  Praxis Nord|Klinik Mitte|MVZ Ost
        Probe_ID  I   #P99999999
        Eingang   Q   @date:2020-2021-%d.%m.%Y
        Analyt    SO  HBA1C|TSH|HIV-AK|CRP
        Ergebnis  S   w:0.1-90
        Diagnose_Text  S   Diabetes mellitus Typ 2|Hypothyreose|Hypertonie
        Medikation  S   Metformin|L-Thyroxin|Ramipril
        Raucher   S   ja|nein
        Bemerkung  I   @prose:Patient_berichtet_ueber_Schmerzen_seit_gestern_und_hatte_Fieber
        """),
    table("prison admissions", "listed justice", """
        ABT_INMATE_ID  I   #A9999999999
        SEX       Q   1-2
        ADMTYPE   SO  1-3
        OFFGENERAL  S   1-5
        EDUCATION  Q   1-5
        ADMITYR   QO  2000-2019
        RELEASEYR  QO  2001-2020
        SENTLGTH  S   0-6
        OFFDETAIL  S   1-13
        RACE      Q   1-4
        AGEADMIT  Q   1-5
        STATE     Q   1-56
        COUNTY    Q   1-999
        PARELIG_YEAR  SOQ  2001-2025
        RELTYPE   SO  1-3
        """),
    table("court docket", "unlisted justice", """
        docket_number  I   #CP-51-CR-9999999-2019
        defendant_name  I   @name
        dob       Q   @date:1950-2001
        zip       Q   #19199
        race      Q   White|Black|Asian|Unknown
        gender    Q   Male|Female
        arrest_date  Q   @date:2015-2019
        charge_code  S   18 § 2702|35 § 780-113|75 § 3802
        charge_description  S   Aggravated Assault|Poss Of Controlled Subst|DUI
        disposition  S   Guilty Plea|Nolle Prossed|Withdrawn
        sentence_months  S   0-120
        bail_amount  SO  ~10000
        judge     IO  @name
        attorney_type  OS  Public|Private|Court Appointed
        prior_convictions  S   0-9
        offense_grade  S   F1|F2|M1|M2
        """),
    table("tax returns soi", "listed tax", """
        RECID     I   @seq
        FLPDYR    OQ  2012|2012
        S006      O   10-99999
        AGERANGE  Q   0-6
        AGEDP1    Q   0-6
        GENDER    Q   0-2
        MARS      Q   1-4
        XTOT      QO  0-5
        DSI       O   0-1
        EARNSPLIT  SO  0-4
        E00100    S   ~40000
        E00200    S   ~36000
        E00300    S   ~400
        E02300    S   ~900
        E02400    S   ~5000
        E19800    SO  ~300
        E17500    S   ~500
        N24       QO  0-3
        """),
    table("student records", "listed school", """
        SASID     I   1000000000-1999999999
        LASID     I   #99999
        SCHOOL_CODE  QI  #01999999
        GRADE     QO  01-12
        DOB       Q   @date:2003-2014-%m/%d/%Y
        GENDER    Q   M|F|N
        RACE_ETHNICITY  Q   01-33
        CITY_OF_BIRTH  Q   @city
        HOME_LANGUAGE  Q   267|415|310
        LEP       QSO  00|01
        LOW_INCOME  S   00|01
        FRL       S   F|R|N
        SPED_PLACEMENT  S   00|01|10|20
        PRIMARY_DISABILITY  S   01-13?0.8
        SUSPENSIONS  S   0-6
        DAYS_ABSENT  SO  0-60
        GPA       SO  w:0.5-4
        ELA_SCALED_SCORE  SO  200-280
        """),
    table("social office de", "unlisted office", """
        BG_Nummer  I   #99999BG9999999
        Kundennummer  I   #999A999999
        Name      I   @surname:de
        Vorname   I   @given:de
        Geb.-Datum  Q   @date:1940-2003-%d.%m.%Y
        Fam.stand  Q   ledig|verheiratet|geschieden
        Staatsang.  Q   deutsch|türkisch|syrisch
        Ortsteil  Q   Nord|Mitte|Süd
        Personen_BG  QO  1-8
        Regelbedarf  S   380-450
        KdU       S   ~420
        Sanktion_%  S   0|30|60
        Schulden  S   ~2500
        GdB       S   0|20|50|80
        Schwerbeh  S   J|N
        Erwerbsf  SQ  voll|teilweise|nicht
        Bescheid_vom  QO  @date:2019-2021-%d.%m.%Y
        SB_Kuerzel  OI  MUE|SCH|KAY
        """),
    table("staff export", "unlisted office", """
        Emp_ID    I   #E99999
        Full_Name  I   @name
        Work_Email  I   @email
        Job_Grade  Q   G5|G6|G7|G8
        Dept      Q   Finance|Operations|IT|HR
        Site      Q   @city
        Start_Dt  Q   @date:1995-2021
        Gender    Q   F|M
        Ethnic_Cat  Q   White British|Asian|Black|Other
        Base_Sal  S   ~38000
        Bonus_Pct  S   0-20
        Perf_Rating  S   1-5
        Sick_Days_YTD  S   0-40
        Disab_Flag  S   Y|N|P
        Union_Memb  S   Y|N
        Pension_Contrib  S   ~2400
        Disciplinary  S   None|Written Warning|Final Warning
        Next_of_Kin  I   @name
        """),
    table("loan book", "unlisted office", """
        loan_id   I   @seq
        member_ref  I   #hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh
        emp_title  Q   Teacher|Nurse|Manager|Driver
        emp_length  QO  < 1 year|2 years|10+ years
        home_ownership  QO  RENT|OWN|MORTGAGE
        annual_inc  S   ~60000
        dti       S   w:0-40
        zip_code  Q   940xx|112xx|606xx
        addr_state  Q   CA|NY|IL
        delinq_2yrs  S   0-4
        fico_range_low  S   660-845
        revol_bal  S   ~12000
        pub_rec_bankruptcies  S   0-2
        loan_status  S   Fully Paid|Charged Off|Late
        purpose   OS  credit_card|medical|car
        int_rate  OS  w:5-30
        issue_d   QO  Dec-2015|Jan-2016
        """),
    table("answers en", "code book", """
        RESPID    I   @seq  Respondent serial number
        Q1        Q   18-95  What was your age on your last birthday?
        Q2        Q   1-2  Sex of respondent
        Q3        Q   1-9  Which region do you live in?
        Q4        Q   1-6  Current marital or civil partnership status
        Q5        Q   1-8  Highest level of education completed
        Q6        Q   1-9  Main occupation in the last 7 days (grouped)
        Q7        Q   1-18  Which of these best describes your ethnic group?
        Q8        Q   1-90  In which country were you born?
        Q9        S   1-12  Total household income before tax, last 12 months
        Q10       S   1-2  Have you ever been told by a doctor that you had diabetes?
        Q11       S   1-2  In the past 12 months, did you feel sad or hopeless almost every day?
        Q12       S   1-9  Which party did you vote for at the last general election?
        Q13       S   1-8  What is your religion, if any?
        Q14       S   1-2  Do you currently receive Universal Credit or other benefits?
        Q15       S   1-4  Which of the following best describes how you think of yourself? (sexual orientation)
        Q16       S   1-2  Have you ever been arrested or convicted of an offence?
        Q17       S   1-5  The government should spend more on defence: agree or disagree
        Q18       O   1-3  Interview mode
        Q19       O   5-90  Length of interview in minutes
        Q20       S   1-2  Are you a member of a trade union or staff association?
        Q21       S   1-2  Are you currently behind with rent, mortgage or loan payments?
        Q22       I   @prose  Any other comments
        WGT       O   w:0.2-4  Final non-response weight
        STR       O   1-60  Stratum used in sampling
        """),
    table("answers de fr it es", "code book", """
        lfd       I   @seq  Laufende Nummer
        v1        Q   1-2  Geschlecht der befragten Person
        v2        Q   1930-2003  Geburtsjahr
        v3        Q   1-20  Staatsangehörigkeit
        v4        Q   1-7  Höchster allgemeinbildender Schulabschluss
        v5        Q   1-5  Familienstand
        v6        S   1-7  Konfession
        v7        S   1-24  Monatliches Haushaltsnettoeinkommen
        v8        S   1-9  Wahlabsicht Bundestagswahl (Zweitstimme)
        v9        S   1-2  Amtlich festgestellte Behinderung
        w1        Q   1-8  Situation matrimoniale
        w2        Q   1-9  Niveau de diplôme le plus élevé
        w3        S   1-2  Avez-vous une maladie chronique ?
        w4        S   1-2  Perçoit le revenu de solidarité active (RSA)
        w5        Q   1-9  Catégorie socioprofessionnelle
        x1        Q   1-9  Titolo di studio più elevato conseguito
        x2        S   1-5  Come va in generale la sua salute?
        x3        S   1-9  Orientamento politico
        x4        Q   1-9  Regione di residenza
        y1        Q   1-9  Nivel de estudios alcanzado
        y2        S   1-2  ¿Recibe alguna prestación por desempleo?
        y3        S   1-9  Ingresos mensuales netos del hogar
        y4        Q   1-9  Comunidad autónoma de residencia
        y5        S   1-6  ¿Cómo se define en materia religiosa?
        gew       O   w:0.2-4  Hochrechnungsfaktor
        """),
    table("ddi health interview", "code book", """
        hh_no     I   1-4000  Household identification number
        ind       OI  1-9  Line number of the person within the household
        b4        Q   0-97  Age in completed years
        b3        Q   1-2  Gender
        b7        Q   1-9  Relationship to the head of household
        c2        Q   0-8  Highest class passed
        d1        S   1-2  Suffering from any chronic disease
        d4        S   1-40  Nature of ailment
        d9        S   ~500  Total medical expenditure (Rs.)
        e1        S   1-2  Consumed alcohol in the last 30 days
        e3        S   1-2  Ever chewed or smoked tobacco
        f2        S   1-2  Currently pregnant
        g1        S   ~9000  Monthly per capita expenditure (Rs.)
        g3        S   1-2  Possesses a BPL ration card
        h1        SQ  1-7  Religion/social group of the head
        sec       Q   1-2  Sector (rural/urban)
        dist      Q   1-75  District code
        mlt       O   1-9000  Multiplier
        fod       O   1-120  FOD sub-region
        """),
]  # fmt: skip
