// The program `quipu`, and the form in which conversations are compared: a list of lines.
//
//   user hello                    what somebody says; adjacent texts of one speaker are one
//   call read {"path":"a"}        a call of a tool, members of its input in alphabetic order
//   result some text              what came of it
//   user image/png                what is no text, by its type
//
// A result stands behind its call, whenever it came. Ids are left out, for agents rename them;
// so are instructions, which every agent gives in its own way, and thinking.
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";

const kOutputMax = 1 << 30;
// What stands in a request where a tool gave nothing.
const kNoOutput = "(no output)";
// And where a call was never answered: we, and opencode. Others say it otherwise, or not at all.
const kNoResults = ["result [No result: the call was interrupted.]", "result Tool execution aborted"];

export class Quipu {
  /// `store` is made; `program` is only ever told of that one.
  constructor(program, store) {
    this.program = program;
    this.store = store;
    mkdirSync(store, { recursive: true });
    this.run("init");
  }

  run(...args) {
    const { QUIPU_STORE, ...env } = process.env;
    return execFileSync(this.program, ["--store", this.store, ...args],
                        { encoding: "utf8", maxBuffer: kOutputMax, env, stdio: ["ignore", "pipe", "pipe"] });
  }

  lines(...args) {
    return this.run(...args).split("\n").filter(Boolean).map((line) => JSON.parse(line));
  }

  /// [{source, agent, session, …}]
  import(...paths) {
    return this.lines("import", ...paths, "--json");
  }

  /// {files, lost}: written anew, also for the agent that it came from.
  export(session, agent, out) {
    return JSON.parse(this.run("export", session, "--to", agent, "--out", out, "--normalise", "--json"));
  }

  /// Every entry, by its id.
  entries(session) {
    return new Map(this.lines("cat", session).map((entry) => [entry.id, entry]));
  }

  /// The entries that the conversation is made of by the rules of the agent that wrote it,
  /// each once.
  conversation(session) {
    const entries = this.entries(session);
    const { explain } = JSON.parse(this.run("context", session, "--explain", "--json"));
    return [...new Set(explain.entries.map((note) => note.entryId))].map((id) => entries.get(id));
  }

  /// The request for `provider`; ends with whoever spoke last.
  context(session, provider = "quipu") {
    return JSON.parse(this.run("context", session, "--provider", provider, "--open-ended"));
  }

  /// What the session says, as lines.
  told(session) {
    const teller = new Teller();
    for (const { role, content } of this.context(session).messages) {
      for (const part of content) tell(teller, role, part);
    }
    return teller.lines().filter((line) => !kNoResults.includes(line));
  }
}

/// The same object with its members in alphabetic order, all the way down.
export function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}

/// Collects what is said. Line ends and blanks around a text, and how often a line is
/// broken, are the agents' own ways of joining texts.
export class Teller {
  #told = [];

  text(role, text) {
    text = text.replace(kInstructions, "").trim();
    if (!text) return;
    const last = this.#told.at(-1);
    if (last?.role === role) last.text += "\n" + text;
    else this.#told.push({ role, text });
  }

  /// Where the input of a tool is a text, agents whose inputs are objects have it as a member.
  call(id, name, input) {
    const [member, ...more] = Object.entries(typeof input === "string" ? { raw: input } : input ?? {});
    const isText = member && more.length === 0 && ["input", "raw"].includes(member[0]) && typeof member[1] === "string";
    this.#told.push({ id, line: `call ${name} ${isText ? member[1] : JSON.stringify(sorted(input ?? {}))}`, results: [] });
  }

  result(id, text) {
    const call = this.#told.findLast((one) => one.results && one.id === id);
    const line = `result ${text === kNoOutput ? "" : clean(text)}`;
    if (call) call.results.push(line);
    else this.#told.push({ line });
  }

  file(role, type) {
    this.#told.push({ line: `${role} ${type}` });
  }

  lines() {
    return this.#told.flatMap(({ line, role, text, results = [] }) => [line ?? `${role} ${clean(text)}`, ...results]);
  }
}

const clean = (text) => text.trim().replace(/\s*\n\s*/g, "\n");
const kInstructions = /<(system|system-reminder)>[^]*?<\/\1>/g;

/// A part of a canonical message.
function tell(teller, role, part) {
  if (part.type === "text") teller.text(role, part.text);
  else if (part.type === "tool_use") teller.call(part.id, part.name, part.rawInput ?? part.input);
  else if (part.type === "tool_result") teller.result(part.toolUseId, texts(part.content));
  else if (part.type === "attachment" || part.type === "image") teller.file(role, part.mediaType ?? part.type);
}

/// The text of a string or of a list of parts.
export function texts(content) {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? part.mimeType ?? part.mediaType ?? "").join("\n");
}
