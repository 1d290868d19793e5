#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_set>
#include <utility>

#include "backend/backend.h"
#include "base/json_scan.h"
#include "base/try.h"
#include "dialect/carry.h"
#include "dialect/dialect.h"
#include "dialect/lift.h"
#include "dialect/recipe.h"
#include "dialect/row_database.h"
#include "exchange/agent_place.h"
#include "exchange/continuation.h"
#include "exchange/export_target.h"
#include "exchange/left_behind.h"
#include "exchange/spoken.h"
#include "quipu/attachments.h"
#include "quipu/export.h"
#include "store/guarded.h"

namespace quipu {
namespace {

using dialect::Dialect;
using exchange::Spoken;
using exchange::transcript_of;

// What an import wrote down of where it read.
struct Origin {
  std::string session;
  std::string path;  // of its first file
  std::string file;  // what that is called wherever it lies
  std::string part;  // of a database
};

Origin read_origin(std::string_view payload) {
  Origin origin;
  json::MemberWalk walk(payload);
  while (const auto member = walk.next()) {
    if (member->key == "session") origin.session = json::decode_string(member->value);
    if (member->key == "path") origin.path = json::decode_string(member->value);
    if (member->key == "file") origin.file = json::decode_string(member->value);
    if (member->key == "part") origin.part = json::decode_string(member->value);
  }
  if (!origin.part.empty() && origin.file.ends_with("#" + origin.part)) {
    origin.file.resize(origin.file.size() - origin.part.size() - 1);
  }
  return origin;
}

// The records of the session's own agent, as they were.
class GiveBack {
 public:
  GiveBack(Store& store, const Dialect& dialect, const LogView& log, exchange::ExportTarget& target,
           ExportReport& report)
      : store_(store), dialect_(dialect), log_(log), target_(target), report_(report) {}

  /// `machine`: name the files as they lie in the agent's place there. Null: by themselves.
  Result<void> run(const dialect::Machine* machine) {
    TRY(look());
    if (machine != nullptr && (!origin_.part.empty() || !dialect_.takes_in_by().empty())) {
      return Error(Code::kUnsupported, "the database of an agent is not written to")
          .with_hint("write one of this session alone with --out, or a copy with --normalise");
    }
    if (machine != nullptr) {
      TRY_ASSIGN(const std::string name, exchange::name_in_place(dialect_, origin_.path, *machine));
      directory_ = name.substr(0, name.rfind('/') + 1);
    }
    if (recipe_) return origin_.part.empty() ? give_document() : give_database();
    TRY(target_.write(directory_ + origin_.file, {}));  // also when there is nothing in it
    for (Ordinal at = 0; at < log_.fold().count; ++at) {
      TRY_ASSIGN(const StoredEntry entry, log_.entry(at));
      const Envelope envelope = read_envelope(entry.text);
      if (dialect::record_type(envelope.type.view()).dialect != &dialect_) continue;
      if (replaced_.contains(std::string(envelope.id.view()))) continue;
      TRY(give(envelope, dialect::read_meta(envelope.meta)));
    }
    return {};
  }

  /// The agent's own id of the session, and the next bytes of its first file.
  const std::string& session() const { return origin_.session; }
  Result<void> add(const std::string& text) {
    return target_.write(directory_ + origin_.file, (is_open_ ? "\n" : "") + text);
  }

 private:
  // What a later record holds too: a cut-off line of which the rest came, and a file
  // that was written anew.
  Result<void> look() {
    std::unordered_set<std::string> replaceable;
    for (Ordinal at = 0; at < log_.fold().count; ++at) {
      TRY_ASSIGN(const StoredEntry entry, log_.entry(at));
      const Envelope envelope = read_envelope(entry.text);
      if (envelope.type.view() == "fact.quipu.source") origin_ = read_origin(envelope.payload);
      if (envelope.type.view() == dialect::kRecipeType) {
        recipe_ = dialect::read_recipe(envelope.payload);
      }
      if (envelope.meta.empty()) continue;
      const dialect::CarriedMeta meta = dialect::read_meta(envelope.meta);
      if (meta.problem == "torn" || !meta.file.empty()) replaceable.emplace(envelope.id.view());
      if (replaceable.contains(meta.supersedes)) replaced_.insert(meta.supersedes);
    }
    report_.agent_session = origin_.session;
    return {};
  }

  template <class Take>
  Result<void> for_each_of_recipe(Take take) {
    for (const dialect::Recipe::Item& item : recipe_->items) {
      TRY_ASSIGN(const auto found, log_.find(item.id));
      if (!found) return Error(Code::kCorrupt, "a record of the document is gone: " + item.id);
      TRY_ASSIGN(const StoredEntry entry, log_.entry(*found));
      const Envelope envelope = read_envelope(entry.text);
      dialect::CarriedMeta meta = dialect::read_meta(envelope.meta);
      meta.end = item.end;
      TRY(take(envelope, meta));
    }
    return {};
  }

  Result<void> give_document() {
    return for_each_of_recipe(
        [&](const Envelope& envelope, const dialect::CarriedMeta& meta) -> Result<void> {
          return give(envelope, meta);
        });
  }

  // A database of this session alone: the first record is its schema.
  Result<void> give_database() {
    std::optional<dialect::RowDatabase> database;
    TRY(for_each_of_recipe([&](const Envelope& envelope,
                               const dialect::CarriedMeta& meta) -> Result<void> {
      TRY_ASSIGN(const std::string record, whole(envelope.payload, meta));
      if (!database) {
        TRY_ASSIGN(database, dialect::RowDatabase::make(record));
        return {};
      }
      return database->add(std::string(dialect::record_type(envelope.type.view()).kind), record);
    }));
    if (!database) return Error(Code::kCorrupt, "a database without a schema");
    TRY_ASSIGN(const std::string image, database->image());
    return target_.write(origin_.file, image);
  }

  Result<std::string> whole(std::string_view payload, const dialect::CarriedMeta& meta) {
    if (meta.carried != "attachment") {
      return dialect::restore(payload, meta.carried).value_or(std::string());
    }
    std::string bytes;
    TRY(read_attachment(payload, [&](std::string_view some) -> Result<void> {
      bytes += some;
      return {};
    }));
    return bytes;
  }

  Result<void> give(const Envelope& envelope, const dialect::CarriedMeta& meta) {
    const std::string path = directory_ + (meta.file.empty() ? origin_.file : meta.file);
    if (meta.carried == "attachment") {
      TRY(read_attachment(envelope.payload,
                          [&](std::string_view some) { return target_.write(path, some); }));
    } else if (const auto bytes = dialect::restore(envelope.payload, meta.carried)) {
      TRY(target_.write(path, *bytes));
    }
    if (meta.file.empty()) is_open_ = meta.end.empty();
    return target_.write(path, meta.end);
  }

  template <class Take>
  Result<void> read_attachment(std::string_view payload, Take take) {
    const auto reference = json::find_member(payload, "attachment");
    const auto sha256 = reference ? json::find_member(reference->value, "sha256") : std::nullopt;
    if (!sha256) return {};
    TRY_ASSIGN(AttachmentReader reader,
               Attachments(store_).open(json::decode_string(sha256->value)));
    std::string buffer(std::size_t{1} << 20, '\0');
    for (;;) {
      TRY_ASSIGN(const std::size_t got, reader.read(std::span(buffer)));
      if (got == 0) return {};
      TRY(take(std::string_view(buffer).substr(0, got)));
    }
  }

  Store& store_;
  const Dialect& dialect_;
  const LogView& log_;
  exchange::ExportTarget& target_;
  ExportReport& report_;
  Origin origin_;
  std::string directory_;
  std::optional<dialect::Recipe> recipe_;
  std::unordered_set<std::string> replaced_;
  bool is_open_ = false;  // the last line of the first file has no end
};

bool has_redactions(const Lineage& lineage) {
  for (Ordinal at = 0; at < lineage.size(); ++at) {
    if (lineage.is_redacted(at)) return true;
  }
  return false;
}

// Whether this agent wrote the session, as far as it is stored by itself.
Result<bool> is_of(const Dialect& dialect, const Lineage& lineage) {
  TRY_ASSIGN(const auto source, lineage.own().find("source"));
  if (!source) return false;
  TRY_ASSIGN(const StoredEntry entry, lineage.own().entry(*source));
  const auto agent = json::find_member(read_envelope(entry.text).payload, "agent");
  return agent && json::decode_string(agent->value) == dialect.name();
}

// Whether nobody went on with it.
Result<bool> is_untouched(const Dialect& dialect, const Lineage& lineage) {
  if (lineage.head() == kNone) return true;
  TRY_ASSIGN(const StoredEntry head, lineage.entry(lineage.head()));
  return dialect::record_type(read_envelope_prefix(head.text).type.view()).dialect == &dialect;
}

void report_losses(dialect::Written& written, ExportReport& report) {
  for (dialect::Loss& loss : written.lost) {
    report.lost.push_back({.entry_id = std::move(loss.entry_id),
                           .what = std::move(loss.what),
                           .why = std::move(loss.why)});
  }
}

Result<void> write_anew(Store& store, const Dialect& dialect, const SessionSummary& summary,
                        const Lineage& lineage, const std::string& head,
                        exchange::ExportTarget& target, ExportReport& report) {
  TRY_ASSIGN(Spoken spoken, transcript_of(store, summary, head));
  const Error nothing(Code::kInvalidArgument,
                      "nothing was said in this session that could be exported");
  if (spoken.transcript.messages.empty()) return nothing;
  Ordinal at = lineage.head();
  if (!head.empty()) {
    TRY_ASSIGN(const auto found, lineage.find(head));
    if (found) at = found->ordinal;
  }
  if (dialect.writes_branches()) {
    TRY(exchange::add_branches(store, summary, lineage, at, spoken));
  }
  TRY_ASSIGN(dialect::Written written, dialect.write(spoken.transcript));
  // All that was said may be what the agent has no place for.
  if (written.files.empty() || written.files.front().bytes.empty()) return nothing;
  report.agent_session = std::move(written.session);
  for (const dialect::WrittenFile& file : written.files) {
    TRY(target.write(file.path, file.bytes));
  }
  report_losses(written, report);
  exchange::report_cost(dialect, spoken.transcript, summary.counts.cost_nano_usd, report);
  return exchange::report_left_behind(store, lineage, spoken, nullptr, at, report);
}

// What was said here, behind the records that the agent wrote.
Result<void> write_rest(Store& store, const Dialect& dialect, const SessionSummary& summary,
                        const exchange::Continuation& continuation, GiveBack& given,
                        ExportReport& report) {
  TRY_ASSIGN(Spoken spoken, transcript_of(store, summary, {}, &continuation.messages));
  dialect::Transcript& rest = spoken.transcript;
  rest.after = {.session = given.session(), .record = continuation.record};
  TRY_ASSIGN(dialect::Written written, dialect.write(rest));
  report_losses(written, report);
  exchange::report_cost(dialect, rest, 0, report);
  return given.add(written.files.front().bytes);
}

}  // namespace

Result<ExportReport> export_session(Store& store, std::string_view session_id,
                                    const ExportOptions& options, const ExportSink& sink,
                                    fs::HostFiles* files,
                                    const std::map<std::string, std::string>* variables) {
  return guarded([&]() -> Result<ExportReport> {
    const Dialect* dialect = dialect::find_dialect(options.to);
    if (dialect == nullptr) {
      return Error(Code::kInvalidArgument, "no agent is called " + options.to);
    }
    TRY_ASSIGN(const auto lineage, store.sessions().lineage(session_id));
    ExportReport report;
    report.session_id = session_id;
    report.to = options.to;
    const auto variable = exchange::variables(variables);
    const dialect::Machine machine{.files = files != nullptr ? *files : fs::HostFiles::system(),
                                   .home = variable("HOME"),
                                   .variable = variable};
    TRY_ASSIGN(const SessionSummary summary, store.sessions().describe_session(session_id));
    exchange::ExportTarget target(*dialect, machine, options, exchange::directory_of(summary),
                                  sink);
    TRY_ASSIGN(const bool is_own, is_of(*dialect, *lineage));
    TRY_ASSIGN(const bool is_whole, is_untouched(*dialect, *lineage));
    TRY_ASSIGN(const auto continuation, exchange::continuation_of(*dialect, *lineage));
    // What is hidden must not come back with the records, and without it they are no whole.
    const bool is_given = is_own && (is_whole || continuation) && !has_redactions(*lineage);
    if (is_given && !options.normalise && options.head.empty()) {
      GiveBack given(store, *dialect, lineage->own(), target, report);
      TRY(given.run(options.install ? &machine : nullptr));
      Spoken rest;
      if (continuation) {
        TRY(write_rest(store, *dialect, summary, *continuation, given, report));
        rest.entries = continuation->messages;
      }
      TRY(exchange::report_left_behind(store, *lineage, rest, dialect, lineage->head(), report));
    } else {
      TRY(write_anew(store, *dialect, summary, *lineage, options.head, target, report));
    }
    TRY(target.finish(report));
    return report;
  });
}

}  // namespace quipu
