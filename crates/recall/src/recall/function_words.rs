//! Words that carry grammar in languages other than English.
//!
//! In a memory that is mostly English they are rare, and would pass for what a prompt is about.
//! Some of them mean something in English ("die", "son"), so they count only in a text that is
//! not English.

use claude_mem_search::analyzer::{is_stop_word, words};

/// Whether more of a text's grammar is of another language than English.
pub(super) fn is_foreign(text: &str) -> bool {
    let (mut foreign, mut english) = (0_usize, 0_usize);
    for word in words(text) {
        foreign += usize::from(is_function_word(&word));
        english += usize::from(is_stop_word(&word));
    }
    foreign > english
}

pub(super) fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.binary_search(&word).is_ok()
}

/// German, French, Spanish, Portuguese, Italian, Dutch and Russian, without their accents; sorted.
#[rustfmt::skip]
const FUNCTION_WORDS: &[&str] = &[
    "aan", "aber", "agli", "ai", "al", "algo", "algun", "alguna", "alla", "alle", "allo", "als",
    "am", "an", "anche", "ante", "antes", "anzi", "ao", "aos", "aqui", "as", "asi", "ate", "au",
    "auch", "auf", "aus", "aux", "avec", "avez", "avons", "bei", "beim", "bien", "bij", "bin",
    "bis", "bist", "bitte", "c", "cada", "ce", "cela", "ces", "cet", "cette", "ceux", "che",
    "chez", "chi", "ci", "cioe", "col", "com", "come", "comme", "como", "con", "contra", "cosa",
    "cosi", "cual", "cuando", "d", "da", "dal", "dalla", "damit", "dan", "dann", "dans", "das",
    "dass", "dat", "de", "degli", "dei", "dein", "deine", "del", "dela", "dele", "della", "delle",
    "dello", "dem", "den", "der", "des", "desde", "deze", "di", "dich", "die", "dies", "diese",
    "diesem", "diesen", "dieser", "dieses", "dir", "dit", "do", "doch", "donc", "donde", "dont",
    "door", "dort", "dos", "dove", "du", "durch", "e", "ed", "een", "ein", "eine", "einem",
    "einen", "einer", "eines", "el", "ela", "ele", "eles", "ella", "ellas", "elle", "elles",
    "ellos", "em", "en", "encore", "entre", "er", "era", "eres", "es", "esa", "ese", "eso", "esos",
    "essa", "esse", "essere", "est", "esta", "estaba", "estan", "estas", "este", "esto", "estos",
    "et", "etait", "etre", "etwas", "eu", "euch", "euer", "eux", "fa", "fait", "fare", "faut",
    "foi", "fra", "fue", "fuer", "fur", "gaan", "geen", "gegen", "gia", "gibt", "gli", "ha",
    "haar", "haben", "hacer", "hacia", "had", "han", "hanno", "hasta", "hat", "hatte", "hay",
    "haz", "heb", "hebben", "heeft", "hem", "het", "hier", "hij", "hin", "ho", "hoe", "i", "ich",
    "ihm", "ihn", "ihr", "ihre", "ik", "il", "ils", "im", "immer", "in", "ins", "io", "is", "isso",
    "ist", "isto", "j", "ja", "je", "jede", "jeden", "jeder", "jedes", "jetzt", "jij", "jullie",
    "kan", "kann", "kannst", "kein", "keine", "keinen", "konnen", "kun", "kunnen", "l", "la",
    "las", "le", "lei", "les", "leur", "leurs", "lo", "loro", "los", "lui", "m", "ma", "maar",
    "mais", "mal", "man", "mas", "me", "meer", "mehr", "mein", "meine", "meinem", "meinen", "mes",
    "mesmo", "met", "meu", "mi", "mia", "mich", "mijn", "minha", "mio", "mir", "mis", "mit",
    "moet", "moi", "molto", "mon", "mucho", "muito", "muss", "mussen", "muy", "n", "na", "naar",
    "nach", "nada", "nao", "nas", "ne", "nein", "nel", "nella", "nem", "ni", "nicht", "nichts",
    "niet", "no", "noch", "nog", "noi", "non", "nos", "nosotros", "nossa", "nosso", "nostro",
    "notre", "nous", "nu", "num", "numa", "nun", "nur", "o", "ob", "oder", "of", "ogni", "ohne",
    "om", "omdat", "on", "onder", "ons", "ont", "onze", "ook", "op", "ora", "os", "otra", "otro",
    "ou", "over", "par", "para", "pas", "pela", "pelo", "per", "perche", "pero", "peu", "peut",
    "peux", "piu", "plait", "poco", "poi", "por", "porque", "pour", "pourquoi", "puede", "puedes",
    "pues", "qu", "qual", "quale", "quand", "quando", "que", "quel", "quella", "quelle", "quelles",
    "quello", "quels", "quem", "questa", "questo", "qui", "quien", "quoi", "s", "sa", "sans",
    "sao", "schon", "se", "sea", "sehr", "sei", "sein", "seine", "sem", "sempre", "senza", "ser",
    "sera", "ses", "seu", "seus", "si", "sia", "sich", "sie", "sin", "sind", "so", "sobre", "soit",
    "soll", "sollen", "sollte", "solo", "somos", "son", "sondern", "sono", "sont", "sous", "soy",
    "su", "sua", "suas", "sul", "sulla", "suo", "sur", "sus", "t", "ta", "tambem", "tambien",
    "tan", "te", "tem", "tes", "ti", "tiene", "tienen", "toch", "todo", "todos", "toi", "ton",
    "tot", "tous", "tout", "toute", "toutes", "tra", "tres", "tu", "tus", "tutti", "tutto", "uber",
    "uit", "um", "uma", "un", "una", "unas", "und", "une", "uno", "unos", "uns", "unser", "unsere",
    "unserem", "unseren", "unter", "van", "veel", "vers", "vi", "voce", "voi", "voir", "vom",
    "von", "voor", "vor", "vos", "votre", "vous", "waar", "waarom", "war", "waren", "warum", "was",
    "wat", "we", "wegen", "weil", "wel", "welche", "welcher", "welches", "welke", "wenn", "wer",
    "werd", "werden", "wie", "wieder", "wij", "wil", "wir", "wird", "wo", "worden", "wordt",
    "wurde", "wurden", "y", "ya", "yo", "zal", "ze", "zich", "zij", "zijn", "zo", "zonder", "zu",
    "zum", "zur", "zwischen",
    "а", "без", "бы", "был", "была", "были", "было", "быть", "в", "вам", "вас", "весь", "во",
    "вот", "все", "всё", "вы", "где", "да", "даже", "для", "до", "его", "ее", "ей", "ему", "если",
    "есть", "еще", "ещё", "ею", "её", "же", "за", "и", "из", "или", "им", "их", "к", "как",
    "какой", "когда", "кто", "ли", "либо", "мне", "может", "мы", "на", "над", "надо", "нам",
    "нас", "не", "него", "нее", "нет", "неё", "ни", "них", "но", "ну", "нужно", "о", "об",
    "однако", "он", "она", "они", "оно", "от", "очень", "по", "под", "при", "про", "раз", "с",
    "сам", "свой", "себя", "сейчас", "со", "так", "также", "такой", "там", "те", "тем", "то",
    "тобой", "того", "тоже", "той", "только", "том", "тут", "ты", "у", "уже", "хотя", "чего",
    "чем", "что", "чтобы", "чье", "эта", "эти", "это", "этого", "этой", "этом", "этот", "эту",
    "я",
];

#[cfg(test)]
mod tests {
    use super::{FUNCTION_WORDS, is_foreign};

    #[test]
    fn the_table_is_sorted() {
        assert!(FUNCTION_WORDS.is_sorted());
    }

    #[test]
    fn grammar_tells_the_language() {
        for (text, want) in [
            ("Warum ist der Bestand nach der Retoure falsch?", true),
            ("pourquoi les factures ne sont pas arrondies", true),
            ("почему не работает сборка на сервере и что с ней", true),
            ("por que falla el informe de ventas", true),
            ("the process should die when its parent is gone", false),
            ("fix make_slug", false),
        ] {
            assert_eq!(is_foreign(text), want, "{text}");
        }
    }
}
