//! German.

use super::table::{CueKind, CueTable};

#[rustfmt::skip]
pub(super) const TABLE: CueTable = CueTable {
    spaced: true,
    telltales: &[
        "der", "die", "das", "und", "nicht", "ist", "ein", "eine", "wir", "ich", "mit", "für",
        "auf", "den", "dem", "des", "zu", "von", "wird", "sind", "bitte", "kein", "keine", "nur",
        "auch", "aber", "wenn", "weil", "sie", "im", "nein", "noch", "mach",
    ],
    phrases: &[
        (CueKind::Rule, &[
            "muss", "müssen", "darf nicht", "dürfen nicht", "nie", "niemals", "immer", "höchstens",
            "mindestens", "auf keinen fall", "in jedem fall", "zwingend", "verpflichtend",
            "verboten", "vorgeschrieben", "ausnahmslos", "unter keinen umständen", "sondern",
            "ab jetzt", "ab sofort",
        ]),
        (CueKind::Limit, &[
            "nur", "ausschließlich", "genau", "außer", "es sei denn", "ausnahme", "egal",
            "unabhängig davon", "punkt", "bewusst", "absichtlich", "mit absicht", "grundsätzlich",
            "maximal", "darf", "regel", "vorgabe", "kein", "keine", "keinen",
        ]),
        (CueKind::Should, &[
            "soll", "sollen", "sollte", "sollten", "braucht", "brauchen", "gilt", "gelten",
            "bleibt", "bleiben", "zählt", "nicht", "stattdessen", "standardmäßig", "vorgesehen",
            "gewinnt",
        ]),
        (CueKind::Choice, &[
            "statt", "anstatt", "anstelle", "lieber", "nimm", "nehmen", "nehmt", "verwende",
            "verwenden", "nutze", "nutzen", "benutze", "benutzen", "behalte", "behalten",
            "entschieden", "entscheidung", "bevorzug*", "wechseln", "festgelegt", "einigen",
            "geeinigt", "verzichten", "weglassen", "setzen auf",
        ]),
        (CueKind::Reason, &[
            "weil", "da sonst", "denn", "damit", "deshalb", "deswegen", "daher", "grund", "sonst",
            "um zu", "wegen", "aufgrund", "vorfall", "ausfall", "andernfalls", "datenschutz",
        ]),
        (CueKind::Measure, &[
            "gemessen", "messung*", "benchmark*", "lasttest*", "in produktion", "im schnitt",
            "p99", "p95",
        ]),
        (CueKind::Amend, &[
            "ab jetzt", "ab sofort", "ersetzt", "korrektur", "änderung", "neue regel", "hinfällig",
            "überholt", "revidiert", "stattdessen gilt", "doch nicht",
        ]),
        (CueKind::Plan, &[
            "ich werde", "ich schaue", "ich sehe mir", "ich beginne", "lass mich", "ich prüfe",
        ]),
        (CueKind::Propose, &[
            "ich würde", "ich schlage", "mein vorschlag", "vorschlag", "wir könnten",
            "eine möglichkeit",
        ]),
        (CueKind::Hedge, &[
            "vielleicht", "eventuell", "möglicherweise", "wahrscheinlich", "vermutlich",
            "ich glaube", "ich denke",
        ]),
        (CueKind::Filler, &[
            "danke", "entschuldig*", "gerne", "super", "prima", "hallo", "guten morgen",
            "tut mir leid",
        ]),
        (CueKind::Cause, &[
            "ursache", "lag daran", "liegt daran", "grund", "weil", "stellte sich heraus",
            "stellt sich heraus", "das problem war", "das problem ist", "der fehler war",
            "der fehler ist", "gefunden", "verursacht", "das erklärt", "kommt daher", "das heißt",
            "bedeutet",
        ]),
        (CueKind::Done, &[
            "behoben", "hinzugefügt", "geändert", "entfernt", "umbenannt", "ersetzt",
            "implementiert", "angepasst", "erstellt", "verschoben", "ausgelagert", "eingeführt",
            "aktualisiert", "umgestellt", "ergänzt", "korrigiert", "gelöscht", "jetzt", "nun",
            "eingebaut", "umgesetzt", "gesenkt", "erhöht",
        ]),
        (CueKind::Next, &[
            "nächste schritte", "nächster schritt", "als nächstes", "noch zu tun", "fehlt noch",
            "soll ich", "todo", "steht noch aus", "ausstehend", "möchtest du", "offene frage*",
            "noch offen",
        ]),
        (CueKind::Caveat, &[
            "achtung", "hinweis", "vorsicht", "beachte", "einschränkung", "nicht getestet",
            "konnte nicht", "konnten nicht", "bekanntes problem", "risiko", "allerdings",
            "wackelig", "flaky",
        ]),
        (CueKind::Tried, &[
            "versucht", "probiert", "ausprobiert", "versuch", "zuerst", "anfangs",
        ]),
        (CueKind::Fruitless, &[
            "hat nicht funktioniert", "funktionierte nicht", "hat nichts gebracht", "ohne erfolg",
            "half nicht", "hilft nicht", "sackgasse", "verworfen", "zurückgenommen", "ging nicht",
            "scheiterte", "wirkungslos", "brachte nichts",
        ]),
        (CueKind::General, &[
            "immer", "nie", "niemals", "ab jetzt", "ab sofort", "künftig", "in zukunft",
            "grundsätzlich", "generell", "jedes mal", "jedesmal", "standardmäßig", "ich mag",
            "ich will", "ich bevorzuge", "hör auf", "bitte kein", "bitte keine", "bitte nie",
            "bitte immer",
        ]),
        (CueKind::Working, &[
            "commit*", "formatier*", "format", "linter", "test", "tests", "branch*", "push*",
            "pushe*", "kommentar*", "tabs", "leerzeichen", "einrück*", "antworte*", "antwort*",
            "erklär*", "frag*", "deutsch", "englisch", "stil", "emoji*", "pull request*", "pr",
            "rebase*", "doku*", "pnpm", "npm", "yarn", "cargo", "commit-nachricht*",
            "zusammenfass*", "kurz", "ausführlich", "main",
        ]),
        (CueKind::Personal, &[
            "ich mag", "ich will", "ich möchte", "ich bevorzuge", "bitte", "du", "dein", "mir",
            "mich",
        ]),
        (CueKind::Verified, &[
            "alle tests", "tests laufen", "tests sind grün", "bestanden", "läuft durch",
            "erfolgreich", "ist grün",
        ]),
        (CueKind::Problem, &[
            "kaputt", "fehler", "schlägt fehl", "falsch", "bug", "absturz", "stürzt", "fehlt",
            "hängt", "beschwer*", "ticket*", "langsam", "funktioniert nicht", "momentan",
            "derzeit", "doppelt",
        ]),
        (CueKind::Topic, &[
            "außerdem", "nebenbei", "anderes thema", "übrigens", "noch etwas", "noch was",
            "unabhängig davon", "ach ja", "zweitens",
        ]),
        (CueKind::Disagree, &[
            "nein", "nee", "nicht", "niemals", "nie", "vorsicht", "moment", "halt", "stopp",
            "falsch", "auf keinen fall", "stattdessen", "doch", "das stimmt nicht",
            "das ist falsch", "aber", "lieber", "korrektur", "kein", "keine", "eigentlich",
        ]),
        (CueKind::Agree, &[
            "ja", "genau", "richtig", "stimmt", "passt", "ok", "okay", "gut", "super", "perfekt",
            "klar", "einverstanden", "mach das", "mach weiter", "weiter", "danke",
            "so machen wir es", "so machen wir's", "in ordnung", "prima", "alles klar", "gerne",
        ]),
        (CueKind::Ack, &[
            "verstanden", "alles klar", "notiert", "klar", "gut", "okay", "ok", "ja", "genau",
            "in ordnung", "du hast recht", "stimmt", "also", "erledigt", "fertig", "danke",
            "natürlich",
        ]),
        (CueKind::Recap, &[
            "zusammenfassung", "zusammengefasst", "zusammenfassend", "kurz gesagt", "festgelegt",
            "es gilt", "damit gilt", "also gilt", "die regel", "die regel lautet", "entscheidung",
            "beschlossen", "vereinbart", "das heißt", "geänderte regel", "neue regel",
            "unterm strich",
        ]),
        (CueKind::Request, &[
            "kannst du", "könntest du", "bitte", "schau", "sieh", "prüf*", "mach", "füge",
            "erstelle", "schreib*", "ändere", "behebe", "zeig*", "erklär*", "such*", "finde",
            "warum", "wie", "was", "wo", "wann", "welche", "gibt es", "baue", "implementier*",
            "teste", "lösche", "benenne",
        ]),
        (CueKind::Connective, &[
            "und", "aber", "also", "dann", "außerdem", "jedoch", "denn", "oder", "nun",
            "allerdings", "zudem",
        ]),
        (CueKind::Pronoun, &[
            "es", "das", "dies", "sie", "er", "diese", "dieser", "dieses",
        ]),
    ],
};
