// claude-mem: written by `claude-mem install`, removed by `claude-mem uninstall`
// Tells claude-mem what happens in a session, and gives the model what claude-mem remembers.
// It imports nothing but Node's own modules, and a failure in it costs a memory, never the session.
import { spawn, spawnSync } from "node:child_process";

const EXECUTABLE = __CLAUDE_MEM_EXECUTABLE__;
const DATA_DIR = __CLAUDE_MEM_DATA_DIR__;
const HOOK_MS = 10000;
const LAST_HOOK_MS = 3000;
const NEW_SESSION_MS = 60000;

const args = (event) => ["hook", "opencode", event, ...(DATA_DIR ? ["--data-dir", DATA_DIR] : [])];

const contextOf = (output) => {
  try {
    return JSON.parse(output)?.hookSpecificOutput?.additionalContext ?? "";
  } catch {
    return "";
  }
};

/** Runs one hook and resolves to the text for the model; empty if there is none. */
const call = (event, payload) =>
  new Promise((resolve) => {
    try {
      const child = spawn(EXECUTABLE, args(event), { stdio: ["pipe", "pipe", "ignore"] });
      let output = "";
      const timer = setTimeout(() => {
        child.kill();
        resolve("");
      }, HOOK_MS);
      const finish = (text) => {
        clearTimeout(timer);
        resolve(text);
      };
      child.on("error", () => finish(""));
      child.on("close", () => finish(contextOf(output)));
      child.stdout.on("data", (part) => (output += part));
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify({ ...payload, hook_event_name: event }));
    } catch {
      resolve("");
    }
  });

export const ClaudeMem = async ({ client, directory }) => {
  const created = new Set();
  const children = new Set();
  const started = new Map();
  const recalled = new Map();
  const lastTexts = new Map();
  const prompts = new Map();
  const failures = new Set();
  const base = (session) => ({ session_id: session, cwd: directory, prompt_id: prompts.get(session) });

  /** Whether the session is a subagent's: the user does not speak in it. */
  const isChild = async (session) => {
    if (!created.has(session) && !children.has(session)) {
      try {
        const found = await client.session.get({ path: { id: session } });
        (found?.data?.parentID ? children : created).add(session);
        const isNew = Date.now() - (found?.data?.time?.created ?? 0) < NEW_SESSION_MS;
        if (created.has(session) && !isNew) {
          started.set(session, await call("session.created", { ...base(session), source: "resume" }));
        }
      } catch {
        created.add(session);
      }
    }
    return children.has(session);
  };

  return {
    event: async ({ event }) => {
      const about = event.properties ?? {};
      if (event.type === "session.created") {
        (about.info?.parentID ? children : created).add(about.info?.id);
      } else if (event.type === "session.idle" && prompts.has(about.sessionID)) {
        // The client may exit right after this event, so the hook is waited for.
        const payload = { ...base(about.sessionID), hook_event_name: "session.idle", last_assistant_message: lastTexts.get(about.sessionID) };
        prompts.delete(about.sessionID);
        try {
          spawnSync(EXECUTABLE, args("session.idle"), { input: JSON.stringify(payload), timeout: LAST_HOOK_MS, stdio: ["pipe", "ignore", "ignore"] });
        } catch {}
      } else if (event.type === "message.part.updated" && about.part?.type === "tool" && about.part.state?.status === "error") {
        const { sessionID, callID, tool, state } = about.part;
        if (!prompts.has(sessionID) || failures.has(callID)) return;
        failures.add(callID);
        await call("message.part.updated", { ...base(sessionID), tool_name: tool, tool_use_id: callID, tool_input: state.input, error: String(state.error ?? "") });
      }
    },
    "chat.message": async (input, output) => {
      const session = input.sessionID;
      if (await isChild(session)) return;
      if (!started.has(session)) {
        started.set(session, await call("session.created", { ...base(session), source: "startup" }));
      }
      const typed = output.parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored);
      prompts.set(session, output.message?.id);
      lastTexts.delete(session);
      const prompt = typed.map((part) => part.text).join("\n");
      recalled.set(session, await call("chat.message", { ...base(session), prompt }));
    },
    "tool.execute.after": async (input, output) => {
      if (!prompts.has(input.sessionID)) return;
      const context = await call("tool.execute.after", {
        ...base(input.sessionID),
        tool_name: input.tool,
        tool_use_id: input.callID,
        tool_input: input.args,
        tool_response: output.output,
        exit_code: output.metadata?.exit,
      });
      if (context && typeof output.output === "string") output.output += "\n\n" + context;
    },
    "experimental.text.complete": async (input, output) => {
      if (prompts.has(input.sessionID)) lastTexts.set(input.sessionID, output.text);
    },
    "experimental.chat.system.transform": async (input, output) => {
      // The request for the session's title needs no memories.
      if (output.system.some((text) => text.startsWith("You are a title generator"))) return;
      for (const text of [started.get(input.sessionID), recalled.get(input.sessionID)]) {
        if (text) output.system.push(text);
      }
    },
  };
};
