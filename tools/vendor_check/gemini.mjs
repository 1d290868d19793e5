// What gemini-cli makes of session files when it resumes, as JSON on standard output.
//
//   npm install --omit=optional @google/gemini-cli-core@0.61.0   (in a scratch directory)
//   cd SCRATCH && node PROJECT/tools/vendor_check/gemini.mjs DIRECTORY…  > oracle.json
//   QUIPU_GEMINI_ORACLE=oracle.json build/dev/bin/gemini_test --gtest_filter=GeminiVendor.*
//
// Every session below a DIRECTORY is loaded by the program's own functions. Where a
// DIRECTORY has a `tmp` with `.project_root` files in it, as an export does, the program's
// registry of projects is asked for the directory of each, too: it must be the same.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(path.join(process.cwd(), "package.json"));
const core = path.dirname(require.resolve("@google/gemini-cli-core/package.json"));
const load = (file) => import(pathToFileURL(path.join(core, "dist/src", file)).href);
const { loadConversationRecord } = await load("services/chatRecordingService.js");
const { convertSessionToClientHistory } = await load("utils/sessionUtils.js");
const { ProjectRegistry } = await load("config/projectRegistry.js");

function* files(at) {
  if (!fs.statSync(at).isDirectory()) return yield at;
  for (const name of fs.readdirSync(at).sort()) yield* files(path.join(at, name));
}

// One line for everything that is said; what was thought is told apart in our own way.
function* lines(turn) {
  for (const part of turn.content.parts) {
    if (part.thought) continue;
    if (part.functionCall) {
      yield `call ${part.functionCall.id} ${part.functionCall.name}`;
    } else if (part.functionResponse) {
      const { id, response } = part.functionResponse;
      yield `result ${id} ${response?.output ?? response?.error ?? JSON.stringify(response)}`;
    } else if (part.text) {
      yield `${turn.content.role} ${part.text}`;
    } else if (part.inlineData) {
      yield `${turn.content.role} ${part.inlineData.mimeType}`;
    }
  }
}

async function session(file) {
  const record = await loadConversationRecord(file);
  if (!record?.sessionId) return null;
  const said = convertSessionToClientHistory(record.messages).flatMap((turn) => [...lines(turn)]);
  return {
    path: path.resolve(file), session: record.sessionId, summary: record.summary ?? "",
    resumable: Boolean(record.hasResumableContent), said,
  };
}

// The registry writes: it works on a copy.
async function projects(place) {
  if (!fs.existsSync(path.join(place, "tmp"))) return [];
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "gemini-check-"));
  try {
    fs.cpSync(path.join(place, "tmp"), path.join(home, "tmp"), { recursive: true });
    const registry = new ProjectRegistry(path.join(home, "projects.json"), [path.join(home, "tmp")]);
    await registry.initialize();
    const found = [];
    for (const name of fs.readdirSync(path.join(home, "tmp")).sort()) {
      const marker = path.join(home, "tmp", name, ".project_root");
      if (!fs.existsSync(marker)) continue;
      const root = fs.readFileSync(marker, "utf8");
      found.push({ directory: name, given: await registry.getShortId(root) });
    }
    return found;
  } finally {
    fs.rmSync(home, { recursive: true, force: true });
  }
}

const sessions = [];
const directories = [];
for (const place of process.argv.slice(2)) {
  for (const file of files(place)) {
    if (!/\.jsonl?$/.test(file) || /checkpoint-|logs\.json$/.test(file)) continue;
    const one = await session(file);
    if (one) sessions.push(one);
  }
  directories.push(...(await projects(place)));
}
console.log(JSON.stringify({ sessions, directories }));
