// Codex's rollouts, as its app-server lists and reads them, and what it sends to a model when
// it goes on with them.
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Teller, texts } from "./quipu.mjs";

const kPrompt = "vendor check";
const kTurnMs = 10000;
// What it sends for a call that was never answered.
const kNoResult = "result aborted";

function binary(place) {
  const packages = join(place, "node_modules", "@openai");
  const name = readdirSync(packages).find((one) => one.startsWith("codex-"));
  if (!name) throw new Error(`no Codex for this machine in ${place}`);
  const vendor = join(packages, name, "vendor");
  return join(vendor, readdirSync(vendor)[0], "bin", "codex");
}

// A model that says "ok" and keeps what it was asked.
class Model {
  asked = null;
  #server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => (request.method === "POST" ? this.#answer(JSON.parse(body), response) : response.writeHead(404).end()));
  });

  async listen() {
    await new Promise((done) => this.#server.listen(0, "127.0.0.1", done));
    return this.#server.address().port;
  }

  close() {
    this.#server.close();
  }

  #answer(request, response) {
    this.asked = request;
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
  }
}

// Without the limit, outputs of tools are shortened when they are sent.
const configuration = (port) => `model = "gpt-5.1-codex"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "danger-full-access"
tool_output_token_limit = 100000000
[model_providers.mock]
name = "mock"
base_url = "http://127.0.0.1:${port}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`;

// JSON-RPC, a line a message.
class AppServer {
  #waiting = new Map();
  #last = 0;
  #completed = () => {};

  constructor(program, home) {
    this.process = spawn(program, ["app-server"], { env: { ...process.env, HOME: home, CODEX_HOME: home }, stdio: ["pipe", "pipe", "ignore"] });
    createInterface({ input: this.process.stdout }).on("line", (line) => this.#take(JSON.parse(line)));
    this.ended = new Promise((done) => this.process.once("exit", done).once("error", done)).then(() => {
      for (const answer of this.#waiting.values()) answer({ error: { message: "the app-server has ended" } });
    });
  }

  #take(message) {
    if (message.method === "turn/completed") this.#completed();
    if (message.method || !this.#waiting.has(message.id)) return;
    this.#waiting.get(message.id)(message);
    this.#waiting.delete(message.id);
  }

  async call(method, params) {
    const answer = new Promise((done) => this.#waiting.set(++this.#last, done));
    this.process.stdin.write(JSON.stringify({ id: this.#last, method, params }) + "\n");
    const { result, error } = await answer;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  async begin() {
    await this.call("initialize", { clientInfo: { name: "vendor_check", version: "1" } });
    this.process.stdin.write(JSON.stringify({ method: "initialized" }) + "\n");
  }

  async threads() {
    const found = [];
    for (let cursor = null; ;) {
      const { data, nextCursor } = await this.call("thread/list", { limit: 100, cursor, modelProviders: [],
        sourceKinds: ["cli", "vscode", "exec", "appServer", "subAgent", "unknown"] });
      found.push(...data);
      if (!(cursor = nextCursor)) return found;
    }
  }

  async turn(threadId) {
    const ended = new Promise((done) => {
      this.#completed = done;
      setTimeout(done, kTurnMs).unref();
    });
    await this.call("turn/start", { threadId, input: [{ type: "text", text: kPrompt, text_elements: [] }] });
    await ended;
  }
}

// Before a prompt Codex says anew where it is: that is not in the rollout.
const isSurroundings = ({ type, role, content }) =>
  type === "message" && (role === "developer" || (role === "user" && /^(<environment_context>|# AGENTS\.md)/.test(texts(content))));

function told(input) {
  const items = [...input];
  items.pop();
  while (items.length > 0 && isSurroundings(items.at(-1))) items.pop();
  const teller = new Teller();
  for (const item of items) {
    if (item.type === "message" && item.role !== "developer") tell(teller, item);
    else if (item.type === "function_call") teller.call(item.call_id, item.name, parsed(item.arguments));
    else if (item.type === "custom_tool_call") teller.call(item.call_id, item.name, item.input);
    else if (item.type?.endsWith("_call_output")) teller.result(item.call_id, texts(item.output));
  }
  return teller.lines().filter((line) => line !== kNoResult);
}

function tell(teller, { role, content }) {
  for (const part of content) {
    if (part.type === "input_image") teller.file(role, /^data:([^;]*)/.exec(part.image_url)?.[1] ?? "image");
    else teller.text(role, part.text ?? "");
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

// A thread is listed, read, and gone on with.
async function resume(server, model, thread) {
  await server.call("thread/read", { threadId: thread.id, includeTurns: true });
  await server.call("thread/resume", { threadId: thread.id, modelProvider: "mock" });
  model.asked = null;
  await server.turn(thread.id);
  if (!model.asked) throw new Error("nothing was sent");
  return { said: told(model.asked.input) };
}

async function loadHome(program, home, threads) {
  const model = new Model();
  writeFileSync(join(home, "config.toml"), configuration(await model.listen()));
  const server = new AppServer(program, home);
  try {
    await server.begin();
    const listed = new Map((await server.threads()).map((thread) => [thread.id, thread]));
    const loaded = new Map();
    for (const thread of threads) {
      loaded.set(thread, !listed.has(thread) ? { refused: "not listed" }
        : await resume(server, model, listed.get(thread)).catch((error) => ({ refused: error.message })));
    }
    return loaded;
  } finally {
    server.process.kill();
    await server.ended;
    model.close();
  }
}

// Places a copy below `home`, by what its first line says; Codex reads no file without. A
// thread goes on with the provider that it has; Codex's own, which is elsewhere, becomes ours.
function put(bytes, header, home) {
  const [day, time] = header.payload.timestamp.slice(0, 19).split("T");
  const folder = join(home, "sessions", ...day.split("-"));
  const { model_provider = "openai" } = header.payload;
  const payload = { ...header.payload, model_provider: model_provider === "openai" ? "mock" : model_provider };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `rollout-${day}T${time.replaceAll(":", "-")}-${payload.id}.jsonl`),
                JSON.stringify({ ...header, payload }) + bytes.slice(bytes.indexOf("\n")));
}

function headerIn(bytes) {
  const header = parsed(bytes.split("\n", 1)[0]);
  const { id, timestamp } = header.payload ?? {};
  return typeof id === "string" && typeof timestamp === "string" ? header : null;
}

export default {
  agent: "codex", package: "@openai/codex", version: "0.166.0", npm: [],

  // Threads of one id are in homes of their own.
  async load(place, files, scratch) {
    const homes = [];
    for (const [i, file] of files.entries()) {
      const bytes = readFileSync(file, "utf8");
      const header = headerIn(bytes);
      if (!header) continue;
      const { id } = header.payload;
      let home = homes.find((one) => !one.threads.has(id));
      if (!home) homes.push((home = { path: join(scratch, String(homes.length)), threads: new Map() }));
      home.threads.set(id, i);
      put(bytes, header, home.path);
    }
    const loaded = files.map(() => ({ refused: "a file without header" }));
    for (const { path, threads } of homes) {
      for (const [thread, said] of await loadHome(binary(place), path, threads.keys())) loaded[threads.get(thread)] = said;
    }
    return loaded;
  },

  ours: (quipu, session) => quipu.told(session),
};
