// What Codex itself makes of rollouts: its sessions, their turns, and with --resume the input
// that it would send to a model.
//
//   npm install --prefix DIR @openai/codex
//   node codex.mjs DIR HOME [--resume]
//
// HOME is a CODEX_HOME whose sessions/ holds the rollouts; Codex writes its databases there, and
// with --resume goes on with them: give it a copy. Prints one JSON object:
//
//   {"<thread id>": {"preview": …, "turns": [[{"type": …, "text": sha256}]], "input": [ … ]}}
//
// --raw adds the input as it was sent.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [place, home, ...flags] = process.argv.slice(2);
const resumes = flags.includes("--resume");
const digest = (value) =>
  createHash("sha256").update(typeof value === "string" ? value : JSON.stringify(value ?? null)).digest("hex").slice(0, 16);

function binary() {
  const packages = join(place, "node_modules", "@openai");
  for (const name of readdirSync(packages)) {
    if (!name.startsWith("codex-")) continue;
    const vendor = join(packages, name, "vendor");
    for (const target of readdirSync(vendor)) return join(vendor, target, "bin", "codex");
  }
  throw new Error(`no Codex in ${place}`);
}

// A model that says "ok" and keeps what it was asked.
let asked = null;
const model = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += chunk));
  request.on("end", () => {
    if (request.method !== "POST") return response.writeHead(404).end();
    asked = JSON.parse(body);
    const item = { type: "message", role: "assistant", id: "msg_ok", content: [{ type: "output_text", text: "ok" }] };
    const usage = { input_tokens: 100, input_tokens_details: { cached_tokens: 0 }, output_tokens: 20,
                    output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 120 };
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of [
      { type: "response.created", response: { id: "resp" } },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { id: "resp", usage } },
    ]) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  });
});
await new Promise((done) => model.listen(0, "127.0.0.1", done));
writeFileSync(join(home, "config.toml"), `model = "gpt-5.1-codex"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.mock]
name = "mock"
base_url = "http://127.0.0.1:${model.address().port}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`);

const server = spawn(binary(), ["app-server"], {
  env: { ...process.env, CODEX_HOME: home }, stdio: ["pipe", "pipe", "ignore"] });
const waiting = new Map();
let finished = () => {};
createInterface({ input: server.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.method === "turn/completed") finished(message.params);
  if (!waiting.has(message.id) || message.method) return;
  waiting.get(message.id)(message);
  waiting.delete(message.id);
});
let last = 0;
const call = (method, params) => new Promise((done) => {
  waiting.set(++last, done);
  server.stdin.write(JSON.stringify({ id: last, method, params }) + "\n");
});

const shown = (item) => ({ type: item.type, role: item.role, call: item.call_id, text: digest(
  item.text ?? item.arguments ?? item.output ?? item.input ?? item.encrypted_content ??
  (Array.isArray(item.content) ? item.content.map((part) => part.text ?? part.image_url ?? part.url ?? "").join("") : item)) });

await call("initialize", { clientInfo: { name: "vendor_check", version: "1" } });
server.stdin.write(JSON.stringify({ method: "initialized" }) + "\n");
const sessions = {};
for (let cursor = null; ;) {
  const { result, error } = await call("thread/list", { limit: 100, cursor, modelProviders: [],
    sourceKinds: ["cli", "vscode", "exec", "appServer", "subAgent", "unknown"] });
  if (error) throw new Error(JSON.stringify(error));
  for (const thread of result.data) {
    const session = (sessions[thread.id] = { preview: thread.preview, path: thread.path });
    const read = await call("thread/read", { threadId: thread.id, includeTurns: true });
    if (read.error) session.error = read.error.message;
    else session.turns = read.result.thread.turns.map((turn) => turn.items.map(shown));
    if (!resumes) continue;
    asked = null;
    const resumed = await call("thread/resume", { threadId: thread.id, modelProvider: "mock" });
    if (resumed.error) { session.error = resumed.error.message; continue; }
    const ended = new Promise((done) => { finished = done; setTimeout(done, 20000, null).unref(); });
    const turn = await call("turn/start", { threadId: thread.id, input: [{ type: "text", text: "vendor check", text_elements: [] }] });
    if (turn.error) { session.error = turn.error.message; continue; }
    await ended;
    session.input = asked?.input.map(shown);
    if (flags.includes("--raw")) session.raw = asked?.input;
  }
  cursor = result.nextCursor;
  if (!cursor) break;
}
console.log(JSON.stringify(sessions, null, 1));
server.kill();
model.close();
