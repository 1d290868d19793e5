// What the Claude Agent SDK makes of session files, as JSON on standard output.
//
//   npm install --omit=optional @anthropic-ai/claude-agent-sdk@0.3.325   (in a scratch directory)
//   cd SCRATCH && node PROJECT/tools/vendor_check/claude.mjs DIRECTORY…  > oracle.json
//   QUIPU_CLAUDE_ORACLE=oracle.json build/dev/bin/claude_test --gtest_filter=ClaudeVendor.*
//
// Every .jsonl below a DIRECTORY is copied to a config directory of its own, under a
// UUID, and loaded from there; sub-agents (agent-*.jsonl) with their owner.
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(path.join(process.cwd(), "package.json"));
const sdk = await import(pathToFileURL(require.resolve("@anthropic-ai/claude-agent-sdk")).href);
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const OWNER = "00000000-0000-4000-8000-000000000000";

const OWNER_LINE = JSON.stringify({
  parentUuid: null, isSidechain: false, type: "user", message: { role: "user", content: "go" },
  uuid: OWNER, timestamp: "2026-01-01T00:00:00.000Z", sessionId: OWNER,
}) + "\n";

function* files(at) {
  if (!fs.statSync(at).isDirectory()) return yield at;
  for (const name of fs.readdirSync(at).sort()) yield* files(path.join(at, name));
}

const digest = (value) => createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);

async function load(file) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "claude-check-"));
  try {
    process.env.CLAUDE_CONFIG_DIR = home;
    const stem = path.basename(file, ".jsonl");
    const agent = /(?:^|_)agent-([^_]+)$/.exec(stem)?.[1];
    const session = agent ? OWNER : UUID.test(stem) ? stem : OWNER;
    const project = path.join(home, "projects", path.basename(path.dirname(file)));
    const folder = agent ? path.join(project, session, "subagents") : project;
    fs.mkdirSync(folder, { recursive: true });
    if (agent) fs.writeFileSync(path.join(project, session + ".jsonl"), OWNER_LINE);
    fs.copyFileSync(file, path.join(folder, (agent ? "agent-" + agent : session) + ".jsonl"));
    const listed = (await sdk.listSessions({})).find((one) => one.sessionId === session);
    const messages = agent
      ? await sdk.getSubagentMessages(session, agent, {})
      : await sdk.getSessionMessages(session, {});
    return {
      path: path.resolve(file),
      session,
      listed: Boolean(listed),
      title: listed?.customTitle ?? "",
      cwd: listed?.cwd ?? "",
      messages: messages.map((one) => ({
        uuid: one.uuid, role: one.type, digest: digest(one.message?.content),
      })),
    };
  } finally {
    fs.rmSync(home, { recursive: true, force: true });
  }
}

const sessions = [];
for (const place of process.argv.slice(2)) {
  for (const file of files(place)) if (file.endsWith(".jsonl")) sessions.push(await load(file));
}
console.log(JSON.stringify({ sessions }));
