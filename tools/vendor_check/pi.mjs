// pi's sessions, as its SessionManager opens and lists them.
//
// A message is compared as a whole: with its usage, its time, its model.
import { copyFileSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { importFile } from "./packages.mjs";
import { sorted } from "./quipu.mjs";

// What pi loads it sends, but for answers that failed or were broken off, and what the user
// keeps from the model. Those are no part of our conversation.
const isSent = (message) => !["error", "aborted"].includes(message.stopReason) && !message.excludeFromContext;

// Entries that are no messages become some; what they say is theirs.
function line(message) {
  const { role, summary, customType, content } = message;
  if (role === "compactionSummary" || role === "branchSummary") return `${role} ${summary}`;
  if (role === "custom") return `${role} ${customType} ${JSON.stringify(sorted(content))}`;
  return JSON.stringify(sorted(message));
}

function messageOf({ type, summary, customType, content, message }) {
  if (type === "compaction") return { role: "compactionSummary", summary };
  if (type === "branch_summary") return { role: "branchSummary", summary };
  if (type === "custom_message") return { role: "custom", customType, content };
  return message?.role === "hookMessage" ? { ...message, role: "custom" } : message;
}

// Opening a file of an older version rewrites it: a copy.
async function load(SessionManager, file, home) {
  mkdirSync(home, { recursive: true });
  const copy = join(home, basename(file));
  copyFileSync(file, copy);
  const manager = SessionManager.open(copy, home);
  const listed = await SessionManager.listAll(home);
  if (!listed.some((one) => one.id === manager.getSessionId())) return { refused: "not listed" };
  return { said: manager.buildSessionContext().messages.filter(isSent).map(line) };
}

export default {
  agent: "pi", package: "@earendil-works/pi-coding-agent", version: "0.87.1", npm: ["--omit=optional"],

  async load(place, files, scratch) {
    const { SessionManager } = await importFile(place, this.package, "dist/core/session-manager.js");
    const loaded = [];
    for (const [i, file] of files.entries()) {
      loaded.push(await load(SessionManager, file, join(scratch, String(i))).catch((error) => ({ refused: error.message })));
    }
    return loaded;
  },

  ours(quipu, session) {
    return quipu.conversation(session).map(({ payload }) => line(messageOf(payload)));
  },
};
