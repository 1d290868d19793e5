#include "log/inspect.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/try.h"
#include "log/seal.h"

namespace quipu::log {
namespace {

// A whole log, read without its lock: what is settled is mapped, the rest, which
// a writer may cut off at any moment, is copied.
struct WholeLog {
  fs::Stat stat;
  fs::Mapping mapping;
  std::string_view settled;
  std::string rest;
  std::string chain_id;

  std::string_view line(const IndexEntry& entry) const {
    return settled.substr(entry.offset, entry.bytes);
  }
};

Result<WholeLog> read_log(fs::Fs& fs, const LogPaths& paths) {
  WholeLog log;
  TRY_ASSIGN(const auto file, fs.open(paths.log, fs::OpenMode::kRead));
  TRY_ASSIGN(log.stat, file->stat());
  TRY_ASSIGN(const std::string first, first_line(*file, log.stat.size));
  log.chain_id = chain_session_id(first, paths.session_id);
  TRY_ASSIGN(const std::uint64_t size, settled_length(*file, 0, log.stat.size));
  TRY_ASSIGN(log.mapping, file->map(0, std::max<std::uint64_t>(size, 1), fs::MapMode::kRead));
  log.settled = {reinterpret_cast<const char*>(log.mapping.data()), size};
  TRY_ASSIGN(log.rest, fs::read_up_to(*file, size, static_cast<std::size_t>(log.stat.size - size)));
  return log;
}

std::string_view kind_name(DamageKind kind) {
  return kind == DamageKind::kDamagedLine ? "damaged_line" : "incomplete_batch";
}

// Folds the log anew and keeps what a builder forgets.
class Verifier : public LineSink {
 public:
  Verifier(const WholeLog& log, const Inherited* inherited, SipKey key)
      : index_(Index::in_memory(key)),
        builder_(*index_, state_, inherited, [&log](const IndexEntry& entry) {
          return Result<std::string_view>(log.line(entry));
        }) {
    state_.fold = fold_start(inherited ? inherited->count() : 0);
    state_.chain = chain_seed(log.chain_id);
  }

  void accept(const Line& line) override {
    const bool repeated = line.sealed && builder_.knows(line.text);
    builder_.accept(line);
    ++(line.sealed ? report_.sealed : report_.adopted);
    if (repeated) add("duplicate_id", line, "an earlier entry has the same id");
    const auto entry = index_->entry(state_.fold.count - 1);
    if (!entry.ok()) return;
    const EntryType type = entry->place.type;
    if (entry->place.orphan) add("unknown_parent", line, "its parent is not in the session");
    if (type == EntryType::kHead && entry->place.parent == kNone) {
      add("unknown_head", line, "the head it sets is not in the session");
    }
  }

  void damaged(const Damage& damage) override {
    builder_.damaged(damage);
    report_.problems.push_back({.kind = std::string(kind_name(damage.kind)),
                                .offset = damage.offset,
                                .bytes = damage.bytes,
                                .detail = "hidden from reads"});
  }

  bool knows(std::string_view line) override { return builder_.knows(line); }

  void add(std::string kind, const Line& line, std::string detail) {
    report_.problems.push_back({.kind = std::move(kind),
                                .offset = line.offset,
                                .bytes = line.text.size() + 1,
                                .detail = std::move(detail)});
  }

  Index& index() { return *index_; }
  IndexState& state() { return state_; }
  VerifyReport& report() { return report_; }
  const std::optional<Error>& failure() const { return builder_.failure(); }

 private:
  std::shared_ptr<Index> index_;
  IndexState state_;
  IndexBuilder builder_;
  VerifyReport report_;
};

bool same_entry(const IndexEntry& a, const IndexEntry& b) {
  return a.offset == b.offset && a.bytes == b.bytes && a.adopted == b.adopted &&
         a.renamed == b.renamed && a.place.parent == b.place.parent &&
         a.place.depth == b.place.depth && a.place.type == b.place.type &&
         a.place.orphan == b.place.orphan;
}

// What the index file says, against what the log says. Nothing: they agree, or
// there is no index that anybody would believe.
Result<std::optional<std::string>> compare_index(const Index& stored, Verifier& verifier,
                                                 const WholeLog& log) {
  TRY_ASSIGN(const IndexState state, stored.published());
  if (state.committed > verifier.state().committed ||
      state.fold.count > verifier.state().fold.count) {
    return std::optional<std::string>("it has more than the log");
  }
  const LineText text = [&log](const IndexEntry& entry) -> Result<std::string_view> {
    return log.line(entry);
  };
  for (Ordinal own = 0; own < state.fold.count; ++own) {
    TRY_ASSIGN(const IndexEntry expected, verifier.index().entry(own));
    TRY_ASSIGN(const IndexEntry found, stored.entry(own));
    const std::string place = "entry " + std::to_string(own);
    if (!same_entry(expected, found)) return std::optional(place + " differs from the log");
    TRY_ASSIGN(const std::string_view line, text(expected));
    const std::string id = id_of(verifier.index(), expected, line);
    TRY_ASSIGN(const auto by_id, find_by_id(stored, state.fold.count, id, text));
    if (!by_id || *by_id > own) return std::optional(place + " is not found by its id");
  }
  return std::optional<std::string>();
}

void verify_index(fs::Fs& fs, const LogPaths& paths, const WholeLog& log, Verifier& verifier) {
  auto file = fs.open(paths.index, fs::OpenMode::kRead);
  if (!file.ok()) return;
  auto index =
      Index::open(std::move(file).value(), {.log = log.stat.identity, .boot_id = fs.boot_id()},
                  fs::MapMode::kPrivate);
  if (!index.ok() && index.error().code() == Code::kNotFound) return;
  verifier.report().index_present = true;
  auto compared = index.ok() ? compare_index(**index, verifier, log)
                             : Result<std::optional<std::string>>(index.error());
  std::string detail;
  if (!compared.ok()) {
    detail = compared.error().message();
  } else if (*compared) {
    detail = **compared;
  } else {
    return;
  }
  verifier.report().problems.push_back({.kind = "bad_index", .detail = std::move(detail)});
}

}  // namespace

Result<VerifyReport> verify_log(fs::Fs& fs, const LogPaths& paths, const Inherited* inherited) {
  TRY_ASSIGN(const WholeLog log, read_log(fs, paths));
  Verifier verifier(log, inherited, {.k0 = 1, .k1 = 2});
  const Recovered recovered = recover(log.settled, 0, verifier.state().chain, verifier);
  if (verifier.failure()) return *verifier.failure();
  verifier.state().committed = recovered.committed;
  VerifyReport& report = verifier.report();
  report.session_id = paths.session_id;
  report.log_bytes = log.stat.size;
  report.entries = verifier.state().fold.count;
  // A log of another program needs none; one of ours begins with it.
  const bool is_empty = report.entries == 0;
  const auto first = verifier.index().entry(0);
  const bool is_headless =
      !is_empty && first.ok() && !first->adopted && first->place.type != EntryType::kSessionHeader;
  if (is_empty || is_headless) {
    report.problems.push_back({.kind = "missing_header",
                               .detail = is_empty ? "the log is empty" : "its beginning is lost"});
  }
  if (recovered.committed < log.stat.size) {
    report.problems.push_back({.kind = "torn_tail",
                               .offset = recovered.committed,
                               .bytes = log.stat.size - recovered.committed,
                               .detail = "a batch that was never completed; the next append or "
                                         "repair moves it to quarantine"});
  }
  verify_index(fs, paths, log, verifier);
  return std::move(report);
}

namespace {

// What recovery says of each line, by its offset; a line that is not here is
// blank, or torn.
class LineStates : public LineSink {
 public:
  void accept(const Line& line) override {
    states_[line.offset] = line.sealed ? "sealed" : "adopted";
    ids_.emplace(read_envelope_prefix(line.text).id.view());
  }
  void damaged(const Damage& damage) override {
    states_[damage.offset] = damage.kind == DamageKind::kDamagedLine ? "damaged" : "incomplete";
  }
  bool knows(std::string_view line) override {
    return ids_.contains(read_envelope_prefix(line).id.view());
  }
  std::string_view at(std::uint64_t offset, std::uint64_t committed) const {
    if (const auto found = states_.find(offset); found != states_.end()) return found->second;
    return offset >= committed ? "torn" : "blank";
  }

 private:
  std::map<std::uint64_t, std::string_view> states_;
  std::set<std::string, std::less<>> ids_;
};

void dump_part(std::string_view part, std::uint64_t offset, const LineStates& states,
               std::uint64_t committed, std::vector<DumpLine>& lines) {
  while (!part.empty()) {
    const auto feed = part.find('\n');
    const std::string_view text = part.substr(0, feed);
    DumpLine line;
    line.offset = offset;
    line.bytes = feed == std::string_view::npos ? text.size() : text.size() + 1;
    line.state = states.at(offset, committed);
    line.text = text;
    if (find_seal(text)) {
      const std::string_view digits = text.substr(text.size() - kSealBytes + kSealStart.size());
      line.remaining = digits.substr(0, kRemainingDigits);
      line.crc = digits.substr(kRemainingDigits + 1, kCrcDigits);
    }
    part.remove_prefix(line.bytes);
    offset += line.bytes;
    lines.push_back(std::move(line));
  }
}

}  // namespace

Result<std::vector<DumpLine>> dump_log(fs::Fs& fs, const LogPaths& paths) {
  TRY_ASSIGN(const WholeLog log, read_log(fs, paths));
  LineStates states;
  const Recovered recovered = recover(log.settled, 0, chain_seed(log.chain_id), states);
  std::vector<DumpLine> lines;
  dump_part(log.settled, 0, states, recovered.committed, lines);
  dump_part(log.rest, log.settled.size(), states, recovered.committed, lines);
  return lines;
}

}  // namespace quipu::log
