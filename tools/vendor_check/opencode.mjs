// opencode's sessions, as it imports, lists and exports them.
//
// A message is compared as a whole with its parts, without the ids.
import { execFileSync } from "node:child_process";
import { closeSync, copyFileSync, mkdirSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sorted } from "./quipu.mjs";

class Opencode {
  constructor(place, home) {
    const packages = join(place, "node_modules");
    const name = readdirSync(packages).find((one) => one.startsWith("opencode-") && one !== "opencode-ai");
    if (!name) throw new Error(`no opencode for this machine in ${place}`);
    this.program = join(packages, name, "bin", "opencode");
    this.home = home;
    this.database = join(home, "data", "opencode", "opencode.db");
    mkdirSync(join(home, "data", "opencode"), { recursive: true });
    mkdirSync(join(home, "project"));
  }

  // Into a file: what it writes into a pipe it does not always write to the end.
  run(...args) {
    const file = join(this.home, "answer");
    const answer = openSync(file, "w");
    try {
      execFileSync(this.program, args, { cwd: join(this.home, "project"), stdio: ["ignore", answer, "ignore"], env: {
        ...process.env, HOME: this.home, XDG_DATA_HOME: join(this.home, "data"), XDG_CONFIG_HOME: join(this.home, "config"),
        XDG_CACHE_HOME: join(this.home, "cache"), XDG_STATE_HOME: join(this.home, "state"), OPENCODE_DISABLE_AUTOUPDATE: "1" } });
    } finally {
      closeSync(answer);
    }
    return readFileSync(file, "utf8");
  }

  exported(session) {
    return { said: JSON.parse(this.run("export", session)).messages.map(line) };
  }
}

const bare = ({ id, sessionID, messageID, ...rest }) => rest;
const line = ({ info, parts }) => JSON.stringify(sorted({ info: bare(info), parts: parts.map(bare) }));

// One of a database, `<path>#<session>`, or a document that is imported.
function load(opencodeIn, file) {
  const [database, session] = file.split(".db#");
  try {
    if (session) {
      const opencode = opencodeIn(session);
      copyFileSync(database + ".db", opencode.database);
      return opencode.exported(session);
    }
    const opencode = opencodeIn("documents");
    const { id } = JSON.parse(readFileSync(file, "utf8")).info;
    const answer = opencode.run("import", file);
    return /Imported session/.test(answer) ? opencode.exported(id) : { refused: `not imported: ${answer}` };
  } catch (error) {
    return { refused: error.message };
  }
}

export default {
  agent: "opencode", package: "opencode-ai", version: "1.18.33", npm: [],
  // It takes seconds for each: exports of so many sessions of each agent.
  sample: 4,

  async load(place, files, scratch) {
    const homes = new Map();
    const opencodeIn = (name) => {
      if (!homes.has(name)) homes.set(name, new Opencode(place, join(scratch, name)));
      return homes.get(name);
    };
    return files.map((file) => load(opencodeIn, file));
  },

  // A message of a document has its parts within; in a database they are rows.
  ours(quipu, session) {
    const messages = new Map();
    for (const { id, type, payload } of quipu.entries(session).values()) {
      if (type === "opencode.message") {
        messages.set(id, payload.raw ? JSON.parse(payload.raw) : payload.info ? payload : { info: payload.data, parts: [] });
      } else if (type === "fact.opencode.part") {
        messages.get(payload.message_id).parts.push(payload.data);
      }
    }
    return [...messages.values()].map(line);
  },
};
