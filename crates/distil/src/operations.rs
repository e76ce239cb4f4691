//! Operations: commands that change a machine or a service rather than files of the project.
//!
//! Work over ssh, on a cluster or in a cloud leaves no edits. A turn whose commands operated on something, and whose
//! report says what was done, is work all the same.

use crate::shell::{self, SimpleCommand};

/// Programs that operate on something whatever their arguments are.
const OPERATING: &[&str] = &["ansible-playbook", "apt", "apt-get", "certbot", "crontab", "scp", "usermod"];

/// Programs with the subcommands by which they operate on something.
#[rustfmt::skip]
const SUBCOMMANDS: &[(&str, &[&str])] = &[
    ("aws", CLOUD), ("az", CLOUD), ("doctl", CLOUD), ("flyctl", CLOUD), ("gcloud", CLOUD), ("hcloud", CLOUD),
    ("gh", &["delete", "rerun", "set"]),
    ("helm", &["install", "upgrade", "rollback", "uninstall"]),
    ("kubectl", &["apply", "create", "delete", "edit", "label", "patch", "rollout", "scale", "set"]),
    ("nginx", &["-s"]),
    ("pm2", &["reload", "restart", "start", "stop"]),
    ("pulumi", &["up", "destroy"]),
    ("service", &["reload", "restart", "start", "stop"]),
    ("systemctl", &["daemon-reload", "disable", "enable", "reload", "restart", "start", "stop"]),
    ("terraform", &["apply", "destroy", "import"]),
    ("tofu", &["apply", "destroy", "import"]),
    ("ufw", &["allow", "deny", "delete", "enable"]),
];
const CLOUD: &[&str] =
    &["create", "delete", "deploy", "put", "remove", "restart", "set", "start", "stop", "update"];

/// Programs that change a file: on another machine that is an operation.
const CHANGING_FILES: &[&str] =
    &["chmod", "chown", "cp", "install", "ln", "mkdir", "mv", "rm", "tee", "truncate"];

/// Levels of commands within commands that are read: a shell on another machine that opens a third one.
const DEPTH_MAX: usize = 2;

/// Whether one of the commands changes a machine or a service.
pub(crate) fn operates(commands: &[SimpleCommand]) -> bool {
    commands.iter().any(|command| is_operation(command, false, DEPTH_MAX))
}

fn is_operation(command: &SimpleCommand, is_remote: bool, depth: usize) -> bool {
    let program = command.program();
    let arguments = command.bare().get(1..).unwrap_or_default();
    if OPERATING.contains(&program) {
        return true;
    }
    if let Some((_, verbs)) = SUBCOMMANDS.iter().find(|(known, _)| *known == program) {
        // The verb of "aws s3api put-object" is the beginning of a word.
        let is_verb = |word: &String| {
            verbs
                .iter()
                .any(|verb| word == verb || word.strip_prefix(verb).is_some_and(|rest| rest.starts_with('-')))
        };
        return arguments.iter().any(is_verb);
    }
    if is_remote {
        let in_place = program == "sed" && arguments.iter().any(|word| word.starts_with("-i"));
        if in_place || CHANGING_FILES.contains(&program) || command.written.is_some() {
            return true;
        }
    }
    let Some(inner) = commands_within(program, command).filter(|_| depth > 0) else {
        return false;
    };
    inner.iter().any(|inner| is_operation(inner, is_remote || program == "ssh", depth - 1))
}

/// The commands that `ssh host '…'` runs there, or `sudo sh -c '…'` here.
fn commands_within(program: &str, command: &SimpleCommand) -> Option<Vec<SimpleCommand>> {
    let last = command.bare().last()?;
    let is_shell = matches!(program, "ssh" | "sh" | "bash" | "zsh");
    let text = command.heredoc.as_deref().unwrap_or(last);
    is_shell.then(|| shell::parse(text))
}

#[cfg(test)]
mod tests {
    use super::operates;
    use crate::shell;

    #[test]
    fn commands_that_change_a_machine_are_operations() {
        for command in [
            "ssh deploy@web2 \"sudo sed -i 's#a#b#' /etc/nginx/conf.d/lending.conf && sudo systemctl reload nginx\"",
            "ssh root@db1 <<'EOF'\ncp pg_hba.conf /etc/postgresql/\nEOF",
            "kubectl -n shop rollout restart deploy/api",
            "terraform apply -auto-approve",
            "aws s3api put-bucket-policy --bucket depot --policy file://p.json",
            "scp build.tar.gz deploy@web2:/srv",
            "sudo systemctl restart lending-api",
        ] {
            assert!(operates(&shell::parse(command)), "{command}");
        }
    }

    #[test]
    fn commands_that_only_look_are_none() {
        for command in [
            "ssh deploy@web2 'systemctl status lending-api; tail -20 /var/log/nginx/error.log'",
            "kubectl get pods -A",
            "terraform plan",
            "aws s3 ls",
            "sed -i 's/a/b/' src/main.rs",
            "gh pr view 12",
            "gh run view 8812 --log-failed",
            "ssh deploy@web2",
            "cargo run --release",
        ] {
            assert!(!operates(&shell::parse(command)), "{command}");
        }
    }
}
