// The agents' own loaders against Quipu: what they make of the corpora, and of our exports.
//
//   node run.mjs QUIPU CORPORA PACKAGES [AGENT…]
//
// Three comparisons for each agent; a session is the same when every line is:
//
//   read      each of its files in CORPORA: what it loads, and what `quipu` does
//   written   each session in CORPORA, exported to it: it lists and loads the file as `quipu` does
//   carried   the same file imported again says what the session says that it was made from
//
// Writes differences as they are found and a table at the end. Exit code 1 when anything
// differs or could not be compared but what is expected to (expected.mjs), or when that no
// longer does. Everything happens in a directory that is removed.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expected } from "./expected.mjs";
import { install } from "./packages.mjs";
import { Quipu } from "./quipu.mjs";
import claude from "./claude.mjs";
import codex from "./codex.mjs";
import gemini from "./gemini.mjs";
import opencode from "./opencode.mjs";
import pi from "./pi.mjs";

const [program, corpora, packages, ...only] = process.argv.slice(2);
if (!packages) {
  console.error("usage: node run.mjs QUIPU CORPORA PACKAGES [AGENT…]");
  process.exit(2);
}
const quipu_path = resolve(program);
const places = resolve(packages);

class Tally {
  constructor(agent, what) {
    Object.assign(this, { agent, what, same: 0, differ: 0, refused: 0, reported: 0, unexpected: 0 });
    this.open = new Set([...expected.keys()].filter((name) => name.startsWith(`${agent} ${what}: `)));
  }

  // `ours` is asked only for what they load.
  compare(name, theirs, ours) {
    if (theirs.refused !== undefined) return this.refuse(name, theirs.refused);
    const mine = ours();
    const at = Math.max(mine.length, theirs.said.length);
    const first = [...Array(at).keys()].find((i) => mine[i] !== theirs.said[i]);
    if (first === undefined) return ++this.same;
    ++this.differ;
    const shown = (line) => (line === undefined ? "(nothing)" : JSON.stringify(line.slice(0, 300)));
    this.#tell(name, `differs in line ${first + 1} of ${mine.length} and ${theirs.said.length}\n` +
                     `  quipu ${shown(mine[first])}\n  agent ${shown(theirs.said[first])}`);
  }

  refuse(name, why) {
    ++this.refused;
    this.#tell(name, why);
  }

  // What is expected to differ and is the same is no longer right to expect.
  finish() {
    for (const name of this.open) console.error(`${name}: expected to differ, and does not`);
    this.unexpected += this.open.size;
    return this;
  }

  #tell(name, what) {
    const full = `${this.agent} ${this.what}: ${name}`;
    const is_expected = this.open.delete(full);
    if (!is_expected) ++this.unexpected;
    console.error(`${full}: ${what}${is_expected ? `\n  expected: ${expected.get(full)}` : ""}`);
  }
}

// Errors of a program are what it wrote.
const reason = (error) => String(error.stderr || error.message).trim().split("\n").slice(0, 2).join(" ").slice(0, 300);

async function read(vendor, place, store, sources, scratch) {
  const tally = new Tally(vendor.agent, "read");
  const loaded = await vendor.load(place, sources.map((one) => one.source), join(scratch, "read"));
  sources.forEach(({ source, session }, i) => {
    tally.compare(source.slice(resolve(corpora).length + 1), loaded[i], () => vendor.ours(store, session));
  });
  return tally.finish();
}

// The first `count` of each agent; all without.
function chosen(sources, count = Infinity) {
  const taken = new Map();
  return sources.filter(({ agent }) => {
    taken.set(agent, (taken.get(agent) ?? 0) + 1);
    return taken.get(agent) <= count;
  });
}

async function write(vendor, place, store, sources, scratch) {
  const written = new Tally(vendor.agent, "written");
  const carried = new Tally(vendor.agent, "carried");
  const exported = [];
  for (const [i, { session }] of chosen(sources, vendor.sample).entries()) {
    const told = store.told(session);
    if (!told.some((line) => line.startsWith("user "))) continue;  // nobody lists what nobody began
    try {
      exported.push({ session, told, ...store.export(session, vendor.agent, join(scratch, "out", String(i))) });
    } catch (error) {
      written.refuse(session, reason(error));
    }
  }
  const loaded = await vendor.load(place, exported.map((one) => one.files[0]), join(scratch, "written"));
  exported.forEach(({ session, told, files, lost }, i) => {
    const again = new Quipu(quipu_path, join(scratch, "again", String(i)));
    const [taken] = again.import(files[0]);
    if (!taken) return written.refuse(session, "quipu does not recognise what it wrote");
    written.compare(session, loaded[i], () => vendor.ours(again, taken.session));
    if (lost.some(({ what }) => what === "prompt")) ++carried.reported;
    else carried.compare(session, { said: again.told(taken.session) }, () => told);
  });
  return [written.finish(), carried.finish()];
}

async function check(vendor, place, store, sources, scratch) {
  const own = sources.filter((one) => one.agent === vendor.agent);
  return [await read(vendor, place, store, own, scratch), ...(await write(vendor, place, store, sources, scratch))];
}

function table(rows) {
  const lines = ["| agent | package | compared | sessions | the same | differ | not loaded | loss reported |", "|---|---|---|---|---|---|---|---|"];
  for (const { vendor, tallies, problem } of rows) {
    const head = `| \`${vendor.agent}\` | ${vendor.package} ${vendor.version}`;
    if (problem) lines.push(`${head} | not compared: ${problem.replaceAll("|", "/")} | | | | | |`);
    for (const { what, same, differ, refused, reported } of tallies) {
      lines.push(`${head} | ${what} | ${same + differ + refused + reported} | ${same} | ${differ} | ${refused} | ${reported} |`);
    }
  }
  return lines.join("\n");
}

/// A problem is written down, and the run goes on.
async function attempt(row, work) {
  if (row.problem) return;
  try {
    await work();
  } catch (error) {
    row.problem = reason(error);
    console.error(error);
  }
}

const scratch = mkdtempSync(join(tmpdir(), "vendor-check-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

const rows = [claude, codex, gemini, opencode, pi]
  .filter((vendor) => only.length === 0 || only.includes(vendor.agent))
  .map((vendor) => ({ vendor, tallies: [] }));
for (const row of rows) await attempt(row, () => (row.place = install(row.vendor, places)));
process.env.HOME = scratch;  // whatever a loader looks for there, it is not the user's
const store = new Quipu(quipu_path, join(scratch, "store"));
const sources = store.import(resolve(corpora)).sort((a, b) => (a.source < b.source ? -1 : 1));
for (const row of rows) {
  const home = join(scratch, row.vendor.agent);
  mkdirSync(home);
  await attempt(row, async () => (row.tallies = await check(row.vendor, row.place, store, sources, home)));
}
console.log(table(rows));
// Nothing is no agreement.
const agrees = ({ tallies, problem }) => !problem && tallies.every(({ same, unexpected }) => same > 0 && unexpected === 0);
process.exitCode = rows.every(agrees) ? 0 : 1;
