#include "backend/sql/sql_append.h"

#include "backend/backend.h"
#include "backend/sql/statements.h"
#include "base/crc32c.h"
#include "base/try.h"

namespace quipu::sqlstore {
SqlAppend::SqlAppend(sql::Pool& pool, const std::string& session_id, const LogHead& head,
                     std::shared_ptr<const Ancestry> inherited, bool on_trust)
    : pool_(pool),
      session_id_(session_id),
      first_(head.fold.count),
      head_(head),
      inherited_(std::move(inherited)),
      on_trust_(on_trust),
      tables_(session_id_) {
  if (head_.fold.head == kNone) return;
  found_.emplace(
      head_.head_id,
      FoundEntry{.ordinal = head_.fold.head, .is_node = true, .depth = head_.fold.head_depth});
}

Result<Planned> SqlAppend::plan(const Batch& batch, const AppendOptions& options) {
  // A fork's inherited ids are guarded by no key of its own.
  if (on_trust_ && !inherited_) {
    for (const Draft& draft : batch.drafts) found_.emplace(draft.id.view(), std::nullopt);
  }
  return plan_append(*this, batch, options);
}

Result<std::optional<FoundEntry>> SqlAppend::find(std::string_view id) {
  if (const auto known = found_.find(id); known != found_.end()) return known->second;
  std::optional<FoundEntry> found;
  if (first_ > 0) {  // a log in the making has nothing to be asked for
    TRY_ASSIGN(found, stored(id));
  }
  if (!found && inherited_) {
    TRY_ASSIGN(found, inherited_->find(id));
  }
  found_.emplace(id, found);
  return found;
}

Result<std::optional<FoundEntry>> SqlAppend::stored(std::string_view id) {
  return pool_.reading([&](sql::Engine& engine) -> Result<std::optional<FoundEntry>> {
    const sql::Param params[] = {session_id_, id};
    TRY_ASSIGN(const auto rows, engine.ask(kFindEntry, params));
    TRY_ASSIGN(const bool has_row, rows->next());
    // What others have added since is not there: the commit will find them in its way.
    if (!has_row || rows->integer(0) >= first_) return std::optional<FoundEntry>();
    const bool is_node = !is_fact(entry_type(rows->text(1)));
    return std::optional(
        FoundEntry{.ordinal = head_.fold.base + static_cast<Ordinal>(rows->integer(0)),
                   .is_node = is_node,
                   .depth = is_node ? static_cast<std::uint32_t>(rows->integer(2)) : 0});
  });
}

Result<std::string_view> SqlAppend::text(Ordinal visible) {
  if (visible < head_.fold.base) {
    TRY_ASSIGN(const StoredEntry entry, inherited_->entry(visible));
    if (entry.damaged) return damaged_repeat(inherited_->session(visible));
    return entry.text;
  }
  const Ordinal own = visible - head_.fold.base;
  auto line = pool_.reading([&](sql::Engine& engine) -> Result<std::string> {
    const sql::Param params[] = {session_id_, std::int64_t{own}, std::int64_t{own} + 1};
    TRY_ASSIGN(const auto rows, engine.ask(kReadEntries, params));
    TRY_ASSIGN(const bool found, rows->next());
    if (!found) return Error(Code::kCorrupt, "an entry of " + session_id_ + " is missing");
    const std::string_view stored = rows->text(4);
    if (rows->integer(5) != std::int64_t{crc32c(stored)}) return damaged_repeat(session_id_);
    return std::string(stored);
  });
  TRY_ASSIGN(fetched_, std::move(line));
  return std::string_view(fetched_);
}

Result<std::string_view> SqlAppend::id(Ordinal visible) {
  if (visible == head_.fold.head) return std::string_view(head_.head_id);
  if (visible + 1 == head_.fold.next()) return std::string_view(head_.tail_id);
  if (visible < head_.fold.base) {
    TRY_ASSIGN(fetched_, inherited_->id(visible));
    return std::string_view(fetched_);
  }
  TRY_ASSIGN(const std::string_view line, text(visible));
  const std::string id(read_envelope_prefix(line).id.view());
  fetched_ = id;
  return std::string_view(fetched_);
}

void SqlAppend::stage(const Draft& draft, std::string_view parent, const FoldInput& input) {
  std::string json;
  json.reserve(draft.bytes() + parent.size() + 1);
  draft.append_body(json, parent);
  json += '}';
  add(std::move(json), input);
}

void SqlAppend::add_all(std::span<const std::string> entries) {
  for (const std::string& entry : entries) {
    const Envelope envelope = read_envelope(entry);
    const auto target = fact_target(envelope.type_code, envelope.payload);
    add(entry, {.type = envelope.type_code,
                .parent_link = envelope.parent_link,
                .parent = envelope.parent.view(),
                .target = target ? target->view() : std::string_view()});
  }
}

void SqlAppend::add(std::string json, const FoldInput& input) {
  const Ordinal visible = head_.fold.next();
  const Ordinal own = head_.fold.count;
  const Ordinal head_before = head_.fold.head;
  Line& line = lines_.emplace_back();
  line.place = quipu::fold(
      head_.fold, input,
      [this](std::string_view wanted) -> std::optional<FoundEntry> {
        // The plan has looked for all that entries point at; what was not found then is
        // asked for again, and is not there now either.
        auto found = find(wanted);
        return found.ok() ? *found : std::nullopt;
      },
      false);
  line.json = std::move(json);
  const Envelope envelope = read_envelope(line.json);
  line.id = envelope.id.view();
  line.type = envelope.type.view();
  line.timestamp = envelope.timestamp.view();
  found_.insert_or_assign(line.id, FoundEntry{.ordinal = visible,
                                              .is_node = !is_fact(line.place.type),
                                              .depth = line.place.depth});
  head_.tail_id = line.id;
  if (head_.fold.head == visible) head_.head_id = line.id;
  if (head_.fold.head != head_before && head_.fold.head != visible) head_.head_id = input.target;
  head_.bytes += line.json.size() + 1;  // with a line feed
  line.message = tables_.add(envelope, line.json, own, head_.computed);
}

std::vector<sql::Command> SqlAppend::commands(std::int64_t now_ms) {
  head_.modified_ms = now_ms;
  facts_ = encode_last_facts(head_.fold);
  const FoldState& fold = head_.fold;
  std::vector<sql::Command> all;
  if (first_ == 0) {
    all.push_back(
        {.text = kMakeHead,
         .params = {session_id_, head_.number, std::int64_t{fold.count},
                    static_cast<std::int64_t>(head_.bytes), now_ms, std::int64_t{fold.base},
                    ordinal_param(fold.head), std::int64_t{fold.head_depth}, head_.head_id,
                    head_.tail_id, facts_, lines_.back().timestamp}});
  } else {
    all.push_back({.text = kMoveHead,
                   .params = {std::int64_t{fold.count}, static_cast<std::int64_t>(head_.bytes),
                              now_ms, ordinal_param(fold.head), std::int64_t{fold.head_depth},
                              head_.head_id, head_.tail_id, facts_, lines_.back().timestamp,
                              session_id_, std::int64_t{first_}}});
    if (session_id_.starts_with(kSystemPrefix)) {
      all.push_back({.text = kRequireHead, .params = {session_id_}});
    }
  }
  sql::Command entries{.text = kAddEntries};
  entries.params.reserve(lines_.size() * 14);
  std::int64_t own = first_;
  for (const Line& line : lines_) {
    for (const sql::Param& param :
         {sql::Param(session_id_), sql::Param(own++), sql::Param(line.id), sql::Param(line.type),
          ordinal_param(line.place.parent), sql::Param(std::int64_t{line.place.depth}),
          sql::Param(std::int64_t{line.place.orphan}), sql::Param(line.timestamp),
          sql::Param(std::int64_t{crc32c(line.json)}), text_param(line.message.role),
          text_param(line.message.usage), sql::Param(std::int64_t{line.message.is_summary}),
          sql::Param(line.json), text_param(line.message.parts)}) {
      entries.params.push_back(param);
    }
  }
  all.push_back(std::move(entries));
  tables_.write(head_.computed, all);
  return all;
}

}  // namespace quipu::sqlstore
