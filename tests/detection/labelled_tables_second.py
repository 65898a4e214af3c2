"""A second group of labelled tables, written after all rules and lists: sources without a list or a code book.

Never look at what went wrong in them: they would be of no use any more.
"""

from labelled_tables import LabelledTable, table

SECOND: list[LabelledTable] = [
    table("pnad brazil", "unlisted survey", """
        UPA       O   #119999999
        V1008     O   1-14
        Estrato   O   1110011-5310220
        UF        Q   11-53
        V1022     Q   1-2
        V1028     O   w:30-4000
        V2007     Q   1-2
        V2009     Q   0-99
        V20082    Q   1920-2021
        V2010     Q   1-6
        V2005     Q   1-19
        VD3004    Q   1-7
        VD4002    QS  1-2
        V4010     Q   1111-9629
        VD4019    S   ~1800
        VD5008    S   ~1200
        """),
    table("enigh mexico", "unlisted survey", """
        folioviv  I   #0100999999
        numren    O   1-9
        parentesco  Q   101-701
        sexo      Q   1-2
        edad      Q   0-97
        disc1     S   1-8
        hablaind  Q   1-2
        nivelaprob  Q   0-9
        edo_conyug  Q   1-6
        segsoc    SO  1-2
        hijos_viv  QO  0-9
        ing_1     S   ~9000
        gasto_mon  S   ~20000
        entidad   Q   01-32
        tam_loc   Q   1-4
        factor    O   40-3000
        """),
    table("nfhs india", "unlisted survey", """
        caseid    I   #99 9999 99
        hhnum     OI  1-99
        stname    Q   1-36
        distcode  Q   1-640
        resid_type  Q   1-2
        resp_age  Q   15-49
        marr_stat  Q   0-5
        caste_grp  Q   1-4
        relig     S   1-9
        educ_lvl  Q   0-3
        windex5   S   1-5
        anemia_lvl  S   1-4
        curr_contra  S   0-20
        dv_ever   S   0-1
        hiv_heard  SO  0-1
        samp_wt   O   20000-3000000
        """),
    table("klips korea", "unlisted survey", """
        pid       I   #9999999
        hhid22    I   1-90000
        p_sex     Q   1-2
        p_age     Q   15-98
        p_edu     Q   1-9
        p_married  Q   1-5
        p_region  Q   1-19
        p_jobfam2000  Q   11-95
        p_ind2000  Q   11-99
        p_wage    S   ~250
        p_union   S   1-2
        p_satis_job  S   1-5
        p_health  S   1-5
        p_relig   S   1-6
        sw22p_l   O   w:300-9000
        """),
    table("liss netherlands", "unlisted survey", """
        nomem_encr  I   #8999999
        nohouse_encr  I   1-90000
        geslacht  Q   1-2
        gebjaar   Q   1925-2005
        leeftijd  Q   15-95
        lftdcat   Q   1-7
        aantalhh  QO  1-8
        burgstat  Q   1-5
        oplmet    Q   1-9
        belbezig  QS  1-14
        brutoink_f  S   ~3000
        nettoink  S   ~2100
        herkomstgroep  Q   0-202
        sted      Q   1-5
        cr20m001  S   1-2
        ch20m004  S   1-5
        """),
    table("lnu sweden", "unlisted survey", """
        lopnr     I   @seq
        kon       Q   1-2
        fodar     Q   1930-2001
        civst     Q   1-6
        lan       Q   1-25
        sun2000niva  Q   1-7
        ssyk3     Q   111-962
        sni2      Q   1-99
        timlon    S   w:90-600
        fackmedl  S   1-2
        halsa     S   1-3
        varkrygg  S   1-3
        arblos    QS  1-2
        vikt_kal  O   w:0.2-4
        """),
    table("hilda australia", "unlisted survey", """
        xwaveid   I   #0999999
        uhhrhid   I   #999999
        uhgage    Q   0-100
        uhgsex    Q   1-2
        umrcurr   Q   1-6
        uedhigh1  Q   1-10
        uancob    Q   1101-9232
        uhhstate  Q   1-8
        uhhsra    Q   0-4
        ujbmo62   Q   10-99
        uesdtl    QS  1-7
        utifditp  S   ~40000
        ubncap    S   ~3000
        ugh1      S   1-5
        ulssmkf   S   1-5
        ureligb   S   1000-7999
        uhhwtrp   O   w:100-9000
        """),
    table("census india sample", "unlisted census", """
        rec_id    I   @seq
        state_cd  Q   1-35
        dist_cd   Q   1-99
        ru        Q   1-2
        rel_head  Q   1-9
        sex       Q   1-2
        age       Q   0-99
        mstatus   Q   1-5
        religion  S   1-9
        sc_st     Q   1-3
        mtongue   Q   1-122
        literate  Q   1-2
        edulevel  Q   1-12
        disab     S   0-8
        mainwork  Q   1-4
        nco       Q   111-999
        migr_reason  QS  1-7
        child_surv  QS  0-12
        """),
    table("nsp poland", "unlisted census", """
        id_osoby  I   #99999999
        id_gosp   I   1-90000
        woj       Q   02-32
        klm       Q   1-6
        plec      Q   1-2
        wiek      Q   0-99
        rok_ur    Q   1920-2021
        stan_cywilny  Q   1-6
        wyksztalcenie  Q   1-9
        obywatelstwo  Q   1-4
        narodowosc  Q   1-20
        jezyk_domowy  Q   1-20
        wyznanie  S   1-12
        niepelnospr  S   1-3
        st_rynek_pracy  QS  1-3
        zawod_kod  Q   1111-9629
        waga_os   O   w:5-40
        """),
    table("turkey labour", "unlisted census", """
        BIRIM_NO  I   1-900000
        FERT_NO   O   1-12
        NUTS1     Q   1-12
        S1        Q   1-99
        CINSIYET  Q   1-2
        YAS_GRUP  Q   1-14
        MEDENI_DURUM  Q   1-4
        OKUL_BITEN  Q   0-8
        UYRUK     Q   1-2
        DOGUM_YERI  Q   1-81
        ISCO08_ISG  Q   1-9
        NACE2_KOD  Q   1-21
        ISTEKI_DURUM  QS  1-4
        GELIR_GECENAY  S   ~6000
        SENDIKA_UYE  S   1-2
        FAKTOR    O   w:50-2000
        """),
    table("kenya ihbs", "unlisted survey", """
        clid      O   1-2400
        hhid_ken  I   #K999999
        b01_line  O   1-12
        county    Q   1-47
        eatype    Q   1-3
        b03       Q   1-9
        b04       Q   1-2
        b05_years  Q   0-95
        b07       Q   1-12
        b13       Q   1-7
        c10_l     Q   1-20
        d09       Q   1-26
        d26       S   ~9000
        e02       S   1-2
        e05_1     S   1-30
        g11_transfers  S   ~500
        weight_hh  O   w:100-9000
        """),
]  # fmt: skip
