//! Checks of the database, and of its full-text and vector indexes against the rows.

use std::path::Path;

use super::{AutoFix, DoctorContext, DoctorFinding};
use claude_mem_store::{Store, StoreError, VectorStore};

/// Whether the database opens and is intact.
pub(super) fn database(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let path = context.data.db();
    let said = path.display();
    let finding = match Store::open_read_only(&path) {
        Err(StoreError::Missing) => {
            DoctorFinding::problem("database", format!("{said} does not exist"), "claude-mem install")
        }
        Err(StoreError::Foreign) => DoctorFinding::problem(
            "database",
            format!("{said} belongs to another program; events wait in the spool"),
            "claude-mem install --adopt",
        ),
        Err(StoreError::Older { found, known }) => DoctorFinding::problem(
            "database",
            format!("{said} has schema {found} and must be migrated to {known}"),
            "claude-mem doctor --fix",
        )
        .with_auto_fix(AutoFix::Migration),
        Err(StoreError::Newer { found, known }) => DoctorFinding::problem(
            "database",
            format!("{said} has schema {found}, newer than the {known} that this program supports"),
            "update claude-mem: `cargo xtask install` with newer sources",
        ),
        Err(error) => unusable_finding(&path, &error),
        Ok(store) => match store.integrity_problems() {
            Ok(found) if found.is_empty() => DoctorFinding::ok("database", format!("{said}, intact")),
            Ok(found) => DoctorFinding::problem("database", format!("{said}: {}", found.join("; ")), RESTORE),
            Err(error) => unusable_finding(&path, &error),
        },
    };
    vec![finding]
}

const RESTORE: &str = "claude-mem restore";

/// The finding for a database that cannot be used. Only a corrupt one has to be restored.
fn unusable_finding(path: &Path, error: &StoreError) -> DoctorFinding {
    let said = path.display();
    let fix = match error {
        StoreError::DiskFull => "free some disk space".to_owned(),
        StoreError::DiskIo(_) => crate::fixes::DISK_FAILED_FIX.to_owned(),
        StoreError::CannotOpen(_) => crate::fixes::CANNOT_OPEN_FIX.to_owned(),
        StoreError::Busy => "claude-mem doctor, in a moment".to_owned(),
        // Something else stands in the place of one of SQLite's files.
        StoreError::Io(file, why) if why.kind() == std::io::ErrorKind::InvalidInput => {
            format!("mv {file} {file}.aside")
        }
        StoreError::ReadOnly | StoreError::Io(..) => format!("chmod u+rw {said}"),
        _ => RESTORE.to_owned(),
    };
    DoctorFinding::problem("database", format!("{said}: {error}"), fix)
}

/// Runs a check on a database that opens; a missing one is reported by `database`.
fn with_readable_store(
    context: &DoctorContext<'_>,
    check: &'static str,
    look: impl FnOnce(&Store) -> Result<DoctorFinding, StoreError>,
) -> Vec<DoctorFinding> {
    let path = context.data.db();
    let opened = Store::open_read_only(&path).and_then(|_| Store::open(&path));
    match opened.and_then(|store| look(&store)) {
        Ok(finding) => vec![finding],
        Err(StoreError::Missing) => Vec::new(),
        Err(error) => vec![DoctorFinding::unknown(check, &error)],
    }
}

/// Whether the full-text index matches the rows.
pub(super) fn full_text(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    with_readable_store(context, "words", |store| Ok(full_text_finding(store)))
}

fn full_text_finding(store: &Store) -> DoctorFinding {
    match store.is_fts_consistent() {
        Ok(true) => DoctorFinding::ok("words", "the full-text index matches the rows"),
        Ok(false) => DoctorFinding::problem(
            "words",
            "the full-text index does not match the rows",
            "claude-mem doctor --fix",
        )
        .with_auto_fix(AutoFix::Words),
        Err(StoreError::Busy) => {
            DoctorFinding::note("words", "another process is writing", "claude-mem doctor")
        }
        Err(error) => DoctorFinding::problem("words", error.to_string(), RESTORE),
    }
}

/// Whether every memory has a vector, or will get one.
pub(super) fn vectors(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    if !context.settings.settings.vectors {
        let fix = "claude-mem config set vectors on";
        return vec![DoctorFinding::note("vectors", "search by meaning is switched off", fix)];
    }
    with_readable_store(context, "vectors", |store| vectors_finding(context, store))
}

fn vectors_finding(context: &DoctorContext<'_>, store: &Store) -> Result<DoctorFinding, StoreError> {
    let owed = store.read().unindexed_count()?;
    let held = store.read().embeddable_count()?;
    let model = embed::EmbeddingModel::built_in().id();
    let made = match VectorStore::open_read_only(&context.data.vectors_db(), model) {
        Ok(vectors) => vectors.row_count(),
        Err(StoreError::Missing) => Ok(0),
        Err(error) => Err(error),
    };
    let build = "claude-mem index build";
    Ok(match made {
        Err(error) => {
            let what = format!("{}: {error}", context.data.vectors_db().display());
            DoctorFinding::problem("vectors", what, build).with_auto_fix(AutoFix::Vectors)
        }
        // The worker computes owed vectors; vectors neither stored nor owed would never be made.
        Ok(made) if made + owed < held => DoctorFinding::problem(
            "vectors",
            format!("{} of {held} memories cannot be found by meaning", held - made - owed),
            build,
        )
        .with_auto_fix(AutoFix::Vectors),
        Ok(made) => DoctorFinding::ok("vectors", format!("{made} memories indexed, {owed} pending")),
    })
}
