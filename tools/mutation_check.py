#!/usr/bin/env python3
"""Breaks the write path on purpose, one small change at a time, and sees whether a test notices.

    tools/mutation_check.py [--only TEXT] [--scratch DIR] [--list]

The tree is copied; nothing in it is changed. Every call that syncs a file or a directory in src/log
and src/backend/file is removed in turn; the other mutants are written down below. Prints a table
`mutant | caught by` and exits with 1 when one survives, with 2 when one cannot be made any more.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["src/log", "src/backend/file"]
# Calls, not definitions: those stand behind a type or a class.
SYNC = re.compile(r"(?<![\w:.>])(?<!> )(?:\w+(?:->|\.))*sync(?:_dir|_files|_names)?"
                  r"\((?:[^()]|\([^()]*\))*\)")

# Workloads that reach every step of the write path; the whole sweep takes too long for each mutant.
WORKLOADS = ("fresh fresh:create one:append1 one:create one:branch one:migrate one:repair "
             "one:append1,close one:append5,append2 two:append5 two:append5,append2 "
             "legacy:append1,migrate legacy:append5,migrate,append1")
TESTS = [
    ("log_test", {}),
    ("log_files_test", {}),
    ("foreign_line_test", {}),
    ("crash_sweep_test", {"QUIPU_CRASH_WORKLOAD": WORKLOADS}),
    ("fail_call_test", {}),
    ("agent_sweep_test", {}),
    ("store_agent_test", {}),
    ("store_threads_test", {}),
    ("index_damage_test", {"QUIPU_TEST_SCALE": "0.02"}),
    ("kill_loop_test", {"QUIPU_TEST_SCALE": "0.05"}),
]

# name, file, what is there, what is put in its place
WRITTEN = [
    ("skip the chain: any seal is good", "src/log/recover.cc",
     "computed == seal.crc ||", "true || computed == seal.crc ||"),
    ("ignore a short write", "src/fs/fs.cc",
     "    bytes.remove_prefix(written);\n  }\n  return {};",
     "    break;\n  }\n  return {};"),
    ("no quarantine copy", "src/log/quarantine.cc",
     "    TRY(fs::append_all(*file, copy));\n", ""),
    ("no sync before an append", "src/log/writer.cc",
     "if (sync) TRY(sync_earlier());", ""),
    ("publish before the write", "src/log/writer.cc",
     "  if (auto written = fs::append_all(*file_, staging_); !written.ok()) {",
     "  index_->publish(state_);\n"
     "  if (auto written = fs::append_all(*file_, staging_); !written.ok()) {"),
    ("no lock", "src/log/session_lock.cc",
     "TRY_ASSIGN(bool locked, file->try_lock(byte));", "bool locked = true;"),
    ("remaining counts one too many", "src/log/writer.cc",
     "staged_.size() - 1 - i)", "staged_.size() - i)"),
    ("torn tail stays in place", "src/log/writer.cc",
     "  TRY(file_->truncate(state_.committed));\n", ""),
    ("stale lines may pass for new ones", "src/log/recover.cc",
     "    if (pending_.empty()) return true;\n", "    return true;\n"),
    ("an unfinished batch counts", "src/log/recover.cc",
     "      if (segment.complete && intact) {", "      if (intact) {"),
    ("other generation not noticed", "src/log/writer.cc",
     "  if (stat.identity != identity_) return false;\n", ""),
    ("index of another boot believed", "src/log/index.cc",
     "if (newest->boot_id != owner_.boot_id && newest->clean == 0) {", "if (false) {"),
    ("index records not checked", "src/log/index.cc",
     "  if (stored.crc != stored.check(own)) return damaged_index(\"bad record\");\n", ""),
    ("hash slots not checked", "src/log/index.cc",
     "      if (slot != make_slot(own, slot >> 32, at)) return damaged_index(\"bad hash slot\");\n",
     ""),
    ("index not compared with the log", "src/log/writer.cc",
     "  if (!fits || state.fold.base != base) {", "  if (state.fold.base != base) {"),
    ("no look at where a write ended", "src/log/writer.cc",
     "  if (!end.ok() || *end != state_.committed + staging_.size()) return find_written(end, sync);\n",
     ""),
    ("lines that came between are not passed over", "src/log/recover.cc",
     "                passed_over_.is_extended_by(line.text, seal) ||\n", ""),
    ("what another program wrote is taken back", "src/log/writer.cc",
     "  if (!std::string_view(staging_).starts_with(added)) return {};\n", ""),
    ("more is cut off than was copied", "src/log/writer.cc",
     "  if (stat.size != state_.committed + bytes) {", "  if (false) {"),
    ("a failed sync is success", "src/log/writer.cc",
     "      return Error(Code::kDurabilityUnknown, std::move(synced).error().message());\n    }\n"
     "  }\n  dirty_ = true;", "    }\n  }\n  dirty_ = true;"),
    ("goes on after a failed sync", "src/log/writer.cc",
     "  if (refused_) return *refused_;\n", ""),
    ("migration renames without a copy in trash", "src/backend/file/migrate.cc",
     "TRY(fs_->link(*file, beside));", "TRY(fs_->link(*file, beside));\n"
     "    TRY(fs_->rename(beside, paths.log));\n    return {};"),
    ("an attachment is not verified", "src/store/attachments.cc",
     "    if (found != state_->sha256) {", "    if (false) {"),
    ("the writer mixes a tried batch with new entries", "src/store/session_writer.cc",
     "  if (tried > 0) return tried;\n", ""),
    ("the writer's buffer has no limit", "src/store/session_writer.cc",
     "buffer_bytes + size_of(entry) > options.buffer_bytes) TRY(flush());",
     "false) TRY(flush());"),
    ("the writer passes no fence", "src/store/session_writer.cc",
     "  if (!options.fence.empty()) append.fence = options.fence;\n", ""),
    ("the writer hangs on the head", "src/store/session_writer.cc",
     "  if (is_node && entry.parent.is_head() && !last.empty()) entry.parent = Parent::of(last);\n",
     ""),
    ("a run begins without a fence", "src/store/runtime.cc",
     "      append.fence = newest.run_id;\n", ""),
    ("a run ends without a fence", "src/store/runtime.cc",
     "    append.fence = run.run_id;\n", ""),
    ("a message that another took is handed out again", "src/store/runtime.cc",
     "      if (taken->repeated && options.queue_id.empty()) continue;\n", ""),
    ("sdk_cwd is decided without the tail", "src/store/session_facts.cc",
     "    TRY_ASSIGN(append.expected_tail, tail_of(*lineage));\n", ""),
    ("a reset of the context is not seen", "src/store/session_facts.cc",
     "    if (stored.place.type == EntryType::kContextReset) return false;\n", ""),
]


def sync_mutants(tree):
    """One mutant for each call that syncs something, by its place in the text."""
    for folder in FOLDERS:
        for path in sorted((tree / folder).glob("*.cc")):
            text = path.read_text()
            for match in SYNC.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                if text[text.rfind("\n", 0, match.start()) + 1:match.start()].lstrip().startswith("//"):
                    continue
                name = f"no {match.group()}, {path.name}:{line}"
                instead = f"(false ? {match.group()} : Result<void>())"
                mutated = text[:match.start()] + instead + text[match.end():]
                yield name, path, text, mutated


def written_mutants(tree):
    for name, file, old, new in WRITTEN:
        path = tree / file
        text = path.read_text()
        yield name, path, text, text.replace(old, new, 1) if text.count(old) >= 1 else None


def copy_tree(scratch):
    tree = scratch / "tree"
    ignore = shutil.ignore_patterns(".git", "build")
    shutil.copytree(ROOT, tree, ignore=ignore, symlinks=True)
    build = scratch / "build"
    command = ["cmake", "-S", str(tree), "-B", str(build), "-G", "Ninja", "-DQUIPU_DEVELOPER=ON",
               "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS=-Wno-error"]
    if shutil.which("ccache"):
        command.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return tree, build


def build_tests(build):
    targets = [test for test, _ in TESTS]
    done = subprocess.run(["ninja", "-C", str(build), *targets], capture_output=True, text=True)
    return done.returncode == 0, done.stdout[-2000:]


def first_failure(build):
    """The test that notices; nothing when all pass."""
    for test, settings in TESTS:
        environment = {**os.environ, **settings}
        try:
            done = subprocess.run([str(build / "bin" / test)], env=environment, timeout=300,
                                  cwd=build, capture_output=True, text=True, errors="replace")
        except subprocess.TimeoutExpired:
            return f"{test} (hangs)"
        if done.returncode < 0:
            return f"{test} (crash)"
        if done.returncode != 0:
            failed = re.search(r"^\[  FAILED  \] ([\w./]+)", done.stdout, re.M)
            return failed[1] if failed else test
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="mutants whose name contains this")
    parser.add_argument("--scratch", help="where to work; kept afterwards")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.list:
        for name, *_ in [*sync_mutants(ROOT), *written_mutants(ROOT)]:
            print(name)
        return 0
    scratch = pathlib.Path(arguments.scratch or tempfile.mkdtemp(prefix="quipu-mutants-"))
    scratch.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(scratch / "tree", ignore_errors=True)
    tree, build = copy_tree(scratch)
    built, log = build_tests(build)
    if not built:
        print("the tree itself does not build:\n" + log)
        return 2
    broken = first_failure(build)
    if broken:
        print("without any mutant a test fails already: " + broken)
        return 2
    print("| mutant | caught by |\n|---|---|", flush=True)
    survivors, stale = 0, 0
    for name, path, text, mutated in [*sync_mutants(tree), *written_mutants(tree)]:
        if arguments.only not in name:
            continue
        if mutated is None:
            verdict, stale = "**cannot be made: the text has changed**", stale + 1
        else:
            path.write_text(mutated)
            built, log = build_tests(build)
            verdict = first_failure(build) if built else None
            path.write_text(text)
            if not built:
                verdict, stale = "**does not build** " + log[-200:].replace("\n", " "), stale + 1
            elif verdict is None:
                verdict, survivors = "**survives**", survivors + 1
        print(f"| {name} | {verdict} |", flush=True)
    if not arguments.scratch:
        shutil.rmtree(scratch)
    return 1 if survivors else 2 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
