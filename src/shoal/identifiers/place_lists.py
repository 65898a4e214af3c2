"""Countries, first-level regions and large cities in the languages of the header words, as columns name them."""

import polars as pl

from shoal.identifiers.letters import plain
from shoal.identifiers.shape import vocabulary

COUNTRIES = vocabulary(
    """
    united states, united states of america, usa, us, united-states, canada, mexico, brazil, argentina, chile,
    peru, colombia, ecuador, venezuela, cuba, jamaica, haiti, dominican-republic, puerto-rico, guatemala,
    honduras, el-salvador, nicaragua, costa rica, panama, bolivia, paraguay, uruguay, trinadad&tobago,
    trinidad and tobago, outlying-us(guam-usvi-etc), united kingdom, uk, great britain, england, scotland,
    wales, northern ireland, ireland, france, germany, italy, spain, portugal, netherlands,
    holand-netherlands, belgium, luxembourg, switzerland, austria, poland, czech republic, czechia, slovakia,
    hungary, romania, bulgaria, greece, yugoslavia, croatia, serbia, slovenia, bosnia and herzegovina,
    albania, north macedonia, montenegro, kosovo, turkey, ukraine, russia, belarus, moldova, lithuania,
    latvia, estonia, finland, sweden, norway, denmark, iceland, malta, cyprus, israel, iran, iraq, syria,
    lebanon, jordan, saudi arabia, qatar, united arab emirates, egypt, morocco, algeria, tunisia, libya,
    sudan, ethiopia, kenya, nigeria, ghana, senegal, cameroon, south africa, somalia, eritrea, uganda,
    tanzania, india, pakistan, bangladesh, sri lanka, nepal, afghanistan, china, hong kong, taiwan,
    japan, south korea, north korea, korea, vietnam, thailand, cambodia, laos, malaysia, singapore,
    indonesia, philippines, australia, new zealand, columbia, scotland, thailand, stati uniti, regno unito,
    francia, germania, italia, spagna, portogallo, paesi bassi, belgio, svizzera, austria, polonia, romania,
    grecia, turchia, ucraina, svezia, norvegia, danimarca, finlandia, marocco, egitto, cina, giappone,
    brasile, albania, vereinigte staaten, vereinigtes königreich, frankreich, deutschland, italien, spanien,
    niederlande, belgien, schweiz, österreich, polen, rumänien, griechenland, türkei, schweden, norwegen,
    dänemark, finnland, russland, tschechien, ungarn, kroatien, ägypten, marokko, japan, brasilien, syrien,
    états-unis, royaume-uni, allemagne, italie, espagne, pays-bas, belgique, suisse, autriche, pologne,
    roumanie, grèce, turquie, suède, norvège, danemark, finlande, russie, maroc, algérie, tunisie, égypte,
    chine, japon, brésil, sénégal, estados unidos, reino unido, alemania, españa, países bajos, bélgica,
    suiza, polonia, rumania, grecia, turquía, suecia, noruega, dinamarca, finlandia, rusia, marruecos,
    argelia, egipto, china, japón, brasil, méxico, perú, república dominicana, nederland, belgië, duitsland,
    frankrijk, spanje, italië, polen, turkije, alemanha, frança, espanha, itália, angola
    """
)
# ISO 3166 codes; short codes need their header.
COUNTRY_CODES = vocabulary(
    """us, gb, fr, de, it, es, pt, nl, be, lu, ch, at, pl, cz, sk, hu, ro, bg,
    gr, hr, si, rs, tr, ua, ru, lt, lv, ee, fi, se, no, dk, is, ie, mt, cy, il, eg, ma, dz, tn, za, ng, ke,
    in, pk, cn, jp, kr, vn, th, sg, id, ph, au, nz, ca, mx, br, ar, cl, co, pe, usa, gbr, fra, deu, ita, esp,
    prt, nld, bel, che, aut, pol, rou, grc, swe, nor, dnk, fin, irl, can, mex, bra, aus"""
)
REGIONS = vocabulary(
    """
    alabama, alaska, arizona, arkansas, california, colorado, connecticut, delaware, florida, georgia, hawaii,
    idaho, illinois, indiana, iowa, kansas, kentucky, louisiana, maine, maryland, massachusetts, michigan,
    minnesota, mississippi, missouri, montana, nebraska, nevada, new hampshire, new jersey, new mexico, new
    york, north carolina, north dakota, ohio, oklahoma, oregon, pennsylvania, rhode island, south carolina,
    south dakota, tennessee, texas, utah, vermont, virginia, washington, west virginia, wisconsin, wyoming,
    district of columbia, ontario, quebec, british columbia, alberta, manitoba, abruzzo, basilicata, calabria,
    campania, emilia-romagna, friuli-venezia giulia, lazio, liguria, lombardia, marche, molise, piemonte,
    puglia, sardegna, sicilia, toscana, trentino-alto adige, umbria, valle d'aosta, veneto, baden-württemberg,
    bayern, berlin, brandenburg, bremen, hamburg, hessen, mecklenburg-vorpommern, niedersachsen,
    nordrhein-westfalen, rheinland-pfalz, saarland, sachsen, sachsen-anhalt, schleswig-holstein, thüringen,
    auvergne-rhône-alpes, bourgogne-franche-comté, bretagne, centre-val de loire, corse, grand est,
    hauts-de-france, île-de-france, normandie, nouvelle-aquitaine, occitanie, pays de la loire,
    provence-alpes-côte d'azur, andalucía, aragón, asturias, canarias, cantabria, castilla-la mancha, castilla
    y león, cataluña, comunidad valenciana, extremadura, galicia, la rioja, comunidad de madrid, murcia,
    navarra, país vasco, islas baleares, noord-holland, zuid-holland, utrecht, gelderland, noord-brabant,
    limburg, friesland, drenthe, overijssel, zeeland, north east, north west, yorkshire and the humber, east
    midlands, west midlands, east of england, south east, south west
    """
)
STATE_CODES = vocabulary(
    """al, ak, az, ar, ca, co, ct, de, fl, ga, hi, id, il, in, ia, ks, ky, la,
    me, md, ma, mi, mn, ms, mo, mt, ne, nv, nh, nj, nm, ny, nc, nd, oh, ok, or, pa, ri, sc, sd, tn, tx, ut,
    vt, va, wa, wv, wi, wy, dc, pr"""
)
CITIES = vocabulary(
    """
    new york, los angeles, chicago, houston, phoenix, philadelphia, san antonio, san diego, dallas, san jose,
    austin, seattle, denver, boston, detroit, memphis, portland, las vegas, baltimore, milwaukee, sacramento,
    atlanta, miami, oakland, tampa, san francisco, columbus, indianapolis, charlotte, nashville, minneapolis,
    cleveland, new orleans, pittsburgh, cincinnati, london, birmingham, manchester, liverpool, leeds,
    sheffield, bristol, glasgow, edinburgh, cardiff, belfast, newcastle, nottingham, leicester, dublin, cork,
    toronto, montreal, vancouver, sydney, melbourne, roma, milano, napoli, torino, palermo, genova, bologna,
    firenze, bari, catania, venezia, verona, messina, padova, trieste, brescia, parma, modena, reggio emilia,
    perugia, cagliari, aosta, trento, bolzano, pisa, siena, lecce, salerno, bergamo, berlin, hamburg, münchen,
    köln, frankfurt, stuttgart, düsseldorf, leipzig, dortmund, essen, bremen, dresden, hannover, nürnberg,
    duisburg, bochum, wuppertal, bielefeld, bonn, münster, mannheim, augsburg, wien, graz, linz, salzburg,
    zürich, genève, basel, bern, lausanne, paris, marseille, lyon, toulouse, nice, nantes, strasbourg,
    montpellier, bordeaux, lille, rennes, reims, toulon, grenoble, dijon, angers, le havre, saint-étienne,
    nîmes, brest, limoges, tours, amiens, metz, madrid, barcelona, valencia, sevilla, zaragoza, málaga,
    murcia, palma, bilbao, alicante, córdoba, valladolid, vigo, gijón, granada, a coruña, vitoria, elche,
    oviedo, santander, pamplona, salamanca, toledo, amsterdam, rotterdam, den haag, utrecht, eindhoven,
    groningen, tilburg, antwerpen, gent, brussel, bruxelles, brugge, lisboa, porto, braga, coimbra, rome,
    milan, naples, turin, florence, venice, munich, cologne, vienna, warsaw, prague, budapest, stockholm,
    oslo, copenhagen, tokyo
    """
)


# Places that are not smaller than a state: states and territories of the USA, census regions, countries.


_STATES = """
    alabama, alaska, arizona, arkansas, california, colorado, connecticut, delaware, florida, georgia, hawaii, idaho,
    illinois, indiana, iowa, kansas, kentucky, louisiana, maine, maryland, massachusetts, michigan, minnesota,
    mississippi, missouri, montana, nebraska, nevada, new hampshire, new jersey, new mexico, new york, north carolina,
    north dakota, ohio, oklahoma, oregon, pennsylvania, rhode island, south carolina, south dakota, tennessee, texas,
    utah, vermont, virginia, washington, west virginia, wisconsin, wyoming, district of columbia, puerto rico, guam,
    american samoa, northern mariana islands, us virgin islands, virgin islands, northeast, midwest, south, west, new
    england, middle atlantic, east north central, west north central, south atlantic, east south central, west south
    central, mountain, pacific, foreign, abroad, outside us, other, unknown, missing"""
_STATE_WORDS = frozenset(" ".join(word.split()) for word in _STATES.split(","))
_STATE_MARKS = STATE_CODES | {"gu", "as", "mp", "vi", "us", "usa", "xx", "zz", "na"}
# FIPS codes of states and territories
_NO_FIPS = {3, 7, 14, 43, 52, 57, 58, 59, 61, 62, 63, 64, 65, 67, 68, 70, 71, 73, 74, 75, 76, 77}
_FIPS = frozenset(set(range(1, 79)) - _NO_FIPS)
LEAST_KNOWN = 0.9


def is_state(values: pl.Series) -> list[bool]:
    """Which values are known not to be smaller than a state.

    >>> is_state(pl.Series(["NY", "New York", "Springfield"]))
    [True, True, False]
    """
    if values.dtype.is_numeric():
        return [value in _FIPS for value in values.to_list()]
    words = [
        " ".join(plain(text).replace(".", "").replace("-", " ").split()) for text in values.cast(pl.String).to_list()
    ]
    return [
        word in _STATE_WORDS or word in _STATE_MARKS or word in COUNTRIES or (word.isdecimal() and int(word) in _FIPS)
        for word in words
    ]


def are_states(values: pl.Series) -> bool:
    """Whether nearly all values are; the others are emptied."""
    known = is_state(values)
    return bool(known) and sum(known) >= LEAST_KNOWN * len(known)
