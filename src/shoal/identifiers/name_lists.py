"""Frequent given names and surnames in seven languages, written without accents.

Surnames that are also everyday words (Brown, King, Young, White) are left out: a column of colours is no column of
names. The lists are short on purpose; they lend weight to a column, they do not have to know every name.
"""


def _names(text: str) -> frozenset[str]:
    """Names set apart by blanks."""
    return frozenset(text.split())


GIVEN_NAMES = _names(
    """
    james john robert michael william david richard joseph thomas charles christopher daniel matthew anthony mark
    donald steven paul andrew joshua kenneth kevin brian george timothy ronald edward jason jeffrey ryan jacob gary
    nicholas eric jonathan stephen larry justin scott brandon benjamin samuel gregory alexander patrick frank
    raymond jack dennis jerry tyler aaron jose henry adam douglas nathan peter zachary kyle walter ethan noah liam
    oliver harry mary patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy betty sandra
    margaret ashley kimberly emily donna michelle carol amanda melissa deborah stephanie rebecca sharon laura
    cynthia kathleen amy angela shirley anna brenda pamela emma nicole helen samantha katherine christine debra
    rachel carolyn janet catherine maria heather diane ruth julie olivia joyce virginia victoria kelly lauren
    christina joan evelyn judith megan andrea cheryl hannah jacqueline martha gloria teresa ann sara madison frances
    kathryn janice jean abigail alice julia judy sophia marco giuseppe giovanni antonio mario luigi francesco angelo
    vincenzo pietro salvatore carlo franco domenico bruno paolo michele giorgio aldo sergio luciano roberto stefano
    alessandro matteo lorenzo davide simone luca federico riccardo giulia chiara francesca valentina alessia martina
    elisa federica giovanna rosa giuseppina lucia caterina elena paola silvia simona ilaria sofia aurora beatrice
    ginevra margherita roberta claudia monica cristina hans wolfgang klaus werner manfred helmut jurgen heinz
    gerhard dieter horst gunter karl uwe bernd stefan andreas markus christian sebastian tobias florian felix lukas
    jonas leon maximilian finn matthias jens torsten ursula helga monika renate ingrid gisela brigitte sabine petra
    susanne birgit heike anke katrin anja stefanie nadine lena leonie mia johanna greta lea jana ute karin pierre
    michel andre philippe rene louis alain jacques bernard marcel roger claude christophe nicolas julien laurent
    sebastien guillaume antoine mathieu thierry olivier pascal didier hugo lucas theo gabriel arthur marie jeanne
    francoise monique nathalie isabelle sylvie martine anne valerie sandrine celine camille manon chloe ines jade
    louise margaux aurelie emilie juliette manuel francisco juan javier carlos jesus alejandro miguel rafael pedro
    angel fernando luis pablo jorge alberto alvaro diego adrian raul ivan ruben enrique ramon vicente carmen ana
    isabel dolores pilar josefa rosario marta raquel beatriz rocio mercedes concepcion paula alba irene noelia joao
    tiago goncalo rui duarte nuno mariana leonor matilde rita catarina jan piet kees henk willem hendrik johan
    gerrit dirk pieter sander daan bram sem thijs anneke marieke femke sanne saskia ingeborg lotte fleur maaike
    mohamed mohammed ahmed ali fatima omar hassan ibrahim yusuf aisha wei priya raj anita sanjay olga dmitri
    katarzyna piotr agnieszka andrzej lars erik anders sven
    """
)

SURNAMES = _names(
    """
    smith johnson williams jones garcia miller davis rodriguez martinez hernandez lopez gonzalez wilson anderson
    thomas taylor moore jackson martin lee perez thompson harris sanchez clark ramirez lewis robinson walker allen
    wright torres nguyen flores adams nelson baker campbell mitchell carter roberts gomez phillips evans turner diaz
    parker cruz edwards collins reyes stewart morris morales murphy rogers gutierrez ortiz morgan peterson bailey
    reed kelly howard ramos cox richardson watson brooks chavez bennett mendoza ruiz hughes alvarez castillo sanders
    patel myers ross foster jimenez davies patterson hamilton graham sullivan rossi russo ferrari esposito bianchi
    romano colombo ricci marino greco bruno gallo conti luca mancini costa giordano rizzo lombardi moretti barbieri
    fontana santoro mariani rinaldi caruso ferrara galli martini leone longo gentile martinelli vitale lombardo
    serra coppola santis marchetti parisi villa conte ferraro ferri fabbri bianco marini grasso valentini messina
    sala gatti pellegrini palumbo sanna farina rizzi monti cattaneo morelli amato silvestri muller mueller schmidt
    schneider fischer weber meyer wagner becker schulz hoffmann schafer koch bauer richter klein wolf schroder
    neumann schwarz zimmermann braun kruger hofmann hartmann lange schmitt werner schmitz krause meier lehmann
    schmid schulze maier kohler herrmann konig walter mayer huber kaiser fuchs peters lang scholz moller weiss jung
    hahn schubert vogel friedrich keller gunther frank berger winkler roth beck lorenz baumann franke bernard dubois
    robert richard petit durand leroy moreau simon laurent lefebvre michel bertrand roux vincent fournier morel
    girard andre lefevre mercier dupont lambert bonnet francois legrand garnier faure rousseau blanc guerin henry
    roussel nicolas perrin morin mathieu clement gauthier dumont fontaine chevalier robin masson gerard boyer denis
    lemaire duval joly gautier roger roche roy fernandez moreno munoz alonso romero navarro dominguez vazquez gil
    serrano blanco molina suarez ortega delgado castro rubio marin sanz iglesias nunez medina garrido cortes santos
    lozano guerrero cano prieto mendez cabrera calvo vidal gallego leon marquez herrera pena silva ferreira pereira
    oliveira rodrigues martins sousa fernandes goncalves gomes marques almeida ribeiro pinto carvalho teixeira
    moreira correia mendes nunes soares vieira monteiro cardoso rocha jong jansen vries berg bakker visser meijer
    mulder bos vos hendriks dekker brouwer dijk smit boer jacobs koning vermeulen veen khan singh kumar hussain
    begum chen wang zhang kim park tanaka suzuki ivanov petrov novak kowalski nowak andersson johansson hansen olsen
    larsen nielsen jensen
    """
)

ALL_NAMES = GIVEN_NAMES | SURNAMES
