//! Creates, opens and replaces files that are private to their owner, whatever the umask.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::event_key::hex;

/// Creates a directory with mode 0700, and its parents. An existing directory is left as it is.
pub fn create_dir(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => fs::set_permissions(path, Permissions::from_mode(0o700)),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            // If the parent exists, nothing can be created in it, as in `/proc`.
            let above = path.parent().filter(|above| !above.is_dir()).ok_or(e)?;
            create_dir(above)?;
            create_dir(path)
        }
        Err(e) => Err(e),
    }
}

/// Restricts one of our directories to its owner. A directory that is shared on purpose (sticky
/// bit) is left alone.
pub(crate) fn restrict_dir(path: &Path) -> io::Result<()> {
    const STICKY: u32 = 0o1000;
    let about = fs::metadata(path)?;
    let is_ours = about.uid() == rustix::process::geteuid().as_raw();
    if is_open_to_others(&about) && is_ours && about.mode() & STICKY == 0 {
        fs::set_permissions(path, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Whether other users may list, enter or change the directory.
pub(crate) fn is_open_to_others(about: &fs::Metadata) -> bool {
    about.mode() & 0o077 != 0
}

/// Opens a regular file for reading. Anything else is refused: opening a pipe could block.
pub fn open_file(path: &Path) -> io::Result<File> {
    open_file_with(path, rustix::fs::OFlags::empty())
}

fn open_file_with(path: &Path, more: rustix::fs::OFlags) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | more;
    regular_file(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

/// Opens a file that may be missing. A dangling symlink is an error: somebody meant it to lead
/// somewhere. Only symlinks cost a second `open`.
pub fn open_file_if_any(path: &Path) -> io::Result<Option<File>> {
    let is_link = |e: &io::Error| e.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    match open_file_with(path, rustix::fs::OFlags::NOFOLLOW) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) if is_link(&e) => match open_file(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                Err(io::Error::new(e.kind(), "dangling symbolic link"))
            }
            opened => opened.map(Some),
        },
        opened => opened.map(Some),
    }
}

/// Maximum bytes of a file that is read as a whole. Our own small files are a thousandth of it.
const READ_FILE_BYTES_MAX: u64 = 8 << 20;

/// Reads a whole small file. A larger one, such as a sparse file of any length, is refused.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open_file(path)?;
    io::Read::read_to_end(&mut io::Read::take(file, READ_FILE_BYTES_MAX + 1), &mut bytes)?;
    if bytes.len() as u64 > READ_FILE_BYTES_MAX { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// Ensures a directory that no other user can write to, even in a world-writable parent.
pub fn ensure_private_dir(path: &Path) -> io::Result<()> {
    create_dir(path)?;
    // A symlink could be redirected at any time.
    let meta = fs::symlink_metadata(path)?;
    let ours = meta.uid() == rustix::process::getuid().as_raw();
    if meta.is_dir() && ours && meta.mode() & 0o022 == 0 {
        Ok(())
    } else {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

/// Creates a file with mode 0600. Fails if it exists.
pub fn create_file(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Replaces a file atomically, with mode 0600: readers see the old or the new content.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_file_with(path, |file| {
        io::Write::write_all(file, bytes)?;
        file.sync_all()
    })?
}

/// Replaces a file atomically by what `write` writes, with mode 0600. The outer error is that of creating
/// or renaming the file. After any error the old content stays. The temporary file of a killed process
/// carries its pid and is removed later.
pub fn replace_file_with<T, E>(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<T, E>,
) -> io::Result<Result<T, E>> {
    let suffix = format!(".unfinished-{}-{}", std::process::id(), random_hex::<8>()?);
    let unfinished = with_suffix(path, &suffix);
    let written = create_file(&unfinished).and_then(|mut file| match write(&mut file) {
        Ok(value) => fs::rename(&unfinished, path).map(|()| Ok(value)),
        Err(error) => Ok(Err(error)),
    });
    if !matches!(written, Ok(Ok(_))) {
        // Report the first error. Removing a file that was never created may fail.
        let _ = fs::remove_file(&unfinished);
    }
    written
}

/// Removes a file that may be missing.
pub fn remove_if_exists(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// The path with a suffix after its last component: `claude-mem.db-wal`.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The first file of this name in the directories of a `PATH`. A relative directory does not count: it is another one
/// for every working directory.
pub fn find_on_path(path: &OsStr, name: &str) -> Option<PathBuf> {
    let dirs = std::env::split_paths(path).filter(|dir| dir.is_absolute());
    dirs.map(|dir| dir.join(name)).find(|program| program.is_file())
}

/// Whether both paths lead to the same file. A file that does not exist is the same as no other.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// Random hex digits, two per byte.
pub fn random_hex<const BYTES: usize>() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|e| io::Error::other(e.to_string()))?;
    Ok(hex(&bytes))
}

/// Opens a file for appending; creates it with mode 0600. Anything but a regular file is refused:
/// opening a pipe could block.
pub fn append_file(path: &Path) -> io::Result<File> {
    match append_options().open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        opened => return opened.and_then(regular_file),
    }
    let file = append_options().create(true).mode(0o600).open(path).and_then(regular_file)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

fn append_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.append(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    options
}

fn regular_file(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}
