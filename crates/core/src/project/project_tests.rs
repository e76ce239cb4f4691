use std::fs;
use std::path::PathBuf;

use super::*;

fn repo(at: &Path, config: &str) {
    fs::create_dir_all(at.join(".git")).unwrap();
    fs::write(at.join(".git/HEAD"), "ref: refs/heads/feature/login\n").unwrap();
    fs::write(at.join(".git/config"), config).unwrap();
}

fn temp() -> (tempfile::TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().canonicalize().unwrap();
    (temp, path)
}

#[test]
fn directory_outside_repository_is_keyed_by_path() {
    let (_temp, at) = temp();
    let hint = identify(&at);
    assert_eq!(hint.keys, [format!("path:{}", at.display())]);
    assert_eq!(hint.name, at.file_name().unwrap().to_string_lossy());
    assert_eq!(hint.branch, None);
}

#[test]
fn subdirectories_belong_to_the_same_project() {
    let (_temp, at) = temp();
    let url = "[remote \"origin\"]\n\turl = git@github.com:me/app.git\n";
    repo(&at, url);
    fs::create_dir_all(at.join("src/deep")).unwrap();
    let hint = identify(&at.join("src/deep"));
    assert_eq!(hint, identify(&at));
    assert_eq!(
        hint.keys,
        [
            "remote:github.com/me/app".to_owned(),
            format!("git:{}/.git", at.display()),
            format!("path:{}", at.display()),
        ]
    );
    assert_eq!(hint.name, "app");
    assert_eq!(hint.branch.as_deref(), Some("feature/login"));
    assert_eq!(hint.root, at.display().to_string());
}

#[test]
fn worktree_shares_project_but_not_branch() {
    let (_temp, at) = temp();
    let main = at.join("main");
    repo(&main, "");
    let own = main.join(".git/worktrees/fix");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("HEAD"), "ref: refs/heads/fix\n").unwrap();
    fs::write(own.join("commondir"), "../..\n").unwrap();
    let tree = at.join("fix");
    fs::create_dir_all(&tree).unwrap();
    fs::write(own.join("gitdir"), format!("{}/.git\n", tree.display())).unwrap();
    fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();

    let (of_main, of_tree) = (identify(&main), identify(&tree));
    assert_eq!(of_tree.keys[0], of_main.keys[0]);
    assert_eq!(of_tree.name, "main");
    assert_eq!(of_tree.branch.as_deref(), Some("fix"));
    assert_eq!(of_tree.root, tree.display().to_string());
}

#[test]
fn submodule_is_its_own_project() {
    let (_temp, at) = temp();
    repo(&at, "");
    let modules = at.join(".git/modules/lib");
    fs::create_dir_all(&modules).unwrap();
    fs::write(modules.join("HEAD"), "0123456789abcdef\n").unwrap();
    let config = "[core]\n\tworktree = ../../../lib\n[remote \"origin\"]\n\turl = https://h/x/lib\n";
    fs::write(modules.join("config"), config).unwrap();
    fs::create_dir_all(at.join("lib")).unwrap();
    fs::write(at.join("lib/.git"), "gitdir: ../.git/modules/lib\n").unwrap();
    let hint = identify(&at.join("lib"));
    assert_eq!(hint.keys[0], "remote:h/x/lib");
    assert_eq!(hint.branch, None);
}

#[test]
fn later_remote_keeps_older_keys() {
    let (_temp, at) = temp();
    repo(&at, "");
    let before = identify(&at);
    repo(&at, "[remote \"origin\"]\n\turl = https://h/me/app\n");
    let after = identify(&at);
    assert_eq!(after.keys[1..], before.keys);
}

#[test]
fn directories_with_the_same_name_are_distinct() {
    let (_temp, at) = temp();
    for parent in ["a", "b"] {
        repo(&at.join(parent).join("app"), "");
    }
    let (a, b) = (identify(&at.join("a/app")), identify(&at.join("b/app")));
    assert_eq!(a.name, b.name);
    assert!(a.keys.iter().all(|key| !b.keys.contains(key)));
}

#[test]
fn stray_git_file_does_not_hide_outer_repository() {
    let (_temp, at) = temp();
    repo(&at, "");
    fs::create_dir_all(at.join("sub")).unwrap();
    for junk in ["gitdir: /nowhere/at/all", "not a pointer", ""] {
        fs::write(at.join("sub/.git"), junk).unwrap();
        assert_eq!(identify(&at.join("sub")), identify(&at), "{junk:?}");
    }
}

#[test]
fn missing_directory_keeps_its_name() {
    let hint = identify(Path::new("/nowhere/at/all"));
    assert_eq!((hint.name.as_str(), hint.root.as_str()), ("all", "/nowhere/at/all"));
}

#[test]
fn unreadable_repository_is_reported() {
    let temp = tempfile::tempdir().unwrap();
    assert!(identify_with_error(temp.path()).1.is_none());
    let dot_git = temp.path().join(".git");
    std::os::unix::fs::symlink(&dot_git, &dot_git).unwrap();
    let (hint, unseen) = identify_with_error(temp.path());
    assert!(hint.keys.iter().all(|key| key.starts_with("path:")));
    assert!(unseen.is_some());
}

/// Directories whose `.git` leads into the repository at `victim` without its consent.
fn hostile_directories(at: &Path, victim: &Path) -> Vec<PathBuf> {
    let git = victim.join(".git");
    let new = |name: &str| {
        let dir = at.join(name);
        fs::create_dir_all(&dir).unwrap();
        dir
    };
    let absolute = new("absolute");
    fs::write(absolute.join(".git"), format!("gitdir: {}\n", git.display())).unwrap();
    let relative = new("relative");
    fs::write(relative.join(".git"), "gitdir: ../victim/.git\n").unwrap();
    let link = new("link");
    std::os::unix::fs::symlink(&git, link.join(".git")).unwrap();
    let worktree = new("worktree");
    fs::write(worktree.join(".git"), format!("gitdir: {}/worktrees/fix\n", git.display())).unwrap();
    // A made-up git directory that points back, but to which the repository does not point.
    let common = new("common");
    repo(&common, "");
    fs::write(common.join(".git/commondir"), git.to_str().unwrap()).unwrap();
    fs::write(common.join(".git/gitdir"), common.join(".git").to_str().unwrap()).unwrap();
    let aside = new("aside");
    let made_up = new("made-up");
    fs::write(made_up.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(made_up.join("commondir"), git.to_str().unwrap()).unwrap();
    fs::write(made_up.join("gitdir"), aside.join(".git").to_str().unwrap()).unwrap();
    fs::write(aside.join(".git"), format!("gitdir: {}\n", made_up.display())).unwrap();
    vec![absolute, relative, link, worktree, common, aside]
}

#[test]
fn pointer_into_a_repository_counts_only_if_it_points_back() {
    let (_temp, at) = temp();
    let victim = at.join("victim");
    repo(&victim, "[remote \"origin\"]\n\turl = https://h/me/secret\n");
    let own = victim.join(".git/worktrees/fix");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("HEAD"), "ref: refs/heads/fix\n").unwrap();
    fs::write(own.join("commondir"), "../..\n").unwrap();
    fs::write(own.join("gitdir"), at.join("elsewhere/.git").to_str().unwrap()).unwrap();
    for dir in hostile_directories(&at, &victim) {
        let (hint, unseen) = identify_with_commit(&dir);
        assert_eq!(hint.keys, [format!("path:{}", dir.display())]);
        assert!(unseen.is_some(), "ignore rules must know that the project is uncertain: {}", dir.display());
    }
}

#[test]
fn commit_is_read_from_loose_and_packed_refs() {
    let (_temp, at) = temp();
    repo(&at, "");
    let commit = |at: &Path| {
        let keys = identify_with_commit(at).0.keys;
        keys.iter().find_map(|key| key.strip_prefix(COMMIT_KEY).map(str::to_owned))
    };
    assert_eq!(commit(&at), None, "no commit yet");
    let (one, two, three) = ("1".repeat(40), "2".repeat(40), "3".repeat(40));
    let packed = format!("# pack-refs with: peeled\n{one} refs/heads/feature/login\n{two} refs/tags/v1\n");
    fs::write(at.join(".git/packed-refs"), packed).unwrap();
    assert_eq!(commit(&at), Some(one));
    fs::create_dir_all(at.join(".git/refs/heads/feature")).unwrap();
    fs::write(at.join(".git/refs/heads/feature/login"), format!("{two}\n")).unwrap();
    assert_eq!(commit(&at), Some(two));
    fs::write(at.join(".git/HEAD"), format!("{three}\n")).unwrap();
    assert_eq!(commit(&at), Some(three));
    assert!(identify(&at).keys.iter().all(|key| !key.starts_with(COMMIT_KEY)));
}

#[test]
fn linked_refs_of_another_repository_are_not_followed() {
    let (_temp, at) = temp();
    let (victim, evil) = (at.join("victim"), at.join("evil"));
    repo(&victim, "");
    repo(&evil, "");
    fs::create_dir_all(victim.join(".git/refs/heads/feature")).unwrap();
    fs::write(victim.join(".git/refs/heads/feature/login"), "4".repeat(40)).unwrap();
    std::os::unix::fs::symlink(victim.join(".git/refs"), evil.join(".git/refs")).unwrap();
    assert!(identify_with_commit(&evil).0.keys.iter().all(|key| !key.starts_with(COMMIT_KEY)));
}

#[test]
fn worktree_that_is_gone_belongs_to_its_repository() {
    for path in ["/gone/shop/.worktrees/fix-login", "/gone/shop/.claude/worktrees/fix-login/src"] {
        let hint = identify(Path::new(path));
        assert_eq!(hint.name, "shop", "{path}");
        assert_eq!(hint.keys[0], "path:/gone/shop", "{path}");
        assert!(hint.root.ends_with("worktrees/fix-login"), "{}", hint.root);
    }
    assert_eq!(identify(Path::new("/gone/.worktrees")).keys, ["path:/gone/.worktrees"]);
}
