//! French.

use super::table::{CueKind, CueTable};

#[rustfmt::skip]
pub(super) const TABLE: CueTable = CueTable {
    spaced: true,
    telltales: &[
        "le", "la", "les", "des", "une", "est", "pas", "pour", "dans", "que", "qui", "sur", "avec",
        "du", "au", "aux", "et", "ou", "on", "nous", "vous", "ne", "ce", "cette", "il", "parce",
        "toujours", "jamais", "utilise", "mais", "plus", "non", "oui", "un",
    ],
    phrases: &[
        (CueKind::Rule, &[
            "doit", "doivent", "il faut", "faut", "jamais", "toujours", "au plus", "au maximum",
            "au moins", "obligatoire*", "interdit*", "en aucun cas", "sans exception",
            "surtout pas", "impérati*", "désormais", "pas de",
        ]),
        (CueKind::Limit, &[
            "seulement", "uniquement", "exactement", "sauf", "à moins que", "l'exception",
            "volontaire*", "exprès", "strictement",
        ]),
        (CueKind::Should, &[
            "devrait", "devraient", "besoin", "on veut", "l'emporte", "reste", "compte comme",
            "par défaut", "n'est pas", "ne pas", "la règle", "la politique", "ne plus",
        ]),
        (CueKind::Choice, &[
            "au lieu de", "plutôt que", "plutôt", "utilise", "utiliser", "utilisons", "préfère",
            "préférons", "garde", "garder", "gardons", "décidé", "on décide", "convenu", "choisi",
            "opté", "évite", "éviter", "passe à", "on prend", "prends",
        ]),
        (CueKind::Reason, &[
            "parce que", "parce qu'", "car", "puisque", "afin de", "afin que", "c'est pourquoi",
            "la raison", "à cause", "sinon", "pour éviter", "incident", "panne", "pour que",
        ]),
        (CueKind::Measure, &[
            "mesuré", "mesure", "mesures", "benchmark*", "en production", "en moyenne", "p99",
            "p95",
        ]),
        (CueKind::Amend, &[
            "désormais", "dorénavant", "remplace", "correction", "changement de plan",
            "nouvelle règle", "à partir de maintenant",
        ]),
        (CueKind::Plan, &[
            "je vais", "laisse-moi", "laissez-moi", "je commence", "je regarde",
        ]),
        (CueKind::Propose, &[
            "je propose", "je suggère", "ma proposition", "on pourrait", "nous pourrions",
            "une option", "je dirais",
        ]),
        (CueKind::Hedge, &[
            "peut-être", "probablement", "je pense", "je crois", "sans doute", "éventuellement",
        ]),
        (CueKind::Filler, &[
            "merci", "désolé", "pardon", "bonjour", "parfait", "super", "avec plaisir",
        ]),
        (CueKind::Cause, &[
            "la cause", "le problème était", "le problème est", "l'erreur était", "l'erreur est",
            "il s'avère", "en fait", "parce que", "était dû", "est dû", "j'ai trouvé",
            "cela explique", "ça explique", "cela signifie", "c'est-à-dire", "provient",
            "vient de",
        ]),
        (CueKind::Done, &[
            "corrigé", "ajouté", "modifié", "supprimé", "renommé", "implémenté", "mis à jour",
            "créé", "déplacé", "remplacé", "maintenant", "extrait", "réécrit", "réparé",
        ]),
        (CueKind::Next, &[
            "prochaines étapes", "prochaine étape", "reste à", "à faire", "veux-tu que",
            "voulez-vous que", "en attente", "il reste",
        ]),
        (CueKind::Caveat, &[
            "attention", "à noter", "note que", "notez que", "limitation", "pas testé",
            "je n'ai pas pu", "risque", "remarque", "prudence",
        ]),
        (CueKind::Tried, &[
            "essayé", "tenté", "au début", "d'abord", "tentative",
        ]),
        (CueKind::Fruitless, &[
            "n'a pas marché", "n'a pas fonctionné", "sans succès", "sans effet", "impasse",
            "abandonné", "n'aide pas", "annulé",
        ]),
        (CueKind::General, &[
            "toujours", "jamais", "désormais", "dorénavant", "en général", "à chaque fois",
            "par défaut", "je préfère", "j'aime", "je n'aime pas", "à l'avenir", "arrête de",
        ]),
        (CueKind::Working, &[
            "commit*", "format*", "linter", "test", "tests", "branche*", "push*", "commentaire*",
            "tabulation*", "espaces", "répond*", "expliqu*", "demande*", "français", "anglais",
            "style", "emoji*", "pull request*", "documentation", "pnpm", "npm", "yarn", "résum*",
        ]),
        (CueKind::Personal, &[
            "je préfère", "j'aime", "je veux", "s'il te plaît", "s'il vous plaît", "tu", "vous",
            "moi", "mon",
        ]),
        (CueKind::Verified, &[
            "tous les tests", "les tests passent", "au vert", "sans erreur",
        ]),
        (CueKind::Problem, &[
            "échoue", "erreur*", "cassé", "faux", "bug", "plante", "manque", "lent", "plainte*",
            "ticket*", "actuellement", "ne marche pas", "en double",
        ]),
        (CueKind::Topic, &[
            "par ailleurs", "au fait", "autre chose", "autre sujet", "d'ailleurs", "en passant",
            "à part ça", "aussi",
        ]),
        (CueKind::Disagree, &[
            "non", "pas", "jamais", "attention", "attends", "attendez", "en fait", "faux",
            "surtout pas", "stop", "mais", "plutôt", "correction", "c'est faux", "ce n'est pas",
        ]),
        (CueKind::Agree, &[
            "oui", "exactement", "exact", "d'accord", "ok", "parfait", "bien", "très bien",
            "vas-y", "allez-y", "merci", "c'est ça", "c'est bon", "continue", "super", "entendu",
        ]),
        (CueKind::Ack, &[
            "compris", "entendu", "d'accord", "très bien", "bien", "parfait", "noté", "ok",
            "c'est fait", "fait", "tu as raison", "vous avez raison", "oui", "donc",
        ]),
        (CueKind::Recap, &[
            "récapitulatif", "en résumé", "pour résumer", "convenu", "la règle", "donc la règle",
            "la règle est", "décision", "autrement dit", "cela signifie", "résumé", "la politique",
        ]),
        (CueKind::Request, &[
            "peux-tu", "pouvez-vous", "tu peux", "s'il te plaît", "regarde", "vérifie", "corrige",
            "ajoute", "écris", "crée", "change", "cherche", "explique", "montre", "pourquoi",
            "comment", "quel", "quelle", "où", "quand", "est-ce que",
        ]),
        (CueKind::Connective, &[
            "et", "mais", "donc", "alors", "aussi", "ou", "or", "puis", "cependant", "car",
        ]),
        (CueKind::Pronoun, &[
            "ça", "cela", "ceci", "il", "elle", "ils", "c'est",
        ]),
    ],
};
