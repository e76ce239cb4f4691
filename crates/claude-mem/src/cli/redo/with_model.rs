//! `claude-mem redo --provider`: a model writes the memories of past sessions anew, after its cost was shown.

use std::io::Write as _;
use std::sync::Arc;

use anyhow::Context as _;
use serde::Serialize;

use super::selection::{SessionSelection, print_skipped};
use crate::cli::app::App;
use crate::cli::import::run_import::run_import;
use crate::cli::output::{QUIET, Screen, question_text};
use crate::cli::{UsageError, format, import, install, worker};
use claude_mem_core::config::Provider;
use claude_mem_core::live_settings::LiveSettings;
use claude_mem_core::log::{LogAuthor, LogWriter};
use claude_mem_ingest::compressor_config::{ConfigSource, ProcessEnv, ProviderChoice};
use claude_mem_ingest::session_model::{CallTrouble, SessionModel};
use claude_mem_store::Store;
use claude_mem_transfer::import::transcripts::{
    ModelRedo, RedoPreview, RedoSummary, preview_model_redo, redo_with_model,
};
use claude_mem_transfer::import::{ImportReport, SourceTrust};

/// The providers that have a model.
const WITH_MODEL: [Provider; 4] = [Provider::Claude, Provider::Anthropic, Provider::OpenAi, Provider::Gemini];

/// Sessions that the preview lists.
const SESSIONS_LISTED_MAX: usize = 20;

/// The options of a run with a model.
#[derive(Debug, clap::Args)]
pub(super) struct ModelArgs {
    /// With a model of this provider: claude, anthropic, openai or gemini
    ///
    /// Address and key come from the settings base_url, api_key_file and api_key.
    #[arg(long, value_name = "PROVIDER")]
    pub(super) provider: Option<String>,
    /// The model, if it is not that of the settings or the provider's small one
    #[arg(long, value_name = "MODEL", requires = "provider")]
    model: Option<String>,
    /// Spend the tokens without asking
    #[arg(long, requires = "provider")]
    yes: bool,
}

#[derive(Serialize)]
struct PreviewReport<'r> {
    dry_run: bool,
    provider: &'r str,
    model: &'r str,
    /// Expected tokens of all sessions together.
    tokens: u64,
    days: Option<u64>,
    #[serde(flatten)]
    preview: &'r RedoPreview,
    report: &'r ImportReport,
}

#[derive(Serialize)]
struct RunReport<'r> {
    dry_run: bool,
    provider: &'r str,
    model: &'r str,
    #[serde(flatten)]
    summary: &'r RedoSummary,
    /// Why it stopped before the last session.
    stopped: Option<&'r str>,
    sessions_left: u64,
    report: &'r ImportReport,
}

pub(super) fn run(
    args: &ModelArgs,
    provider: &str,
    selection: &SessionSelection,
    dry_run: bool,
    app: &App,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    let choice = provider_choice(args, provider, app)?;
    let vocabulary = app.vocabulary();
    let mut previewed = None;
    let mut done: Option<ModelRedo> = None;
    let mut model = None;
    run_import(app, false, SourceTrust::Own, |store, around| {
        let asked = model.insert(open_model(app, choice)?);
        let wanted = selection.request(store, app, &vocabulary)?;
        let (report, preview) =
            preview_model_redo(store, around, &wanted, asked, &mut import::progress::for_rows())?;
        let is_empty = preview.sessions.is_empty();
        let may_run = !dry_run && !is_empty && (args.yes || may_spend(screen, &preview, asked, &report)?);
        if may_run {
            let run = redo_with_model(store, around, &wanted, asked, &mut import::progress::for_rows())?;
            let report = run.report.clone();
            done = Some(run);
            return Ok(report);
        }
        previewed = Some((report.clone(), preview));
        Ok(report)
    })?;
    let Some(model) = model else {
        return Ok(());
    };
    match (done, previewed) {
        (Some(run), _) => show_run(screen, &model, &run),
        (None, Some((report, preview))) => {
            show_preview(screen, &model, &preview, &report)?;
            if !dry_run && !screen.json && !preview.sessions.is_empty() {
                writeln!(screen, "nothing was changed; `--yes` spends these tokens")?;
            }
            Ok(())
        }
        (None, None) => Ok(()),
    }
}

/// The provider and model of the command line.
fn provider_choice(args: &ModelArgs, name: &str, app: &App) -> anyhow::Result<ProviderChoice> {
    let Some(provider) = WITH_MODEL.into_iter().find(|known| known.as_str() == name) else {
        let known = WITH_MODEL.map(Provider::as_str).join(", ");
        return Err(UsageError::error(format!("{name:?} is no provider with a model; one of {known}")));
    };
    let settings = app.settings().settings;
    let is_other =
        !matches!(settings.provider, Provider::Auto | Provider::Local) && settings.provider != provider;
    if is_other && args.model.is_none() && !settings.model.trim().is_empty() {
        return Err(UsageError::error(format!(
            "the setting model belongs to {}; name one of {name} with --model",
            settings.provider.as_str()
        )));
    }
    Ok(ProviderChoice { provider, model: args.model.clone() })
}

fn open_model(app: &App, choice: ProviderChoice) -> anyhow::Result<SessionModel> {
    let live = Arc::new(LiveSettings::new(app.data.root().to_owned(), |name| std::env::var(name).ok()));
    let settings = app.settings().settings;
    let log = LogWriter::new(app.data.logs(), LogAuthor::Worker, (&settings).into());
    let process = ProcessEnv::current(worker::recorded_claude);
    let source = ConfigSource::new(app.data.clone(), live, process).with_provider(choice);
    let path = app.data.db();
    let ledger = Store::open(&path).with_context(|| path.display().to_string())?;
    Ok(SessionModel::open(ledger, source, log)?)
}

/// Shows the cost at a terminal and asks. Elsewhere nothing is spent without `--yes`.
fn may_spend(
    screen: &mut Screen,
    preview: &RedoPreview,
    model: &SessionModel,
    report: &ImportReport,
) -> anyhow::Result<bool> {
    if !install::can_ask(screen.json) {
        return Ok(false);
    }
    show_preview(screen, model, preview, report)?;
    write!(screen, "{} ", question_text("Spend these tokens?", "[y/N]"))?;
    screen.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn show_preview(
    screen: &mut Screen,
    model: &SessionModel,
    preview: &RedoPreview,
    report: &ImportReport,
) -> anyhow::Result<()> {
    let shown = PreviewReport {
        dry_run: true,
        provider: model.provider(),
        model: model.model(),
        tokens: preview.tokens(),
        days: preview.days(),
        preview,
        report,
    };
    screen.show(&shown, |screen, shown| {
        let sessions = format::count(preview.sessions.len() as u64, "session");
        let tokens = format::grouped(shown.tokens);
        writeln!(
            screen,
            "{} ({}) would write {sessions} anew, for about {tokens} tokens",
            shown.model, shown.provider
        )?;
        let mut dearest: Vec<_> = preview.sessions.iter().collect();
        dearest.sort_by_key(|cost| std::cmp::Reverse(cost.input_tokens));
        let rows: Vec<_> = dearest
            .iter()
            .take(SESSIONS_LISTED_MAX)
            .map(|cost| {
                let note = if cost.is_over_budget { "more than the budget of a session" } else { "" };
                [
                    cost.session.to_string(),
                    cost.project.clone(),
                    format::local_time(cost.last_activity),
                    format::grouped(cost.calls),
                    format::grouped(cost.input_tokens),
                    format::grouped(cost.output_tokens),
                    note.to_owned(),
                ]
            })
            .collect();
        if !rows.is_empty() {
            screen
                .wrapped_table(["session", "project", "last used", "calls", "input", "output", ""], &rows)?;
        }
        if preview.sessions.len() > rows.len() {
            writeln!(
                screen,
                "{QUIET}and {} more; --json lists them all{QUIET:#}",
                preview.sessions.len() - rows.len()
            )?;
        }
        print_skipped(screen, report)?;
        writeln!(
            screen,
            "budget: {} of {} tokens left today, at most {} per session",
            format::grouped(preview.day_tokens_left),
            format::grouped(preview.budget_tokens_per_day),
            format::grouped(preview.budget_tokens_per_session)
        )?;
        match shown.days {
            Some(1) => Ok(()),
            Some(days) => writeln!(screen, "within the budget it takes about {days} days: run it once a day"),
            None => {
                writeln!(screen, "the budget of a day is 0: `claude-mem config set budget_tokens_per_day`")
            }
        }
    })
}

fn show_run(screen: &mut Screen, model: &SessionModel, run: &ModelRedo) -> anyhow::Result<()> {
    let ModelRedo { report, summary, stopped, left } = run;
    let shown = RunReport {
        dry_run: false,
        provider: model.provider(),
        model: model.model(),
        summary,
        stopped: stopped.as_ref().map(|trouble| trouble.why.as_str()),
        sessions_left: *left,
        report,
    };
    screen.show(&shown, |screen, shown| {
        let sessions = format::count(summary.sessions, "session");
        let (before, after) = (summary.observations_before, summary.observations_after);
        writeln!(screen, "{} wrote {sessions} anew: {before} memories before, {after} after", shown.model)?;
        print_skipped(screen, report)?;
        if let Some(why) = shown.stopped.filter(|_| is_budget(stopped.as_ref())) {
            let left = format::count(shown.sessions_left, "session");
            writeln!(screen, "{why}; {left} left: run the same command again tomorrow")?;
        }
        match report.run {
            Some(run) => writeln!(screen, "{QUIET}undo: `claude-mem import undo {run}`{QUIET:#}"),
            None => Ok(()),
        }
    })?;
    match stopped {
        Some(trouble) if !is_budget(Some(trouble)) => {
            let left = format::count(*left, "session");
            anyhow::bail!(
                "{}: {}; {left} left: run the same command again ({})",
                model.provider(),
                trouble.why,
                trouble.kind.fix()
            )
        }
        _ => Ok(()),
    }
}

/// Whether the run stopped because nothing more may be spent today, which is no failure.
fn is_budget(stopped: Option<&CallTrouble>) -> bool {
    stopped.is_some_and(|trouble| trouble.kind.is_budget())
}
