//! The database, and whether its indexes tell the same as its rows.

use std::path::Path;

use super::{Cure, Finding, Patient};
use crate::store::{Store, StoreError, VectorStore};

pub(super) fn database(patient: &Patient<'_>) -> Vec<Finding> {
    let path = patient.data.db();
    let said = path.display();
    let finding = match Store::open_read_only(&path) {
        Err(StoreError::Missing) => Finding::problem(
            "database",
            format!("{said} is not there"),
            "claude-mem install",
        ),
        Err(StoreError::Foreign) => Finding::problem(
            "database",
            format!("{said} belongs to another program; events wait beside it"),
            "claude-mem install --adopt",
        ),
        Err(StoreError::Older { found, known }) => Finding::problem(
            "database",
            format!("{said} is of schema {found} and must be brought to {known}"),
            "claude-mem doctor --fix",
        )
        .cured_by(Cure::Migration),
        Err(StoreError::Newer { found, known }) => Finding::problem(
            "database",
            format!("{said} is of schema {found}, newer than the {known} that this program knows"),
            "update claude-mem: `cargo xtask install` with newer sources",
        ),
        Err(error) => unusable(&path, &error),
        Ok(store) => match store.integrity() {
            Ok(found) if found.is_empty() => Finding::ok("database", format!("{said}, sound")),
            Ok(found) => {
                Finding::problem("database", format!("{said}: {}", found.join("; ")), RESTORE)
            }
            Err(error) => unusable(&path, &error),
        },
    };
    vec![finding]
}

const RESTORE: &str = "claude-mem restore";

/// Only what is damaged has to be put back.
fn unusable(path: &Path, error: &StoreError) -> Finding {
    let said = path.display();
    let fix = match error {
        StoreError::DiskFull => "make room on the disk".to_owned(),
        StoreError::Disk(_) => crate::findings::LOOK_AT_DISK.to_owned(),
        StoreError::CannotOpen(_) => crate::findings::OPEN_IT.to_owned(),
        StoreError::Busy => "claude-mem doctor, in a moment".to_owned(),
        StoreError::ReadOnly | StoreError::Io(..) => format!("chmod u+rw {said}"),
        _ => RESTORE.to_owned(),
    };
    Finding::problem("database", format!("{said}: {error}"), fix)
}

/// Only a database that reads is worth a second look.
fn readable(
    patient: &Patient<'_>,
    check: &'static str,
    look: impl FnOnce(&Store) -> Result<Finding, StoreError>,
) -> Vec<Finding> {
    let path = patient.data.db();
    let opened = Store::open_read_only(&path).and_then(|_| Store::open(&path));
    match opened.and_then(|store| look(&store)) {
        Ok(finding) => vec![finding],
        Err(StoreError::Missing) => Vec::new(),
        Err(error) => vec![Finding::could_not_look(check, &error)],
    }
}

pub(super) fn words(patient: &Patient<'_>) -> Vec<Finding> {
    readable(patient, "words", |store| Ok(words_of(store)))
}

fn words_of(store: &Store) -> Finding {
    match store.words_in_step() {
        Ok(true) => Finding::ok("words", "the full-text index tells what the rows tell"),
        Ok(false) => Finding::problem(
            "words",
            "the full-text index does not tell what the rows tell",
            "claude-mem doctor --fix",
        )
        .cured_by(Cure::Words),
        Err(StoreError::Busy) => {
            Finding::note("words", "somebody writes just now", "claude-mem doctor")
        }
        Err(error) => Finding::problem("words", error.to_string(), RESTORE),
    }
}

pub(super) fn vectors(patient: &Patient<'_>) -> Vec<Finding> {
    if !patient.settings.settings.vectors {
        let fix = "claude-mem config set vectors on";
        return vec![Finding::note(
            "vectors",
            "search by meaning is switched off",
            fix,
        )];
    }
    readable(patient, "vectors", |store| vectors_of(patient, store))
}

fn vectors_of(patient: &Patient<'_>, store: &Store) -> Result<Finding, StoreError> {
    let owed = store.read().owed_vectors_count()?;
    let held = store.read().embeddable_count()?;
    let model = embed::Model::built_in().id();
    let made = match VectorStore::open_read_only(&patient.data.vectors_db(), model) {
        Ok(vectors) => vectors.count(),
        Err(StoreError::Missing) => Ok(0),
        Err(error) => Err(error),
    };
    let build = "claude-mem index build";
    Ok(match made {
        Err(error) => {
            let what = format!("{}: {error}", patient.data.vectors_db().display());
            Finding::problem("vectors", what, build).cured_by(Cure::Vectors)
        }
        // What is owed comes with the worker; what is neither there nor owed never comes.
        Ok(made) if made + owed < held => Finding::problem(
            "vectors",
            format!(
                "{} of {held} memories cannot be found by meaning",
                held - made - owed
            ),
            build,
        )
        .cured_by(Cure::Vectors),
        Ok(made) => Finding::ok("vectors", format!("{made} memories, {owed} to come")),
    })
}
