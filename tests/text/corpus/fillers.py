"""Fillers of the corpus: names, places and numbers by half and language, and words that are the same in both halves."""

from __future__ import annotations


def _of(text: str) -> list[str]:
    return [part.strip() for part in text.split("|") if part.strip()]


def _lists(**texts: str) -> dict[str, list[str]]:
    return {name: _of(text) for name, text in texts.items()}


LANGUAGE_WORDS = {
    "en": _lists(
        symptom="chest pain|shortness of breath|a persistent cough|low back pain|dizziness|anxiety",
        finding="Lungs clear.|Abdomen soft, not tender.|Reflexes normal.|No focal weakness. History of <K:Raynaud's> noted.",
        drug="lisinopril|metformin|sertraline|omeprazole|amoxicillin", job="retired nurse|carpenter|student|farmer",
        title="Mr.|Mrs.|Ms.", pronoun="he|she", pronoun2="his|her", thing="tablet|scanner|laptop|router",
    ),
    "de": _lists(
        symptom="Husten und Fieber|Rückenschmerzen|Schwindel|Atemnot|Übelkeit", anrede="Herr|Frau",
        befund="Lunge frei.|Bauch weich.|EKG unauffällig.|Kein Hinweis auf <K:Morbus Bechterew>.",
        drug="Ramipril|Metformin|Pantoprazol|Ibuprofen",
    ),
    "fr": _lists(
        symptom="une toux|des vertiges|une douleur lombaire|de la fièvre", civ="M.|Mme|Monsieur|Madame",
        constat="Poumons libres.|Abdomen souple.|Pas de <K:syndrome de Raynaud>.|Examen sans particularité.",
        drug="ramipril|metformine|amoxicilline|paracétamol",
    ),
    "it": _lists(
        symptom="tosse e febbre|vertigini|dolore lombare|nausea", sig="Il sig.|La sig.ra|Il signor|La signora",
        reperto="Torace libero.|Addome trattabile.|Segno di <K:Babinski> assente.|Esame nella norma.",
        drug="ramipril|metformina|amoxicillina|paracetamolo",
    ),
    "es": _lists(
        symptom="tos y fiebre|mareos|dolor lumbar|náuseas", don="Don|Doña|El Sr.|La Sra.",
        hallazgo="Pulmones limpios.|Abdomen blando.|Signo de <K:Babinski> negativo.|Exploración normal.",
        drug="ramipril|metformina|amoxicilina|paracetamol",
    ),
}  # fmt: skip

FILLERS = {
    "held_out": {
        "en": _lists(
            gn="Tamsin|Oluwaseun|Ffion|Xochitl|Quillan|Peregrine|Saoirse|Ignatia|Jebediah|Nkechi|Ravindra|Zsófia",
            sn="Quackenbush|Krzywicki|Ó Dálaigh|Vandenhoek|Abara-Lund|Thistledown|Mukhopadhyay|Swarbrick|McGillicuddy|Yorath|Penhallow|Nwachukwu",
            city="Netherby|Ballyfermoor|Port Ellery|Quarrington|Mossvale|Upper Tarn",
            org="Greyfriars Dental Group|Oakhollow Primary School|Tidewater Credit Union|the Bramble Shelter|Hexham & Daughters Ltd",
            street="Saltmarsh Lane|Pilgrim Hill Road|Orchard Crescent|Wren Court|Old Mill Drive",
            date="17 November 2021|Nov 3|8/22/2022|2021-06-30|October 5th|Sept. 9, 2020|04.07.2022|23rd of April|12-Jan-2021",
            phone="(415) 555-0133|555-0178|020 7946 0321|+44 1632 960 199|212.555.0165|07700 900 412",
            email="q.bush@inbox.example|nk_abara@letters.example.org|ffion-99@mail.example.co.uk",
        ),
        "de": _lists(
            gn="Kunigunde|Ansgar|Friedlinde|Ekkehart|Tjorven|Aysel|Raimund|Walburga|Hjalmar|Oxana",
            sn="Hinterseer|Quedenfeld|Zwirner|Pfeiffenberger|Ostrowicki|Kaltwasser|Öffner|Sauerampfer|Tschirner|Yildizhan",
            city="Oberwalting|Sankt Kilian|Moorhusen|Grünsee|Neukirchberg",
            org="Diakonie Morgenstern|Caritasverband Felsheim|Tischlerei Abendroth GmbH|Beratungsstelle Lichtblick",
            street="Am Eulenbach|Rosenhügelweg|Ziegeleistraße|Hintere Gasse|Birkenallee",
            date="17.11.2021|3. November|22.8.2022|30. Juni 2021|5. Okt. 2020|2021-03-04|den 9. Januar",
            phone="0341 5550188|+49 176 5550142|(089) 555 0177|0221/555-0129", zip="99997|04999|87998|21998",
        ),
        "fr": _lists(
            gn="Enguerrand|Isolde|Mahaut|Yannig|Ombeline|Abdoulaye|Maïwenn|Côme|Ségolène|Zéphyrin",
            sn="Bouteflikha|Kerguelen|Taillefer|d'Aubigny|Le Gwennec|Poulidorat|Vaucanson|N'Diaye-Roux|Malaterre|Quéméneur",
            city="Roquebrusse|Saint-Alban-du-Lac|Villeneuve-sur-Orle|Kervignac|Montrouvel",
            org="Mission locale du Vexin|Foyer Les Hirondelles|l'association Tremplin|Cabinet Soubirous",
            street="rue du Puits-Neuf|allée des Cormorans|impasse du Moulin|boulevard Anatole-France|chemin des Vignes",
            date="17 novembre 2021|3 nov.|22/08/2022|30 juin|1er février 2020|9 déc. 2021|14.05.22",
            phone="06 39 98 14 77|01 99 00 23 45|+33 6 39 98 55 01|0261910033", zip="35999|13998|69998|44997",
        ),
        "it": _lists(
            gn="Ludovica|Ermete|Fiammetta|Goffredo|Ornella|Taddeo|Zelinda|Amerigo|Selvaggia|Bashir",
            sn="Spaccapietra|Quagliarella|Tiramani|Dell'Orco|Passalacqua|Zanichelloni|Frangipane|Lo Verso|Mezzasalma|Abdelkrim",
            city="Pietrafosca|Castelnuovo Brera|Borgo Ticone|Santamarina Alta|Fontecchia",
            org="Cooperativa Il Girasole|Officine Benvegnù S.n.c.|Istituto Santa Lucia|Panificio Mezzaluna",
            street="via dei Castagni|viale Kennedy|corso Emanuele Filiberto|largo della Fontana|vicolo Stretto",
            date="17 novembre 2021|3 nov.|22/08/2022|30 giugno|1° febbraio 2020|14.05.22",
            phone="347 5550188|06 5550 0142|+39 333 555 0119|0575/555012", zip="52999|10998|90997",
        ),
        "es": _lists(
            gn="Leovigildo|Amaranta|Iñaki|Edelmira|Nicanor|Ximena|Wilfredo|Begoña|Yadira|Teófilo",
            sn="Arrizabalaga|Quintanilla Robledo|Zumalacárregui|Mbomío|de la Riva|Pizarroso|Altamirano Ruano|Urruticoechea|Fuentesaúco|Yturralde",
            city="Valdeolivas|San Millán de Yécora|Puertolongo|Robledillo|Fuenteblanca",
            org="Fundación Nuevo Alba|Talleres Ibarrondo S.A.|Asociación Puente Abierto|Panadería La Espiga",
            street="calle de los Almendros|avenida de la Ermita|plaza del Rastrillo|paseo de los Olmos|camino Viejo",
            date="17 de noviembre de 2021|3 nov.|22/08/2022|30 de junio|1 de febrero de 2020|14-05-22",
            phone="655 550 188|+34 91 550 0142|600-550-119|985 55 01 77", zip="37998|41997|08999",
        ),
    },
    "tuned": {
        "en": _lists(
            gn="Jennifer|Marcus|Aaliyah|Carlos|Mei|Patrick|Dorothy|Will|Priyanka|Sean|Hope|Ahmed",
            sn="Henderson|Nguyen|O'Brien|Garcia-Lopez|Young|Baker|Kaminski|Johnson|Rivera|Green|St. John|MacLeod",
            city="Denver|Portland|Bristol|Fort Wayne|Cedar Rapids|Leicester",
            org="Mercy General Hospital|Lincoln Middle School|First National Bank|Walker & Sons Inc.|Hope Clinic",
            street="Maple Street|Riverside Drive|King's Road|N. 5th Avenue|Park Lane",
            date="March 14, 2021|3/14/21|14 March 2021|2021-03-14|June 2|Jan. 5th, 2019|5/6|14th of July",
            phone="(312) 555-0101|617-555-0199|+1 646 555 0123|0161 496 0123|404.555.0188",
            email="jen.h@example.com|marcus77@example.org|a.obrien@mail.example.net",
        ),
        "de": _lists(
            gn="Anna|Jürgen|Fatma|Lukas|Hildegard|Karl-Heinz|Katharina|Uwe|Svetlana|Mark",
            sn="Schmidt|Hoffmann|Kaya|Zimmermann|Groß|Nowak|Meyer-Landrut|Jung|Schröder|von Stein",
            city="Köln|Heidelberg|Dresden|Bad Homburg|Kassel",
            org="Schreiner Bau GmbH|Sparkasse Kassel|Stadtwerke Jena|Müller & Co. KG",
            street="Hauptstraße|Goethestr.|Am Markt|Schillerplatz|Gartenweg",
            date="14.03.2021|14. März 2021|3. Mai|1.2.21|den 5. Juni 2020|Freitag, 3. Juli",
            phone="030 5550123|0171-5550188|+49 89 555 01 77|0621 / 5550134", zip="50667|69115|01067|34117",
        ),
        "fr": _lists(
            gn="Marie|Mohamed|Jean-Pierre|Chloé|Lucas|Brigitte|Inès|Rose|Olivier|Aïcha",
            sn="Martin|Durand|Bernard|Lefebvre|Petit|Diallo|Le Goff|Roux|de Villiers|Fontaine",
            city="Paris|Marseille|Grenoble|Aix-en-Provence|Lille",
            org="Boulangerie Martin|Crédit du Nord|la société Durand SA|Collège Victor Hugo",
            street="rue Victor-Hugo|avenue Jean-Jaurès|place du Marché|boulevard Voltaire",
            date="14 mars 2021|14/03/2021|3 mai|1er juin 2020|le lundi 8 mars|5 sept. 2019",
            phone="06 12 34 56 78|01 40 20 50 50|+33 4 91 55 01 23", zip="75011|13001|38000|59800",
        ),
        "it": _lists(
            gn="Marco|Giulia|Francesca|Antonio|Elena|Ahmed|Chiara|Domenico|Rosa|Matteo",
            sn="Rossi|Bianchi|Esposito|De Santis|Costa|Leone|Ferrari|Lombardi|D'Amico|Villa",
            city="Torino|Napoli|Reggio Emilia|Trento|Palermo",
            org="Autotrasporti Costa S.r.l.|Banca di Roma|Comune di Trento|Bar Centrale",
            street="via Roma|viale Mazzini|piazza San Marco|corso Italia",
            date="14 marzo 2021|14/03/2021|3 maggio|1.6.2020|lunedì 8 marzo",
            phone="333 1234567|02 5550123|+39 06 555 0188|011/5550144", zip="10121|80133|38122",
        ),
        "es": _lists(
            gn="María|José Luis|Lucía|Mohamed|Carmen|Alejandro|Pilar|Sofía|Ángel|Rosa",
            sn="García|Fernández López|Martínez|Rubio|Moreno Díaz|Iglesias|de la Cruz|Navarro|León|Campos",
            city="Valencia|Zaragoza|Málaga|San Sebastián|Gijón",
            org="Talleres García S.L.|Banco de Santander|Ayuntamiento de Gijón|Instituto Cervantes",
            street="calle Mayor|avenida de América|plaza de España|paseo de Gracia",
            date="14 de marzo de 2021|14/03/2021|3 de mayo|1-6-2020|lunes 8 de marzo",
            phone="612 345 678|91 555 0123|+34 93 555 01 88", zip="46001|50001|33201",
        ),
    },
}  # fmt: skip
