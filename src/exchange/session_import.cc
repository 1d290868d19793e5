#include "exchange/session_import.h"

#include <algorithm>
#include <set>

#include "base/json_write.h"
#include "base/sha256.h"
#include "base/time_text.h"
#include "base/try.h"
#include "exchange/known_sources.h"
#include "fs/zstd_file.h"
#include "quipu/attachments.h"
#include "quipu/limits.h"

namespace quipu::exchange {
namespace {

// Leaves room for `~` and a number.
constexpr std::size_t kIdBytes = kEntryIdBytesMax - 16;

bool can_be_id(std::string_view id) {
  if (id.empty() || id.size() > kIdBytes || id == kHeaderId || id == kSourceId) return false;
  for (const char c : id) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  }
  return true;
}

std::string made_id(std::string_view agent, std::string_view session, std::string_view bytes,
                    std::uint32_t occurrence) {
  Sha256 hash;
  hash.update(agent);
  hash.update(std::string_view("\0", 1));
  hash.update(session);
  hash.update(std::string_view("\0", 1));
  hash.update(bytes);
  hash.update(std::string_view("\0", 1));
  hash.update(std::to_string(occurrence));
  return hash.finish().substr(0, 32);
}

}  // namespace

SessionImport::SessionImport(Store& store, const dialect::Dialect& dialect, fs::HostFiles& files,
                             ProjectOf project_of, MayBeStored may_be_stored, ClaimName claim_name)
    : store_(store),
      dialect_(dialect),
      files_(files),
      project_of_(std::move(project_of)),
      may_be_stored_(std::move(may_be_stored)),
      claim_name_(std::move(claim_name)),
      tree_(dialect),
      log_(store) {}

Result<Imported> SessionImport::run(const dialect::Source& source, const ImportFrom& from) {
  source_ = &source;
  result_.report.was_read = true;
  only_new_ = from.position.offset != 0;
  result_.report.total = only_new_ ? from.state.records : 0;
  TRY_ASSIGN(const auto reader, dialect_.open(source, files_, from.position));
  is_whole_ = reader->is_whole();
  agent_session_ = reader->outline().session;
  lost_ = from.state.lost;
  TRY_ASSIGN(const bool is_open, open_session(reader->outline(), from));
  if (!is_open) return std::move(result_);
  // What is new is told by the mark: it must be the newest one.
  if (only_new_ && (stored_ == nullptr || !stored_->ends_with(*from.after))) {
    return Error(Code::kTailMoved, "somebody else imports " + source.path);
  }
  Record record;
  bool is_left = false;  // a line that somebody is writing
  for (;;) {
    TRY_ASSIGN(const bool found, reader->next(record));
    if (!found) break;
    if (from.is_live && record.problem == "torn") {
      is_left = true;  // the last of its file; others may follow
      continue;
    }
    TRY(take(record));
  }
  if (stored_ != nullptr && !only_new_ && !is_copy_) TRY(report_lost());
  if (is_whole_) TRY(add_recipe());
  if (is_left && stored_ != nullptr && !has_news_) return std::move(result_);
  if (is_copy_ && !has_news_) return std::move(result_);
  ImportMark mark = from.state;
  // Whoever looks next finds more.
  if (is_left) mark.first.size = is_whole_ ? 0 : reader->position().offset;
  TRY(flush());
  // Not before everything is on the disk: after a power cut a mark that survived would keep
  // us from reading what did not.
  if (!log_.is_new()) TRY(log_.settle());
  TRY(add_mark(mark, *reader));
  if (log_.is_new()) {
    TRY_ASSIGN(result_.log, log_.take_new());
  } else {
    TRY(log_.flush());
  }
  return std::move(result_);
}

Result<void> SessionImport::add_fact(std::string_view id, std::string_view type,
                                     std::string_view payload, std::string_view meta) {
  return log_.add({.id = id,
                   .parent = std::nullopt,
                   .type = type,
                   .timestamp = timestamp_,
                   .run_id = {},
                   .payload = payload,
                   .meta = meta});
}

void SessionImport::add_problem(std::string_view what) {
  for (ImportProblem& problem : result_.report.problems) {
    if (problem.what != what) continue;
    ++problem.count;
    return;
  }
  result_.report.problems.push_back({.path = source_->path, .what = std::string(what)});
}

// What the source had when it was read last, and has no longer. It stays stored.
Result<void> SessionImport::report_lost() {
  std::set<std::string, std::less<>> last;  // a source that is written anew replaced older ones
  if (is_whole_) {
    for (auto& item : dialect::read_recipe(stored_->end().recipe).items) {
      last.insert(std::move(item.id));
    }
  }
  std::vector<std::string> missing;
  TRY(stored_->each_record([&](std::string_view text, const dialect::RecordType& type) {
    std::string id(text);
    if (is_whole_ && (type.is_fact || !last.contains(id))) return;
    // In what is written anew a record may have changed; a line is never another one.
    const bool is_there =
        tree_.is_there(id) || (is_whole_ && tree_.is_met(id.substr(0, id.rfind('~'))));
    if (!is_there && !id.ends_with(".end")) missing.push_back(std::move(id));
  }));
  // The beginning of a line is nothing to lose once the line went on.
  std::uint64_t lost = 0;
  for (const std::string& id : missing) {
    TRY_ASSIGN(const bool is_piece, stored_->is_torn(id));
    const bool went_on = id == superseded_ || id != stored_->end().torn;
    if (!is_piece || !went_on) ++lost;
  }
  // What a document has lost is compared with what it had last, of lines with all there were.
  const std::uint64_t said = is_whole_ ? 0 : std::exchange(lost_, lost);
  for (std::uint64_t count = said; count < lost; ++count) add_problem("lost");
  return {};
}

Result<void> SessionImport::take(const Record& record) {
  if (only_new_ && !open_.empty() && record.file == 0 && record.bytes.empty() &&
      record.large_size == 0) {
    return add_end(std::exchange(open_, {}), record.end);
  }
  open_.clear();
  TRY_ASSIGN(const dialect::Carried payload, carried(record));
  TRY_ASSIGN(const Placed placed, place(record, payload.payload));
  ++result_.report.total;
  if (record.file != 0) ++beside_;
  if (!record.problem.empty()) add_problem(record.problem);
  if (parse_timestamp(record.timestamp)) timestamp_ = record.timestamp;
  if (placed.id() == torn_) torn_.clear();
  if (is_whole_) {
    recipe_.items.push_back({.id = std::string(placed.id()), .end = std::string(record.end)});
  }
  TRY_ASSIGN(const ImportTree::Parent parent, tree_.parent_of(record));
  if (parent.is_missing) add_problem("parent_missing");
  if (!placed.stored) {
    TRY(add(record, payload, placed, parent));
  } else if (!is_whole_ && placed.stored->end.empty() && !record.end.empty()) {
    TRY(add_end(placed.id(), record.end));
  }
  TRY(tree_.add(record, *placed.node, parent.id, placed.stored.has_value()));
  return log_.is_full() ? flush() : Result<void>();
}

Result<void> SessionImport::add(const Record& record, const dialect::Carried& payload,
                                const Placed& placed, const ImportTree::Parent& parent) {
  dialect::CarriedMeta meta;
  meta.carried = payload.carried;
  if (!is_whole_) meta.end = record.end;
  if (record.file != 0) meta.file = dialect::file_name(*source_, record.file);
  meta.problem = record.problem;
  if (parent.is_missing) meta.source_parent = record.parent;
  meta.supersedes = placed.supersedes;
  if (!torn_.empty()) meta.supersedes = superseded_ = std::exchange(torn_, {});
  const std::string meta_text = dialect::encode_meta(meta);
  type_buffer_.clear();
  dialect::append_entry_type(type_buffer_, dialect_, record.kind, record.is_fact);
  EntryParts entry{.id = placed.id(),
                   .parent = std::nullopt,
                   .type = type_buffer_,
                   .timestamp = timestamp_,
                   .run_id = {},
                   .payload = payload.payload,
                   .meta = meta_text};
  if (!record.is_fact) entry.parent = parent.id;
  has_news_ = true;
  ++result_.report.added;
  return log_.add(entry);
}

// A file ended without a line end when it was read, and has gone on since.
Result<void> SessionImport::add_end(std::string_view id, std::string_view end) {
  const std::string own = std::string(id) + ".end";
  constexpr std::string_view kNothing = "{\"raw\":\"\"}";
  TRY_ASSIGN(const auto stored, match(own, kNothing));
  if (stored) return {};
  dialect::CarriedMeta meta;
  meta.carried = "text";
  meta.end = end;
  has_news_ = true;
  return add_fact(own, dialect::entry_type_of(dialect_, "raw", true), kNothing,
                  dialect::encode_meta(meta));
}

Result<dialect::Carried> SessionImport::carried(const Record& record) {
  if (record.large_size == 0) return dialect::carry(record, carry_buffer_);
  std::unique_ptr<fs::HostFile> file;
  if (record.large_bytes.empty()) {
    TRY_ASSIGN(file, fs::open_plain(files_, source_->files[record.file]));
  }
  std::uint64_t at = record.large_offset;
  const std::uint64_t end = at + record.large_size;
  TRY_ASSIGN(const StoredAttachment kept,
             Attachments(store_).put([&](std::span<char> into) -> Result<std::size_t> {
               const std::size_t want = std::min<std::uint64_t>(into.size(), end - at);
               std::size_t got = want;
               if (file == nullptr) {
                 record.large_bytes.copy(into.data(), want, at);
               } else {
                 TRY_ASSIGN(got, file->read_at(into.first(want), at));
               }
               at += got;
               return got;
             }));
  carry_buffer_ = dialect::attached_payload(kept.sha256, kept.bytes, record.bytes);
  return dialect::Carried{.payload = carry_buffer_, .carried = "attachment"};
}

std::string SessionImport::candidate(const Record& record, std::string_view payload,
                                     std::uint32_t version) const {
  if (!can_be_id(record.id)) {
    return made_id(dialect_.name(), agent_session_, payload, version);
  }
  return version == 1 ? record.id : record.id + "~" + std::to_string(version);
}

Result<SessionImport::Placed> SessionImport::place(const Record& record, std::string_view payload) {
  const bool has_own = can_be_id(record.id);
  const auto candidate = [&](std::uint32_t version) {
    return this->candidate(record, payload, version);
  };
  ImportTree::Node& first = has_own ? tree_.meet(record.id) : tree_.meet(candidate(1));
  for (std::uint32_t version = first.second.versions + 1;; ++version) {
    ImportTree::Node& node = version == 1 ? first : tree_.meet(candidate(version));
    TRY_ASSIGN(auto stored, match(node.first, payload));
    const bool is_old = stored && stored->is_before && record.file == 0 && node.first != torn_;
    // The files beside the first are written anew: what they said before is not lost.
    const bool is_beside = record.file != 0;
    node.second.is_there = !stored || stored->is_same || is_beside;
    // What had gone from the source has come back: all of it must be looked at.
    if (is_old && stored->is_same && lost_ != 0) {
      return Error(Code::kTailMoved, "what was lost is there again: " + source_->path);
    }
    if (stored && (is_old || !stored->is_same)) continue;
    // A copy may lag behind: what it says was said.
    if (stored && is_beside && !is_copy_) {
      TRY_ASSIGN(const bool is_earlier, is_of_earlier(candidate(version + 1), record.file));
      if (is_earlier) continue;
    }
    first.second.versions = version;
    Placed placed{.node = &node, .stored = std::move(stored)};
    if (version > 1 && has_own) placed.supersedes = candidate(version - 1);
    return placed;
  }
}

// Whether this file has said something else since.
Result<bool> SessionImport::is_of_earlier(const std::string& next_version,
                                          std::uint32_t file) const {
  TRY_ASSIGN(const auto next, match(next_version, {}));
  return next && next->file == dialect::file_name(*source_, file);
}

Result<std::optional<StoredSession::Match>> SessionImport::match(std::string_view id,
                                                                 std::string_view payload) const {
  if (stored_ == nullptr) return std::optional<StoredSession::Match>();
  return stored_->match(id, payload);
}

Result<void> SessionImport::add_recipe() {
  const std::string recipe = dialect::encode_recipe(recipe_);
  if (stored_ != nullptr && recipe == stored_->end().recipe) return {};
  has_news_ = true;
  return add_fact({}, dialect::kRecipeType, recipe);
}

Result<void> SessionImport::add_mark(ImportMark mark, const dialect::Reader& reader) {
  mark.offset = is_whole_ ? 0 : reader.position().offset;
  mark.records = result_.report.total;
  mark.beside = beside_;
  mark.lost = lost_;
  if (!log_.is_new()) mark.source = name_of(*source_);
  if (mark.offset != 0) {
    TRY_ASSIGN(mark.before, sum_before(reader, source_->path, files_));
  }
  return add_fact({}, kMarkType, encode_mark(mark));
}

Result<void> SessionImport::move_head() {
  TRY_ASSIGN(const std::string head, tree_.move_head());
  if (head.empty()) return {};
  return add_fact({}, "head", "{\"entryId\":" + json::quoted(head) + "}");
}

Result<void> SessionImport::flush() {
  TRY(move_head());
  return log_.flush();
}

}  // namespace quipu::exchange
