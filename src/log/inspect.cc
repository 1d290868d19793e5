#include "log/inspect.h"

#include <map>
#include <set>

#include "base/try.h"
#include "log/seal.h"
#include "log/snapshot.h"

namespace quipu::log {
namespace {

// A log read in whole. Torn bytes may be cut off by a writer at any moment, so
// this is a copy where LogSnapshot would map.
struct WholeLog {
  std::unique_ptr<fs::File> file;
  fs::Stat stat;
  std::string bytes;
  std::string chain_id;
};

Result<WholeLog> read_log(fs::Fs& fs, const LogPaths& paths) {
  WholeLog log;
  TRY_ASSIGN(log.file, fs.open(paths.log, fs::OpenMode::kRead));
  TRY_ASSIGN(log.stat, log.file->stat());
  TRY_ASSIGN(log.bytes, fs::read_exactly(*log.file, 0, static_cast<std::size_t>(log.stat.size)));
  const std::string_view first(log.bytes);
  log.chain_id = chain_session_id(first.substr(0, first.find('\n')), paths.session_id);
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
          return Result<std::string_view>(
              std::string_view(log.bytes).substr(entry.offset, entry.bytes));
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
    return std::string_view(log.bytes).substr(entry.offset, entry.bytes);
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
  const Recovered recovered = recover(log.bytes, 0, verifier.state().chain, verifier);
  if (verifier.failure()) return *verifier.failure();
  verifier.state().committed = recovered.committed;
  VerifyReport& report = verifier.report();
  report.session_id = paths.session_id;
  report.log_bytes = log.bytes.size();
  report.entries = verifier.state().fold.count;
  if (recovered.torn_bytes > 0) {
    report.problems.push_back({.kind = "torn_tail",
                               .offset = recovered.committed,
                               .bytes = recovered.torn_bytes,
                               .detail = "a batch that was never completed; the next append or "
                                         "repair moves it to quarantine"});
  }
  verify_index(fs, paths, log, verifier);
  return std::move(report);
}

Result<std::vector<DumpLine>> dump_log(fs::Fs& fs, const LogPaths& paths) {
  TRY_ASSIGN(const WholeLog log, read_log(fs, paths));
  // States by offset; a line that is in none of the two lists is blank or torn.
  class States : public LineSink {
   public:
    void accept(const Line& line) override {
      states[line.offset] = line.sealed ? "sealed" : "adopted";
      seen.emplace(read_envelope_prefix(line.text).id.view());
    }
    void damaged(const Damage& damage) override {
      states[damage.offset] = damage.kind == DamageKind::kDamagedLine ? "damaged" : "incomplete";
    }
    bool knows(std::string_view line) override {
      return seen.contains(read_envelope_prefix(line).id.view());
    }
    std::map<std::uint64_t, std::string_view> states;
    std::set<std::string, std::less<>> seen;
  } states;
  const Recovered recovered = recover(log.bytes, 0, chain_seed(log.chain_id), states);
  std::vector<DumpLine> lines;
  for (std::uint64_t at = 0; at < log.bytes.size();) {
    const auto feed = log.bytes.find('\n', at);
    const std::uint64_t end = feed == std::string::npos ? log.bytes.size() : feed + 1;
    const std::string_view text =
        std::string_view(log.bytes).substr(at, (feed == std::string::npos ? end : feed) - at);
    DumpLine line;
    line.offset = at;
    line.bytes = end - at;
    line.text = text;
    const auto state = states.states.find(at);
    line.state = state != states.states.end() ? std::string(state->second)
                 : at >= recovered.committed  ? "torn"
                                              : "blank";
    if (find_seal(text)) {
      line.remaining =
          text.substr(text.size() - kCrcDigits - 3 - kRemainingDigits, kRemainingDigits);
      line.crc = text.substr(text.size() - kCrcDigits - 2, kCrcDigits);
    }
    lines.push_back(std::move(line));
    at = end;
  }
  return lines;
}

}  // namespace quipu::log
