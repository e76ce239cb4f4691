use super::scanner::{CueScanner, fold};
use super::*;

#[test]
fn the_language_is_told_by_script_and_small_words() {
    for (text, want) in [
        ("Use the cache, not the disk.", Language::English),
        ("Nein, wir nehmen die Datenbank und nicht den Cache.", Language::German),
        ("No, usa siempre la base de datos para los informes.", Language::Spanish),
        ("Non, on garde la base pour les rapports.", Language::French),
        ("不要用缓存，因为 HttpClient 会超时", Language::Chinese),
        ("キャッシュは使わないでください。理由は HttpClient です", Language::Japanese),
        ("Никогда не меняй schema.sql вручную, только через миграции", Language::Russian),
        ("В HttpClient и RetryPolicy timeout всегда 30 секунд", Language::Russian),
        ("The string \"Привет\" must stay in the fixture", Language::English),
        ("fn main() {}", Language::English),
        ("", Language::English),
    ] {
        assert_eq!(Language::detect(text), want, "{text:?}");
    }
}

#[test]
fn a_phrase_counts_only_as_a_whole_word_unless_it_may_go_on() {
    let marks = mark("The mustard is nevertheless mandated", Language::English);
    assert_eq!(marks.count(CueKind::Rule), 1, "mandat* alone");
    assert!(mark("you must not", Language::English).has(CueKind::Rule));
    assert!(!mark("must_have", Language::English).has(CueKind::Rule));
}

#[test]
fn an_opening_is_seen_past_quotes() {
    assert!(mark("“No, use tabs", Language::English).opens(CueKind::Disagree));
    assert!(!mark("There is no way", Language::English).opens(CueKind::Disagree));
    assert_eq!(after_opening("Got it - ship", Language::English, &[CueKind::Ack]), Some(" - ship"));
    assert_eq!(after_opening("Ship it", Language::English, &[CueKind::Ack]), None);
}

#[test]
fn every_table_is_read_without_loss() {
    for table in [en::TABLE, de::TABLE, es::TABLE, fr::TABLE, zh::TABLE, ja::TABLE, ru::TABLE] {
        assert!(CueScanner::new(&table).is_some());
        for (cue, phrases) in table.phrases {
            for phrase in *phrases {
                assert_eq!(fold(phrase), **phrase, "{cue:?}: phrases are lower case");
                assert!(!phrase.trim_end_matches('*').is_empty());
            }
        }
    }
}

#[test]
fn letters_that_change_length_keep_their_place() {
    let text = "İSTANBUL must not";
    assert_eq!(fold(text).len(), text.len());
    assert!(mark(text, Language::English).has(CueKind::Rule));
}

#[test]
fn russian_rules_causes_and_open_work_are_found() {
    let language = Language::Russian;
    for (text, cue) in [
        ("Никогда не запускай миграции на продакшене без бэкапа", CueKind::Rule),
        ("Нельзя коммитить файлы из каталога build", CueKind::Rule),
        ("Причина в том, что `parseDate` читает локальное время", CueKind::Cause),
        ("Оказалось, что кэш не сбрасывается", CueKind::Cause),
        ("Исправлена гонка в `pool.rs`", CueKind::Done),
        ("Увеличение таймаута не помогло", CueKind::Fruitless),
        ("Впредь используй pnpm", CueKind::General),
        ("Осталось обновить документацию", CueKind::Next),
        ("Возможно, дело в кэше", CueKind::Hedge),
    ] {
        assert!(mark(text, language).has(cue), "{text}: {cue:?}");
    }
    assert!(mark("Нет, оставь табуляцию", language).opens(CueKind::Disagree));
    assert!(!mark("Нетрудно заметить", language).opens(CueKind::Disagree));
    assert!(mark("Почему падает тест?", language).opens(CueKind::Request));
}

#[test]
fn cue_tables_of_all_languages_build() {
    for table in [en::TABLE, de::TABLE, es::TABLE, fr::TABLE, zh::TABLE, ja::TABLE, ru::TABLE] {
        assert!(CueScanner::new(&table).is_some());
    }
}
