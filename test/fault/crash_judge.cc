#include "fault/crash_judge.h"

#include <algorithm>
#include <string_view>

namespace quipu::fault {
namespace {

using fs::SimDisk;

std::string said(const Error& error) {
  return std::string(name(error.code())) + ": " + error.message();
}

bool is_append(Op op) { return op == Op::kAppend1 || op == Op::kAppend2 || op == Op::kAppend5; }

std::size_t newest_node(const ModelSession& session) {
  for (std::size_t i = session.batches.size(); i > 0; --i) {
    if (session.batches[i - 1].reported) return i;
  }
  return 0;
}

Complaint append(Handle& handle, ModelSession& session, std::size_t batch, bool stored_already) {
  const ModelBatch& wanted = session.batches[batch];
  const auto result = handle.sessions().append_session_entries(session.id, entries_of(wanted));
  if (!result.ok()) return "append of " + wanted.key + " failed: " + said(result.error());
  const std::size_t present = stored_already ? wanted.size : 0;
  if (result->already_present != present || result->appended_count != wanted.size - present) {
    return "append of " + wanted.key + ": wrong counts";
  }
  if (!result->durable) return "append of " + wanted.key + ": not durable";
  session.batches[batch].reported = true;
  return std::nullopt;
}

Complaint make(Handle& handle, ModelSession& session, const InFlight& call, bool there) {
  NewSession wanted;
  wanted.id = session.id;
  ForkOptions fork;
  fork.new_id = session.id;
  const auto made = call.op == Op::kCreate
                        ? handle.sessions().create_session(wanted)
                        : handle.sessions().branch_from_entry(call.from_session, call.from, fork);
  if (there) {
    if (made.ok()) return session.id + " was made a second time";
    if (made.error().code() != Code::kIdConflict) return said(made.error());
    return std::nullopt;
  }
  if (!made.ok()) return "making " + session.id + " failed: " + said(made.error());
  session.reported = true;
  return std::nullopt;
}

Complaint mend(Handle& handle, const ModelSession& session, Op op) {
  if (op == Op::kMigrate) {
    const auto migrated = handle.sessions().migrate_session(session.id);
    if (!migrated.ok()) return "migrate failed: " + said(migrated.error());
    return std::nullopt;
  }
  const auto repaired = handle.sessions().repair_session(session.id);
  if (!repaired.ok()) return "repair failed: " + said(repaired.error());
  if (!repaired->remaining.empty()) return "after repair: " + repaired->remaining.front().kind;
  return std::nullopt;
}

// The session that kMigrate is about; once it is migrated, there is nothing to do.
std::size_t old_session(const Oracle& oracle) {
  for (std::size_t i = 0; i < oracle.sessions.size(); ++i) {
    if (oracle.sessions[i].id == "m") return i;
  }
  return oracle.target;
}

// The entry to fork from may be gone, if nobody was told that it is there.
bool can_repeat(const SimDisk& disk, const Oracle& oracle) {
  const InFlight& call = *oracle.in_flight;
  if (call.op != Op::kBranch) return true;
  if (!disk.read_file("sessions/" + call.from_session + ".jsonl")) return false;
  for (const ModelSession& session : oracle.sessions) {
    if (session.id != call.from_session) continue;
    const auto entries = entries_of(session);
    return std::any_of(entries.begin(), entries.end(),
                       [&](const ModelEntry& entry) { return entry.id == call.from; });
  }
  return false;
}

struct Answers {
  std::string head;
  std::string tail;
  std::uint32_t entries = 0;
  std::vector<std::string> json;
  friend bool operator==(const Answers&, const Answers&) = default;
};

Result<std::vector<Answers>> ask(SessionStore& sessions, const Oracle& oracle) {
  std::vector<Answers> all;
  for (const ModelSession& session : oracle.sessions) {
    const auto about = sessions.describe_session(session.id);
    if (!about.ok()) return about.error();
    auto entries = sessions.load_session_entries(session.id);
    if (!entries.ok()) return std::move(entries).error();
    Answers answers{about->head, about->tail, about->entries, {}};
    for (Entry& entry : *entries) answers.json.push_back(std::move(entry.json));
    all.push_back(std::move(answers));
  }
  return all;
}

Complaint check_without_indexes(SimDisk& disk, Handle& handle, const Oracle& oracle) {
  const auto with = ask(handle.sessions(), oracle);
  if (!with.ok()) return "asking: " + said(with.error());
  handle.drop();
  for (const std::string& path : disk.files()) {
    if (path.ends_with(".idx")) disk.remove_file(path);
  }
  Handle other(99);
  if (const auto opened = other.open(disk.process()); !opened.ok()) return said(opened.error());
  const auto without = ask(other.sessions(), oracle);
  if (!without.ok()) return "asking without index: " + said(without.error());
  if (*with != *without) return "answers change without the index";
  return std::nullopt;
}

std::string after_first_line(const std::string& text) {
  const auto feed = text.find('\n');
  return feed == std::string::npos ? std::string() : text.substr(feed + 1);
}

bool kept_in(const SimDisk& disk, const std::string& now, const std::string& then,
             const std::vector<std::string>& files) {
  if (now.starts_with(then)) return true;
  const auto differ = std::mismatch(now.begin(), now.end(), then.begin(), then.end());
  const auto same = static_cast<std::size_t>(differ.second - then.begin());
  return std::any_of(files.begin(), files.end(), [&](const std::string& path) {
    if (!path.starts_with("quarantine/")) return false;
    const std::string cut = after_first_line(*disk.read_file(path));
    return !cut.empty() && then.ends_with(cut) && then.size() - cut.size() <= same;
  });
}

}  // namespace

Complaint perform(Handle& handle, Oracle& oracle, Op op, const std::string& key) {
  InFlight call{.op = op, .session = oracle.target, .from = {}, .from_session = {}, .batch = {}};
  Complaint wrong;
  if (is_append(op)) {
    ModelSession& target = oracle.sessions[oracle.target];
    call.batch = {.key = key, .size = batch_size(op)};
    target.batches.push_back(call.batch);
    oracle.in_flight = call;
    wrong = append(handle, target, target.batches.size() - 1, false);
  } else if (op == Op::kCreate || op == Op::kBranch) {
    ModelSession made;
    made.id = (op == Op::kCreate ? "c-" : "b-") + key;
    if (op == Op::kBranch) {
      ModelSession upto = oracle.sessions[oracle.target];
      upto.batches.resize(newest_node(upto));
      ModelSession first = oracle.sessions[0];
      first.batches.resize(newest_node(first));
      const ModelSession& source = entries_of(upto).empty() ? first : upto;
      made.base = source.id == upto.id ? entries_of(upto) : entries_of(source);
      if (made.base.empty()) return std::nullopt;  // nothing to fork from
      call.from = made.base.back().id;
      call.from_session = source.id;
    }
    call.session = oracle.sessions.size();
    oracle.sessions.push_back(std::move(made));
    oracle.in_flight = call;
    wrong = make(handle, oracle.sessions.back(), call, false);
    oracle.target = call.session;
  } else {
    if (op == Op::kMigrate) {
      call.session = old_session(oracle);
      oracle.unsealed = true;  // until it is done
    }
    oracle.in_flight = call;
    wrong = mend(handle, oracle.sessions[call.session], op);
    if (op == Op::kMigrate) oracle.target = call.session;
    if (op == Op::kMigrate && !wrong) oracle.unsealed = false;
  }
  if (!wrong) oracle.in_flight.reset();
  return wrong;
}

Complaint branch_newest(Handle& handle, Oracle& oracle, const std::string& key) {
  ModelSession& source = oracle.sessions[oracle.target];
  ModelSession made;
  made.id = "b-" + key;
  made.base = entries_of(source);
  if (made.base.empty()) return std::nullopt;
  const InFlight call{.op = Op::kBranch,
                      .session = oracle.sessions.size(),
                      .from = made.base.back().id,
                      .from_session = source.id,
                      .batch = {}};
  oracle.sessions.push_back(std::move(made));
  oracle.in_flight = call;
  if (auto wrong = make(handle, oracle.sessions.back(), call, false)) return wrong;
  for (ModelBatch& batch : oracle.sessions[oracle.target].batches) batch.reported = true;
  oracle.in_flight.reset();
  return std::nullopt;
}

Keepsakes keep_logs(const SimDisk& disk, const Oracle& oracle) {
  Keepsakes kept;
  if (disk.unsynced_names()) return kept;  // the names themselves may vanish
  for (const ModelSession& session : oracle.sessions) {
    const std::string path = "sessions/" + session.id + ".jsonl";
    if (auto bytes = disk.read_durable(path)) kept.emplace_back(path, std::move(*bytes));
  }
  return kept;
}

Complaint check_kept(const SimDisk& disk, const Keepsakes& keepsakes) {
  std::optional<std::vector<std::string>> files;
  for (const auto& keepsake : keepsakes) {
    const std::string& path = keepsake.first;
    const std::string& then = keepsake.second;
    const auto now = disk.read_file(path);
    if (now && now->starts_with(then)) continue;
    if (!files) files = disk.files();
    if (now && kept_in(disk, *now, then, *files)) continue;
    const bool in_trash = std::any_of(files->begin(), files->end(), [&](const std::string& file) {
      return file.starts_with("trash/") && kept_in(disk, *disk.read_file(file), then, *files);
    });
    if (!in_trash) return "P8: bytes of " + path + " have vanished";
  }
  return std::nullopt;
}

Complaint settle(SessionStore& sessions, Oracle& oracle) {
  for (ModelSession& session : oracle.sessions) {
    const auto found = sessions.load_session_entries(session.id);
    const bool needed = session.reported || newest_node(session) > 0;
    if (!found.ok() && found.error().code() == Code::kNotFound) {
      if (needed) return session.id + " was reported and is lost";
      session.batches.clear();
      continue;
    }
    if (!found.ok()) return "reading " + session.id + ": " + said(found.error());
    std::size_t batches = 0;
    if (auto wrong = compare(session, *found, batches)) return wrong;
    session.batches.resize(batches);
  }
  return std::nullopt;
}

Complaint repeat(Handle& handle, Oracle& oracle, bool is_made) {
  const InFlight call = *oracle.in_flight;
  ModelSession& session = oracle.sessions[call.session];
  Complaint wrong;
  if (is_append(call.op)) {
    const bool there = !session.batches.empty() && session.batches.back().key == call.batch.key;
    if (!there) session.batches.push_back(call.batch);
    wrong = append(handle, session, session.batches.size() - 1, there);
  } else if (call.op == Op::kCreate || call.op == Op::kBranch) {
    wrong = make(handle, session, call, is_made);
    oracle.target = call.session;
  } else {
    wrong = mend(handle, session, call.op);
    if (call.op == Op::kMigrate) {
      oracle.target = call.session;
      oracle.unsealed = false;
    }
  }
  if (wrong) return "repeating " + std::string(name(call.op)) + ": " + *wrong;
  oracle.in_flight.reset();
  return std::nullopt;
}

void forget_lost_session(const SimDisk& disk, Oracle& oracle) {
  while (!oracle.sessions.empty() && !oracle.sessions.back().reported) {
    const bool there =
        disk.read_file("sessions/" + oracle.sessions.back().id + ".jsonl").has_value();
    const bool making = oracle.in_flight && !is_append(oracle.in_flight->op);
    if (making ? can_repeat(disk, oracle) : there) return;
    oracle.in_flight.reset();
    oracle.sessions.pop_back();
    oracle.target = 0;
  }
}

Complaint recover_and_judge(SimDisk& disk, Oracle& oracle, int level, CallObserver* observer) {
  // What is durable here must not vanish; of an image where only processes
  // died, the rest may.
  const Keepsakes kept = keep_logs(disk, oracle);
  Handle handle(static_cast<std::uint64_t>(10 + level));
  std::unique_ptr<fs::Fs> process = disk.process();
  if (observer != nullptr) process = observed(std::move(process), *observer);
  if (const auto opened = handle.open(std::move(process), oracle.sessions.empty()); !opened.ok()) {
    return "opening: " + said(opened.error());
  }
  if (auto wrong = settle(handle.sessions(), oracle)) return wrong;

  forget_lost_session(disk, oracle);
  if (oracle.in_flight) {
    const std::string& id = oracle.sessions[oracle.in_flight->session].id;
    const bool is_made = disk.read_file("sessions/" + id + ".jsonl").has_value();
    if (auto wrong = repeat(handle, oracle, is_made)) return wrong;
  }
  const std::string key = "r" + std::to_string(level);
  if (oracle.sessions.empty()) {
    if (auto wrong = perform(handle, oracle, Op::kCreate, key)) return wrong;
  }
  if (auto wrong = perform(handle, oracle, Op::kAppend2, key)) return "afterwards: " + *wrong;

  const std::uint64_t before = oracle.digest();
  if (auto wrong = settle(handle.sessions(), oracle)) return "afterwards: " + *wrong;
  if (oracle.digest() != before) return "afterwards: a batch is missing";
  for (const ModelSession& session : oracle.sessions) {
    const auto report = handle.sessions().verify_session(session.id);
    if (!report.ok()) return "verify: " + said(report.error());
    if (!report->problems.empty()) {
      const Problem& problem = report->problems.front();
      // Only the session that was appended to has been mended.
      const bool mended = session.id == oracle.sessions[oracle.target].id;
      if (!mended && (problem.kind == "torn_tail" || problem.kind == "bad_index")) continue;
      return "verify: " + session.id + ": " + problem.kind + " " + problem.detail;
    }
  }
  if (auto wrong = check_kept(disk, kept)) return wrong;
  return check_without_indexes(disk, handle, oracle);
}

}  // namespace quipu::fault
