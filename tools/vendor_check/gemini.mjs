// gemini-cli's sessions, as its core loads and resumes them, and finds the directory of a project.
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { importFile } from "./packages.mjs";
import { Teller } from "./quipu.mjs";

// The answer to a call is sent twice.
function told(turns) {
  const teller = new Teller();
  const answered = new Set();
  for (const { content } of turns) {
    const role = content.role === "model" ? "assistant" : content.role;
    for (const part of content.parts) {
      if (part.functionResponse) {
        if (!answered.has(part.functionResponse.id)) teller.result(part.functionResponse.id, output(part.functionResponse.response));
        answered.add(part.functionResponse.id);
      } else if (part.functionCall) {
        teller.call(part.functionCall.id, part.functionCall.name, part.functionCall.args);
      } else if (part.inlineData) {
        teller.file(role, part.inlineData.mimeType);
      } else if (part.text && !part.thought) {
        teller.text(role, part.text);
      }
    }
  }
  return teller.lines();
}

const output = (response) => response?.output ?? response?.error ?? JSON.stringify(response);

// Where an export says whose directory it lies in, the program must look for it there. The
// registry writes: it works on a copy.
async function isFound(ProjectRegistry, file, home) {
  const project = dirname(dirname(file));
  const marker = join(project, ".project_root");
  if (!existsSync(marker)) return true;
  const name = basename(project);
  mkdirSync(join(home, "tmp", name), { recursive: true });
  cpSync(marker, join(home, "tmp", name, ".project_root"));
  const registry = new ProjectRegistry(join(home, "projects.json"), [join(home, "tmp")]);
  await registry.initialize();
  return (await registry.getShortId(readFileSync(marker, "utf8"))) === name;
}

export default {
  agent: "gemini", package: "@google/gemini-cli-core", version: "0.61.0", npm: ["--omit=optional"],

  async load(place, files, scratch) {
    const core = (file) => importFile(place, this.package, join("dist/src", file));
    const { loadConversationRecord } = await core("services/chatRecordingService.js");
    const { convertSessionToClientHistory } = await core("utils/sessionUtils.js");
    const { ProjectRegistry } = await core("config/projectRegistry.js");
    const loaded = [];
    for (const [i, file] of files.entries()) {
      const record = await loadConversationRecord(file).catch(() => null);
      if (!record?.sessionId) loaded.push({ refused: "no session" });
      else if (!(await isFound(ProjectRegistry, file, join(scratch, String(i))))) loaded.push({ refused: "not found by its project" });
      else loaded.push({ said: told(convertSessionToClientHistory(record.messages)) });
    }
    return loaded;
  },

  ours: (quipu, session) => quipu.told(session),
};
