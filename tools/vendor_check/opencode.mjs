// What opencode itself makes of its sessions, against what Quipu makes of them.
//
//   npm install --prefix DIR opencode-ai
//   node opencode.mjs DIR QUIPU read DATABASE      our records of a database, and its exports
//   node opencode.mjs DIR QUIPU resume DATABASE    our contexts, and what it sends when it goes on
//   node opencode.mjs DIR QUIPU write FILE…        sessions of other agents: written by us, imported
//                                                  by it, exported by it again, and resumed
//
// QUIPU is the program. DATABASE is copied first; everything happens in a directory of its own,
// which is removed. A line for each session, then how many are the same.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";

const [place, program, mode, ...named] = process.argv.slice(2);
const quipu = resolve(program);
const paths = named.map((path) => resolve(path));
const scratch = mkdtempSync(join(tmpdir(), "vendor-check-"));
const data = join(scratch, "data");
const project = join(scratch, "project");
mkdirSync(join(data, "opencode"), { recursive: true });
mkdirSync(project);
const env = { ...process.env, HOME: scratch, XDG_DATA_HOME: data, XDG_CONFIG_HOME: join(scratch, "config"),
              XDG_CACHE_HOME: join(scratch, "cache"), XDG_STATE_HOME: join(scratch, "state"),
              OPENCODE_DISABLE_AUTOUPDATE: "1", QUIPU_STORE: join(scratch, "store") };

function binary() {
  const packages = join(place, "node_modules");
  const name = readdirSync(packages).find((one) => one.startsWith("opencode-") && one !== "opencode-ai");
  if (!name) throw new Error(`no opencode in ${place}`);
  return join(packages, name, "bin", "opencode");
}
const options = { env, cwd: project, maxBuffer: 1 << 30, encoding: "utf8" };
// Into a file: what it writes into a pipe it does not always write to the end.
function opencode(...args) {
  const file = join(scratch, "answer");
  const answer = openSync(file, "w");
  execFileSync(binary(), args, { ...options, stdio: ["ignore", answer, "ignore"] });
  closeSync(answer);
  return readFileSync(file, "utf8");
}
const ours = (...args) => execFileSync(quipu, args, options);
const lines = (text) => text.split("\n").filter(Boolean).map((line) => JSON.parse(line));

let same = 0;
let different = 0;
function report(name, is_same, note = "") {
  is_same ? ++same : ++different;
  console.log(`${is_same ? "same     " : "DIFFERENT"} ${name} ${note}`);
}

// The messages with their parts, from the records of a session.
function records(session) {
  const messages = new Map();
  for (const { type, payload } of lines(ours("cat", session))) {
    if (type === "opencode.message") messages.set(payload.id, { info: payload.data, parts: [] });
    if (type === "fact.opencode.part") messages.get(payload.message_id).parts.push(payload.data);
  }
  return [...messages.values()];
}

function exported(session) {
  const bare = ({ id, sessionID, messageID, ...rest }) => rest;
  return JSON.parse(opencode("export", session)).messages.map(
    ({ info, parts }) => ({ info: bare(info), parts: parts.map(bare) }));
}

// ---- a model that says "ok" and keeps what it was asked

let asked = null;
const model = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += chunk));
  request.on("end", () => {
    const sent = JSON.parse(body || "{}");
    // Titles are asked for without tools.
    if (sent.tools?.length) asked = sent;
    response.writeHead(200, { "content-type": "text/event-stream" });
    const chunk = (delta, finish_reason = null) => response.write(`data: ${JSON.stringify({
      id: "c", object: "chat.completion.chunk", created: 0, model: "any", choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
    chunk({ role: "assistant", content: "ok" });
    chunk({}, "stop");
    response.end("data: [DONE]\n\n");
  });
});

async function serve() {
  await new Promise((done) => model.listen(0, "127.0.0.1", done));
  writeFileSync(join(project, "opencode.json"), JSON.stringify({
    model: "check/any", small_model: "check/any", share: "disabled", autoupdate: false,
    provider: { check: { npm: "@ai-sdk/openai-compatible", name: "check",
      options: { baseURL: `http://127.0.0.1:${model.address().port}/v1`, apiKey: "none" },
      models: { any: { name: "any", limit: { context: 2000000, output: 8000 } } } } } }));
}

const kPrompt = "vendor check";
async function sent(session) {
  asked = null;
  const run = spawn(binary(), ["run", "--session", session, "--model", "check/any", kPrompt], { ...options, stdio: "ignore" });
  const limit = setTimeout(() => run.kill("SIGKILL"), 60000);
  await new Promise((done) => run.on("exit", done));
  clearTimeout(limit);
  return asked && simple(asked.messages).slice(0, -1);
}

// Role, text and calls; what is said in several messages of one role is one, however it is joined.
function simple(messages) {
  const list = [];
  for (const message of messages) {
    if (message.role === "system" || message.role === "developer") continue;
    const text = typeof message.content === "string" ? message.content
      : (message.content ?? []).map((part) => part.text ?? part.image_url?.url ?? "").join("\n");
    const calls = (message.tool_calls ?? []).map((call) => ({ id: call.id, name: call.function.name,
      input: JSON.parse(call.function.arguments || "{}") }));
    const one = { role: message.role, text: text.trim().replace(/\n+/g, "\n"), calls, id: message.tool_call_id };
    const last = list.at(-1);
    if (last && last.role === one.role && one.role !== "tool" && !last.calls.length) {
      last.text = [last.text, one.text].filter(Boolean).join("\n");
      last.calls.push(...calls);
    } else if (one.text || calls.length || one.role === "tool") {
      list.push(one);
    }
  }
  return list;
}

// Reasoning is text to another model; we leave it out of a request to another provider.
async function compare_resumed(session, stored, note) {
  const theirs = await sent(session);
  const request = JSON.parse(ours("context", stored, "--provider", "openai-chat", "--open-ended"));
  const mine = simple(request.messages);
  const is_same = isDeepStrictEqual(mine, theirs);
  report(session, is_same, `${note} ${mine.length} ${theirs?.length}`);
  if (!is_same && process.env.VERBOSE) {
    const at = mine.findIndex((one, i) => !isDeepStrictEqual(one, theirs?.[i]));
    console.log(" ours  ", JSON.stringify(mine[at])?.slice(0, 600), "\n theirs", JSON.stringify(theirs?.[at])?.slice(0, 600));
  }
}

function take_database() {
  const copy = join(data, "opencode", "opencode.db");
  cpSync(paths[0], copy);
  ours("import", "opencode", copy);
  return lines(ours("import", "opencode", copy, "--json")).map((one) => one.session);
}

// It goes on with a session in the session's own directory, which is not on this machine.
function move_here(sessions) {
  const files = sessions.map((session) => {
    const file = join(scratch, session + ".json");
    writeFileSync(file, opencode("export", session.slice("opencode.".length)));
    return file;
  });
  rmSync(data, { recursive: true });
  mkdirSync(data);
  for (const file of files) opencode("import", file);
}

try {
  if (mode === "read") {
    for (const session of take_database()) {
      const theirs = exported(session.slice("opencode.".length));
      report(session, isDeepStrictEqual(records(session), theirs), `${theirs.length} messages`);
    }
  } else if (mode === "resume") {
    await serve();
    const sessions = take_database();
    move_here(sessions);
    for (const session of sessions) {
      await compare_resumed(session.slice("opencode.".length), session, "messages");
    }
  } else if (mode === "write") {
    await serve();
    for (const path of paths) {
      const taken = lines(ours("import", path, "--json"));
      for (const { session } of taken) {
        const out = join(scratch, "out", session);
        const written = JSON.parse(ours("export", session, "--to", "opencode", "--out", out, "--json"));
        const file = join(out, readdirSync(out)[0]);
        const imported = spawnSync(binary(), ["import", file], options);
        if (!/Imported session/.test(imported.stdout)) {
          report(session, false, `not imported: ${(imported.stdout + imported.stderr).slice(0, 300)}`);
          continue;
        }
        const document = JSON.parse(readFileSync(file, "utf8"));
        const bare = ({ id, sessionID, messageID, ...rest }) => rest;
        const mine = document.messages.map(({ info, parts }) => ({ info: bare(info), parts: parts.map(bare) }));
        const theirs = exported(document.info.id);
        report(session, isDeepStrictEqual(mine, theirs), `${mine.length} messages, ${written.lost.length} lost`);
      }
    }
  } else {
    throw new Error("read, resume or write");
  }
  console.log(`${same} the same, ${different} different`);
} finally {
  model.close();
  rmSync(scratch, { recursive: true, force: true });
}
