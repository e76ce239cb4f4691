-- `import` marks rows of a file that somebody else may have written. Accounts and summaries that were made here from
-- transcripts of the user's own client are told by the agent, like those of live sessions.
UPDATE session_accounts SET origin = 'agent'
  WHERE origin = 'import' AND import_run IN (SELECT id FROM import_runs WHERE kind IN ('transcripts', 'redo'));
UPDATE session_summaries SET origin = 'agent'
  WHERE origin = 'import' AND import_run IN (SELECT id FROM import_runs WHERE kind IN ('transcripts', 'redo'));
