// Claude Code's sessions, as the Claude Agent SDK lists and loads them.
//
// A message is compared by its uuid and its whole content.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { importFile } from "./packages.mjs";
import { sorted } from "./quipu.mjs";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const OWNER = "00000000-0000-4000-8000-000000000000";
const OWNER_LINE = JSON.stringify({
  parentUuid: null, isSidechain: false, type: "user", message: { role: "user", content: "go" },
  uuid: OWNER, timestamp: "2026-01-01T00:00:00.000Z", sessionId: OWNER,
}) + "\n";

const line = (uuid, role, content) => `${uuid} ${role} ${JSON.stringify(sorted(content))}`;

// Every file has a configuration of its own, for several may be the same session. Sub-agents
// lie below an owner.
async function load(sdk, file, home) {
  process.env.CLAUDE_CONFIG_DIR = home;
  const stem = basename(file, ".jsonl");
  const agent = /(?:^|_)agent-([^_]+)$/.exec(stem)?.[1];
  const session = !agent && UUID.test(stem) ? stem : OWNER;
  const project = join(home, "projects", basename(dirname(file)));
  const folder = agent ? join(project, session, "subagents") : project;
  mkdirSync(folder, { recursive: true });
  if (agent) writeFileSync(join(project, session + ".jsonl"), OWNER_LINE);
  copyFileSync(file, join(folder, (agent ? "agent-" + agent : session) + ".jsonl"));
  const listed = (await sdk.listSessions({})).some((one) => one.sessionId === session);
  if (!listed) return { refused: "not listed" };
  const messages = agent ? await sdk.getSubagentMessages(session, agent, {}) : await sdk.getSessionMessages(session, {});
  const failed = failures(file);
  return { said: messages.filter((one) => !failed.has(one.uuid)).map((one) => line(one.uuid, one.type, one.message?.content)) };
}

// Errors of the API are shown and never sent: they are no part of our conversation.
function failures(file) {
  const uuids = new Set();
  for (const text of readFileSync(file, "utf8").split("\n")) {
    if (!text.includes('"isApiErrorMessage":true')) continue;
    const found = /"uuid":"([^"]+)"/.exec(text);
    if (found) uuids.add(found[1]);
  }
  return uuids;
}

// What the loader leaves out of the conversation when it lists messages.
function isListed({ payload }, isAgent) {
  if (payload.type !== "user" && payload.type !== "assistant" && !isQueuedPrompt(payload)) return false;
  if (isAgent) return true;
  return !(payload.isMeta && !isQueuedPrompt(payload)) && !payload.isSidechain && !payload.teamName;
}

const isQueuedPrompt = (payload) => payload.type === "attachment" && payload.attachment?.type === "queued_command";

export default {
  agent: "claude", package: "@anthropic-ai/claude-agent-sdk", version: "0.3.325", npm: ["--omit=optional"],

  async load(place, files, scratch) {
    const sdk = await importFile(place, this.package, "sdk.mjs");
    const loaded = [];
    for (const [i, file] of files.entries()) loaded.push(await load(sdk, file, join(scratch, String(i))));
    return loaded;
  },

  // The content of a prompt that was typed meanwhile is made up by the loader; it is listed
  // once when it comes again as the user's.
  ours(quipu, session) {
    const isAgent = quipu.entries(session).get("source").payload.session.includes(".");
    const said = [];
    let isOpen = false;
    for (const entry of quipu.conversation(session)) {
      const { payload } = entry;
      if (payload.type === "user" && isOpen) said.pop();
      if (payload.type === "user" || payload.type === "assistant") isOpen = false;
      if (!isListed(entry, isAgent)) continue;
      isOpen = isQueuedPrompt(payload);
      said.push(line(payload.uuid, isOpen ? "user" : payload.type, isOpen ? payload.attachment.prompt : payload.message.content));
    }
    return said;
  },
};
