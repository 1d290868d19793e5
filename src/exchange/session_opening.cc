// Which session a source is: the one that it was imported as, a new one, or that of a copy.
#include <deque>
#include <set>

#include "backend/backend.h"
#include "base/json_write.h"
#include "base/sha256.h"
#include "base/time_text.h"
#include "base/try.h"
#include "dialect/json_members.h"
#include "exchange/known_sources.h"
#include "exchange/session_import.h"
#include "model/session_header.h"
#include "quipu/limits.h"

namespace quipu::exchange {
namespace {

// What a source is called wherever it lies. An agent may compress it, or die before it gave
// the file that it wrote its name.
std::string source_name(const dialect::Source& source) {
  std::string name = dialect::file_name(source, 0);
  for (const std::string_view ending : {".zst", ".tmp"}) {
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  return source.part.empty() ? name : name + "#" + source.part;
}

}  // namespace

// Several files may say that they are the same session: copies, resumed sessions. The
// first has the name; each of the others a name with its own in it.
Result<bool> SessionImport::open_session(const dialect::Outline& outline, const ImportFrom& from) {
  timestamp_ = parse_timestamp(outline.created) ? outline.created : std::string();
  const std::string file = source_name(*source_);
  if (!from.session.empty()) {
    TRY_ASSIGN(auto lineage, find_stored(from.session));
    TRY_ASSIGN(const bool is_open, open_stored(std::move(lineage), from.session));
    if (is_open) return true;
  }
  // By its path: a copy that went its own way.
  for (const std::string& own : {std::string(), file, name_of(*source_)}) {
    const std::string digits = own.empty() ? "" : "." + sha256_hex(own).substr(0, 8);
    const std::string id = dialect::session_id_of(dialect_.name(), outline.session + digits);
    result_.report.session_id = id;
    TRY_ASSIGN(auto lineage, find_stored(id));
    if (lineage == nullptr) {
      const NameClaim claim = claim_name_(id, file);
      if (claim == NameClaim::kRefused) continue;
      if (claim == NameClaim::kShared && from.base != ImportFrom::Base::kMissing) {
        result_.waits_for = id;  // once it is stored, this source may have nothing new
        return false;
      }
      return open_new(id, outline, from.base);
    }
    TRY_ASSIGN(const bool is_open, open_stored(std::move(lineage), id));
    if (is_open) return true;
  }
  return Error(Code::kIdConflict, result_.report.session_id + " is a session of another source");
}

Result<bool> SessionImport::open_stored(std::shared_ptr<const Lineage> lineage,
                                        const std::string& id) {
  if (lineage == nullptr) return false;
  TRY_ASSIGN(const bool is_ours, is_of_this_source(*lineage));
  if (!is_ours) return false;
  TRY_ASSIGN(stored_, StoredSession::look_at(std::move(lineage), dialect_, only_new_));
  is_copy_ = lies_elsewhere();
  if (is_copy_ && !only_new_) {
    TRY_ASSIGN(const bool is_other, went_its_own_way());
    if (is_other) {
      stored_.reset();
      is_copy_ = false;
      return false;
    }
  }
  result_.report.session_id = id;
  tree_.begin_after(*stored_);
  torn_ = stored_->end().torn;
  open_ = stored_->end().open;
  TRY(log_.begin(id, /*is_new=*/false));
  return true;
}

Result<bool> SessionImport::went_its_own_way() {
  TRY_ASSIGN(const auto reader, dialect_.open(*source_, files_, {}));
  std::set<std::string, std::less<>> met;
  bool has_news = false;
  for (Record record;;) {
    TRY_ASSIGN(const bool found, reader->next(record));
    if (!found) break;
    if (record.is_fact || record.problem == "torn") continue;
    TRY_ASSIGN(const dialect::Carried payload, carried(record));
    bool is_stored = false;
    for (std::uint32_t version = 1; !is_stored; ++version) {
      const std::string id = candidate(record, payload.payload, version);
      TRY_ASSIGN(const auto stored, match(id, payload.payload));
      if (!stored) break;
      is_stored = stored->is_same;
      if (is_stored) met.insert(id);
    }
    has_news = has_news || !is_stored;
  }
  bool lacks = false;
  TRY(stored_->each_record([&](std::string_view id, const dialect::RecordType& type) {
    lacks = lacks || (!type.is_fact && !met.contains(id));
  }));
  return has_news && lacks;
}

Result<std::shared_ptr<const Lineage>> SessionImport::find_stored(const std::string& id) {
  if (!may_be_stored_(id)) return std::shared_ptr<const Lineage>();
  auto lineage = store_.sessions().lineage(id);
  const bool is_missing = !lineage.ok() && lineage.error().code() == Code::kNotFound;
  return is_missing ? std::shared_ptr<const Lineage>() : std::move(lineage);
}

Result<bool> SessionImport::open_new(const std::string& id, const dialect::Outline& outline,
                                     ImportFrom::Base base) {
  if (!outline.base_session.empty()) {
    if (base != ImportFrom::Base::kLater) TRY(find_base(outline));
    if (base_entry_.empty() && base != ImportFrom::Base::kMissing) {
      result_.waits_for = dialect::session_id_of(dialect_.name(), outline.base_session);
      return false;
    }
    if (base_entry_.empty()) add_problem("base_missing");
  }
  TRY(begin(id, outline));
  return true;
}

// The last record of the base that the fork refers to, in whichever log it lies.
Result<void> SessionImport::find_base(const dialect::Outline& outline) {
  const std::string id = dialect::session_id_of(dialect_.name(), outline.base_session);
  auto found = store_.sessions().lineage(id);
  if (!found.ok()) {
    return found.error().code() == Code::kNotFound ? Result<void>() : std::move(found).error();
  }
  const Lineage& base = **found;
  for (Ordinal at = base.size(); at-- > 0;) {
    TRY_ASSIGN(const StoredEntry entry, base.entry(at));
    const Envelope envelope = read_envelope(entry.text);
    const dialect::RecordType type = dialect::record_type(envelope.type.view());
    if (type.dialect != &dialect_ || type.is_fact) continue;
    std::deque<std::string> owned;
    const bool is_it = outline.in_base
                           ? outline.in_base(dialect::understood(envelope.payload, owned))
                           : envelope.id.view() == outline.base_record;
    if (!is_it) continue;
    base_session_ = at < base.base() ? base.ancestry()->session(at) : id;
    base_entry_ = envelope.id.view();
    tree_.begin_at(base_entry_);
    // The fork must not outlive it.
    return store_.backend()->settle(base_session_);
  }
  return {};
}

Result<bool> SessionImport::is_of_this_source(const Lineage& stored) {
  TRY_ASSIGN(const auto found, stored.find(kSourceId));
  if (!found) return false;
  TRY_ASSIGN(const StoredEntry entry, stored.entry(found->ordinal));
  const std::string_view payload = read_envelope(entry.text).payload;
  const std::string part = dialect::text_in(payload, "part");
  first_read_from_ = dialect::text_in(payload, "path") + (part.empty() ? "" : "#" + part);
  return dialect::text_in(payload, "file") == source_name(*source_);
}

// What was read is a copy: the source is where it was read before. One that has moved is
// looked for where it is now from then on.
bool SessionImport::lies_elsewhere() const {
  const std::string marked = stored_->read_from();
  const std::string& last = marked.empty() ? first_read_from_ : marked;
  if (last == name_of(*source_)) return false;
  const std::size_t part = source_->part.empty() ? 0 : source_->part.size() + 1;
  const auto there = files_.stat(last.substr(0, last.size() - std::min(part, last.size())));
  const auto here = files_.stat(source_->path);
  // One file may be reached on two ways.
  const bool is_same =
      there.ok() && here.ok() && there->device == here->device && there->inode == here->inode;
  return there.ok() && !is_same;
}

Result<void> SessionImport::begin(const std::string& id, const dialect::Outline& outline) {
  SessionHeader header;
  header.version = kSchemaVersion;
  header.session_id = id;
  header.cwd = outline.cwd;
  header.agent_id = dialect_.name();
  TRY_ASSIGN(header.project_id, project_of_(outline.cwd));
  header.parent_session = base_session_;
  header.parent_entry = base_entry_;
  std::string source;
  json::Writer out(source);
  out.begin_object().member("agent", dialect_.name()).member("session", outline.session);
  out.member("path", source_->path).text_member("part", source_->part);
  out.member("file", source_name(*source_)).text_member("spawnedBy", outline.spawned_by);
  out.end_object();
  TRY(log_.begin(id, /*is_new=*/true));
  TRY(add_fact(kHeaderId, "session_header", session_header_payload(header)));
  return add_fact(kSourceId, "fact.quipu.source", source);
}

}  // namespace quipu::exchange
