//! Domain stop words, as stems: words of everyday technical text that do not identify a subject.
//!
//! In a small store "version" or "instead" may be as rare as the name of its one subject, so its own document
//! frequencies do not suffice. The tables hold frequencies in general, counted over the manuals of 572 packages
//! of several languages: words in a quarter of them have no weight, and words in one of sixteen half of it; so do
//! the thousand most frequent words of English, as the vocabulary of the built-in encoder ranks them.

/// How specific a word is in general, whatever its frequency in this store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordSpecificity {
    Nothing,
    Half,
    All,
}

pub(super) fn word_specificity(stem: &str) -> WordSpecificity {
    if ROUTINE.binary_search(&stem).is_ok() {
        WordSpecificity::Nothing
    } else if PLAIN.binary_search(&stem).is_ok() || PROCESS.binary_search(&stem).is_ok() {
        WordSpecificity::Half
    } else {
        WordSpecificity::All
    }
}

/// In a quarter of all manuals, or in every second request.
#[rustfmt::skip]
const ROUTINE: &[&str] = &[
    "abov", "add", "addit", "again", "api", "avail", "base", "both", "build", "case", "chang",
    "check", "code", "commit", "creat", "data", "default", "delet", "detail", "develop", "diff",
    "doc", "document", "each", "either", "error", "exampl", "explain", "featur", "file", "first",
    "fix", "follow", "format", "function", "go", "help", "implement", "inform", "instal",
    "instead", "issu", "kei", "languag", "level", "librari", "licens", "list", "look", "make",
    "metadata", "method", "modul", "must", "name", "need", "new", "note", "object", "ok", "okai",
    "on", "onli", "option", "other", "otherwis", "packag", "pleas", "problem", "project", "provid",
    "push", "python", "read", "redo", "refactor", "releas", "remov", "renam", "requir", "return",
    "run", "same", "see", "set", "show", "sourc", "specif", "statu", "string", "summar",
    "summaris", "support", "system", "tell", "test", "text", "thank", "time", "todai", "tomorrow",
    "translat", "try", "type", "under", "undo", "updat", "url", "us", "usag", "user", "valu",
    "version", "wai", "want", "without", "work", "write", "ye", "yesterdai",
];

/// In one of sixteen manuals, or among the thousand most frequent words.
#[rustfmt::skip]
const PLAIN: &[&str] = &[
    "abil", "abl", "absolut", "academi", "accept", "access", "accord", "account", "across", "act",
    "action", "actual", "ad", "addition", "address", "adher", "ag", "against", "air", "aircraft",
    "album", "algorithm", "alia", "align", "alloc", "allow", "almost", "alon", "along", "alpha",
    "alreadi", "alt", "altern", "although", "alwai", "america", "american", "among", "amount",
    "announc", "anoth", "anyth", "apach", "appear", "append", "appli", "applic", "appoint",
    "approach", "appropri", "approv", "april", "arbitrari", "area", "arg", "argument", "arm",
    "armi", "around", "arrai", "art", "ascii", "ask", "associ", "assum", "async", "attack",
    "attempt", "attribut", "audienc", "august", "australia", "australian", "authent", "author",
    "auto", "automat", "averag", "avoid", "awai", "awar", "award", "back", "bad", "band", "bank",
    "basic", "battl", "becam", "becom", "bed", "began", "begin", "behavior", "behaviour", "behind",
    "believ", "below", "best", "beta", "better", "between", "big", "bin", "binari", "bit", "black",
    "block", "blood", "blue", "board", "bodi", "boi", "book", "bool", "boolean", "born", "bound",
    "box", "branch", "break", "bridg", "british", "broken", "brother", "brought", "brown",
    "browser", "bsd", "buffer", "bug", "built", "bump", "busi", "byte", "cach", "california",
    "call", "caller", "came", "canada", "cannot", "captain", "car", "care", "career", "cargo",
    "caus", "censu", "center", "centr", "central", "centuri", "certain", "cfg", "championship",
    "changelog", "channel", "charact", "charl", "chat", "chief", "child", "children", "china",
    "chines", "choos", "church", "citi", "civil", "class", "classifi", "clean", "clear", "cli",
    "client", "clone", "close", "club", "coach", "collect", "colleg", "come", "command", "comment",
    "committe", "common", "commun", "compani", "comparison", "compat", "competit", "compil",
    "complet", "complex", "compon", "condit", "config", "configur", "connect", "consid", "consist",
    "consol", "const", "constant", "construct", "constructor", "contact", "contain", "content",
    "context", "continu", "contribut", "contributor", "control", "convert", "copi", "copyright",
    "core", "correct", "correctli", "correspond", "couldn", "council", "count", "counti",
    "countri", "cours", "court", "coverag", "cpython", "crate", "cross", "cup", "current",
    "custom", "dai", "dark", "date", "daughter", "david", "dead", "death", "debian", "debug",
    "debut", "decemb", "decid", "decod", "deep", "def", "defin", "definit", "depart", "depend",
    "deprec", "deriv", "describ", "descript", "design", "despit", "detect", "determin", "dev",
    "di", "dict", "dictionari", "didn", "differ", "dir", "direct", "directli", "director",
    "directori", "disabl", "displai", "dist", "distribut", "district", "divis", "doesn", "domain",
    "don", "door", "down", "download", "drop", "dual", "due", "duplic", "dure", "dynam", "earli",
    "earlier", "easi", "easier", "easili", "east", "eastern", "edit", "educ", "effect", "effici",
    "eight", "elect", "els", "email", "empti", "enabl", "encod", "end", "energi", "engin",
    "england", "english", "enough", "ensur", "entir", "entri", "env", "environ", "episod",
    "equival", "especi", "establish", "etc", "europ", "european", "even", "event", "eventu",
    "ever", "everi", "everyth", "exact", "exactli", "except", "execut", "exist", "exit", "expect",
    "experiment", "explicit", "explicitli", "export", "expos", "express", "extend", "extens",
    "extern", "extra", "extract", "ey", "face", "fact", "fail", "failur", "fall", "fallback",
    "fals", "famili", "far", "fast", "faster", "father", "favor", "februari", "feder", "feel",
    "feet", "felt", "femal", "festiv", "fetch", "few", "field", "fight", "filenam", "film",
    "filter", "final", "find", "fine", "finish", "fire", "five", "flag", "floor", "foo", "food",
    "footbal", "forc", "fork", "form", "former", "forward", "found", "four", "fourth", "framework",
    "franc", "free", "french", "friend", "front", "full", "fulli", "further", "futur", "game",
    "gave", "gener", "georg", "german", "germani", "get", "girl", "git", "github", "give", "given",
    "global", "gmail", "gnu", "god", "gold", "gone", "good", "googl", "govern", "grand", "great",
    "green", "ground", "group", "guid", "guitar", "hadn", "hair", "half", "hall", "hand", "handl",
    "hard", "hash", "head", "header", "health", "hear", "heard", "heart", "height", "held",
    "helper", "henri", "here", "herself", "high", "higher", "hill", "himself", "histori", "hit",
    "hold", "home", "homepag", "hospit", "host", "hot", "hour", "hous", "howev", "href", "html",
    "http", "human", "idea", "ignor", "imag", "img", "immedi", "impl", "impli", "import", "improv",
    "includ", "inclus", "incompat", "incorrect", "independ", "index", "india", "indian",
    "individu", "info", "init", "initi", "inlin", "inner", "input", "insid", "instanc", "institut",
    "instruct", "int", "integ", "integr", "intend", "intention", "interfac", "intern", "introduc",
    "invalid", "involv", "island", "item", "iter", "itself", "jack", "jame", "januari", "japan",
    "japanes", "john", "join", "json", "juli", "june", "keep", "kept", "keyword", "kill", "kind",
    "king", "kingdom", "knew", "know", "known", "lake", "land", "larg", "larger", "largest",
    "last", "late", "later", "latest", "law", "lead", "leagu", "least", "leav", "led", "left",
    "legaci", "len", "length", "less", "let", "lib", "life", "light", "like", "limit", "line",
    "link", "linux", "lip", "liter", "littl", "live", "load", "local", "locat", "lock", "log",
    "logic", "london", "long", "longer", "lord", "lost", "lot", "love", "low", "lower", "maco",
    "macro", "made", "magazin", "mail", "main", "maintain", "major", "man", "manag", "mani",
    "manual", "map", "march", "mari", "mark", "markdown", "marri", "match", "max", "maximum",
    "mayb", "mean", "mechan", "media", "medic", "member", "memori", "men", "messag", "met",
    "michael", "middl", "mile", "militari", "million", "mind", "minim", "minimum", "minist",
    "minor", "minut", "miss", "mode", "model", "modern", "modifi", "moment", "monei", "month",
    "morn", "mostli", "mother", "mouth", "move", "movement", "much", "multi", "multipl", "museum",
    "music", "mut", "myself", "nation", "nativ", "near", "necessari", "network", "never", "newer",
    "next", "night", "nightli", "node", "non", "none", "normal", "north", "northern", "notabl",
    "noth", "notic", "novemb", "null", "number", "obtain", "octob", "off", "offic", "offici",
    "often", "old", "older", "onc", "onlin", "open", "oper", "opt", "order", "origin", "osi",
    "output", "outsid", "overrid", "overview", "own", "page", "pair", "panic", "paramet", "parent",
    "park", "pars", "parser", "part", "parti", "particular", "pass", "past", "patch", "path",
    "pattern", "paul", "peopl", "per", "perform", "period", "person", "peter", "pip", "place",
    "plai", "plan", "platform", "player", "point", "pointer", "polic", "polici", "polit", "popul",
    "popular", "port", "posit", "posix", "possibl", "post", "potenti", "power", "pre", "prefer",
    "prefix", "present", "preserv", "presid", "press", "prevent", "previou", "previous", "print",
    "prior", "privat", "probabl", "process", "produc", "product", "profession", "professor",
    "program", "proper", "properli", "properti", "protocol", "provinc", "public", "publish",
    "pull", "pure", "purpos", "put", "pypi", "queri", "question", "quickli", "quit", "race",
    "radio", "railwai", "rais", "ran", "rang", "rather", "raw", "reach", "readabl", "readm",
    "real", "realli", "reason", "receiv", "recent", "recommend", "record", "red", "reduc", "ref",
    "refer", "regardless", "region", "regress", "regular", "rel", "relat", "relev", "remain",
    "replac", "repo", "report", "repositori", "repres", "represent", "request", "research",
    "reserv", "reset", "resolv", "resourc", "respect", "respons", "rest", "result", "rfc",
    "richard", "right", "river", "road", "robert", "rock", "role", "room", "root", "round", "rout",
    "royal", "rst", "rule", "runtim", "russian", "rust", "rustc", "safe", "sai", "said", "san",
    "sat", "save", "saw", "school", "scienc", "scope", "script", "sea", "search", "season", "seat",
    "second", "section", "secur", "seem", "seen", "self", "semant", "semver", "send", "sent",
    "separ", "septemb", "serd", "seri", "serv", "server", "servic", "setup", "seven", "sever",
    "share", "shell", "ship", "short", "shot", "side", "sign", "signatur", "similar", "simpl",
    "simpli", "sinc", "singl", "sir", "sister", "site", "six", "size", "skip", "small", "smile",
    "social", "societi", "softwar", "sold", "someon", "someth", "sometim", "son", "song", "soon",
    "sound", "south", "southern", "space", "spec", "speci", "special", "specifi", "spent", "split",
    "sport", "squar", "src", "stabl", "stack", "stage", "stai", "standard", "star", "start",
    "state", "static", "station", "std", "step", "still", "stone", "stood", "stop", "storag",
    "store", "stori", "str", "stream", "street", "strict", "strong", "struct", "structur",
    "student", "studi", "studio", "style", "sub", "submit", "suit", "suitabl", "summari", "summer",
    "sure", "switch", "sy", "sync", "syntax", "tabl", "tag", "take", "taken", "talk", "target",
    "team", "technolog", "televis", "ten", "term", "therefor", "thing", "think", "third", "thoma",
    "though", "thought", "thread", "three", "through", "throughout", "thu", "timeout", "titl",
    "togeth", "token", "told", "toml", "took", "tool", "top", "topic", "total", "tour",
    "tournament", "toward", "town", "track", "tracker", "trail", "train", "trait", "tree", "tri",
    "true", "tupl", "turn", "two", "txt", "typic", "underli", "unicod", "union", "unit", "univers",
    "unix", "unknown", "unless", "unnecessari", "unsaf", "unstabl", "until", "unus", "upgrad",
    "upon", "usr", "usual", "utf", "util", "valid", "variabl", "variant", "variou", "vec",
    "verifi", "via", "video", "villag", "vocal", "voic", "walk", "wall", "war", "warn",
    "washington", "wasm", "wasn", "water", "web", "week", "welcom", "well", "went", "west",
    "western", "whether", "white", "whole", "wide", "width", "wife", "william", "win", "window",
    "wish", "within", "woman", "women", "won", "word", "world", "wouldn", "wrap", "wrapper",
    "written", "wrong", "wrote", "yank", "year", "yet", "york", "young", "zero",
];

/// How every change gets into a project, whatever it is about; manuals do not speak of it, prompts do. Half weight, as
/// "pull" and "request" have.
const PROCESS: &[&str] = &["ci", "merg", "mr", "pr", "review"];

#[cfg(test)]
mod tests {
    use super::{PLAIN, PROCESS, ROUTINE, WordSpecificity, word_specificity};
    use claude_mem_search::stem::stem;

    #[test]
    fn the_tables_are_sorted_and_apart() {
        assert!(ROUTINE.is_sorted() && PLAIN.is_sorted() && PROCESS.is_sorted());
        assert!(PROCESS.iter().all(|word| PLAIN.binary_search(word).is_err()));
        assert!(ROUTINE.iter().all(|word| PLAIN.binary_search(word).is_err()));
    }

    #[test]
    fn what_to_do_tells_less_than_what_about() {
        for (word, want) in [
            ("function", WordSpecificity::Nothing),
            ("renames", WordSpecificity::Nothing),
            ("settings", WordSpecificity::Nothing),
            ("process", WordSpecificity::Half),
            ("thread", WordSpecificity::Half),
            ("reviews", WordSpecificity::Half),
            ("invoices", WordSpecificity::All),
            ("parcels", WordSpecificity::All),
        ] {
            assert_eq!(word_specificity(&stem(word)), want, "{word}");
        }
    }
}
