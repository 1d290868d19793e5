#include "backend/sql/sql_view.h"

#include <algorithm>
#include <cstring>

#include "backend/sql/statements.h"
#include "base/crc32c.h"
#include "base/try.h"
#include "model/envelope.h"

namespace quipu::sqlstore {
namespace {

// About a megabyte at a time, by the session's average.
constexpr std::uint64_t kStretchBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kStretchMax = 1024;

Ordinal stretch_length(const LogHead& head) {
  const std::uint64_t average = head.bytes / std::max<Ordinal>(head.fold.count, 1) + 1;
  return static_cast<Ordinal>(std::clamp<std::uint64_t>(kStretchBytes / average, 1, kStretchMax));
}

Error missing(const std::string& session_id, Ordinal own) {
  return {Code::kCorrupt,
          "entry " + std::to_string(own) + " of session " + session_id + " is not in the database"};
}

// All that is known of a row whose line is not the one that was stored.
std::string stand_in(const sql::Rows& row) {
  std::string json;
  append_entry_json(json, {.id = row.text(6),
                           .parent = std::nullopt,
                           .type = row.text(0),
                           .timestamp = row.text(7),
                           .run_id = {},
                           .payload = R"({"damaged":true})",
                           .meta = {}});
  return json;
}

}  // namespace

std::string_view SqlView::Texts::add(std::string_view text) {
  if (text.size() > left_) {
    // A long one by itself: the rest of the block is for those that follow.
    const bool is_long = text.size() > expected_ / 2;
    const std::size_t bytes = is_long ? text.size() : expected_;
    char* block = blocks_.emplace_back(new char[bytes]).get();
    if (is_long) {
      std::memcpy(block, text.data(), text.size());
      return {block, text.size()};
    }
    next_ = block;
    left_ = bytes;
  }
  if (!text.empty()) std::memcpy(next_, text.data(), text.size());
  const std::string_view copy(next_, text.size());
  next_ += text.size();
  left_ -= text.size();
  return copy;
}

SqlView::SqlView(std::shared_ptr<sql::Pool> pool, std::string session_id, LogHead head)
    : pool_(std::move(pool)),
      session_id_(std::move(session_id)),
      head_(std::move(head)),
      length_(stretch_length(head_)),
      stretches_(head_.fold.count / length_ + 1) {}

Result<std::unique_ptr<const SqlView::Stretch>> SqlView::fetch(Ordinal first, Ordinal end) const {
  using Fetched = std::unique_ptr<const Stretch>;
  return pool_->reading([&](sql::Engine& engine) -> Result<Fetched> {
    const sql::Param params[] = {session_id_, std::int64_t{first}, std::int64_t{end}};
    TRY_ASSIGN(const auto rows, engine.ask(kReadEntries, params));
    const std::uint64_t average = head_.bytes / head_.fold.count + 1;
    auto stretch =
        std::make_unique<Stretch>(Stretch{.rows = {}, .lines = Texts(average * (end - first))});
    stretch->rows.reserve(end - first);
    for (;;) {
      TRY_ASSIGN(const bool more, rows->next());
      if (!more) break;
      const bool damaged = rows->integer(5) != std::int64_t{crc32c(rows->text(4))};
      stretch->rows.push_back(
          {.place = placement(rows->text(0), integer_or_null(*rows, 1), rows->integer(2),
                              rows->integer(3) != 0),
           .line = stretch->lines.add(damaged ? stand_in(*rows) : rows->text(4)),
           .damaged = damaged});
    }
    if (stretch->rows.size() != end - first) {
      return missing(session_id_, first + static_cast<Ordinal>(stretch->rows.size()));
    }
    return Fetched(std::move(stretch));
  });
}

Result<StoredEntry> SqlView::entry(Ordinal own) const {
  if (own >= head_.fold.count) return Error(Code::kInternal, "no such entry");
  const Ordinal number = own / length_;
  std::atomic<const Stretch*>* place = &stretches_[number];
  Ordinal first = number * length_;
  Ordinal end = std::min(first + length_, head_.fold.count);
  const Stretch* stretch = place->load(std::memory_order_acquire);
  // Whoever asks for the last one mostly wants to know whether it is still the same.
  if (stretch == nullptr && own + 1 == head_.fold.count) {
    place = &tail_;
    first = own;
    end = own + 1;
    stretch = place->load(std::memory_order_acquire);
  }
  if (stretch == nullptr) {
    // Two threads may fetch the same: either copy will do.
    TRY_ASSIGN(auto made, fetch(first, end));
    stretch = made.get();
    MutexLock lock(mutex_);
    for (Ordinal i = first; i < end; ++i) {
      if (stretch->rows[i - first].damaged) damaged_.insert(i);
    }
    owned_.push_back(std::move(made));
    place->store(stretch, std::memory_order_release);
  }
  const Row& row = stretch->rows[own - first];
  return StoredEntry{.place = row.place, .text = row.line, .damaged = row.damaged};
}

std::uint32_t SqlView::damaged() const {
  MutexLock lock(mutex_);
  return static_cast<std::uint32_t>(damaged_.size());
}

void SqlView::done_before(Ordinal own) const {
  const Ordinal number = own / length_;
  if (number <= let_go_.load(std::memory_order_relaxed)) return;
  MutexLock lock(mutex_);
  for (Ordinal i = let_go_.exchange(number); i < number; ++i) {
    const Stretch* const stretch = stretches_[i].exchange(nullptr);
    std::erase_if(owned_, [stretch](const auto& one) { return one.get() == stretch; });
  }
}

Result<std::vector<Placement>> SqlView::places() const {
  return pool_->reading([&](sql::Engine& engine) -> Result<std::vector<Placement>> {
    const sql::Param params[] = {session_id_, std::int64_t{head_.fold.count}};
    TRY_ASSIGN(const auto rows, engine.ask(kReadPlaces, params));
    std::vector<Placement> places;
    places.reserve(head_.fold.count);
    for (;;) {
      TRY_ASSIGN(const bool more, rows->next());
      if (!more) break;
      places.push_back(placement(rows->text(0), integer_or_null(*rows, 1), rows->integer(2),
                                 rows->integer(3) != 0));
    }
    if (places.size() != head_.fold.count) {
      return missing(session_id_, static_cast<Ordinal>(places.size()));
    }
    return places;
  });
}

Result<std::string> SqlView::id(Ordinal own) const {
  if (own + 1 == head_.fold.count) return head_.tail_id;
  if (own + head_.fold.base == head_.fold.head) return head_.head_id;
  // A reader looks back at branch points, and needs no more of them than this.
  if (own / length_ < let_go_.load(std::memory_order_relaxed)) {
    return pool_->reading([&](sql::Engine& engine) -> Result<std::string> {
      const sql::Param params[] = {session_id_, std::int64_t{own}};
      TRY_ASSIGN(const auto rows, engine.ask(kReadId, params));
      TRY_ASSIGN(const bool is_there, rows->next());
      if (!is_there) return missing(session_id_, own);
      return std::string(rows->text(0));
    });
  }
  TRY_ASSIGN(const StoredEntry found, entry(own));
  return std::string(read_envelope_prefix(found.text).id.view());
}

Result<std::optional<Ordinal>> SqlView::find(std::string_view id) const {
  return pool_->reading([&](sql::Engine& engine) -> Result<std::optional<Ordinal>> {
    const sql::Param params[] = {session_id_, id};
    TRY_ASSIGN(const auto found, engine.number(kFindEntry, params));
    if (!found || *found >= head_.fold.count) return std::optional<Ordinal>();
    return std::optional(static_cast<Ordinal>(*found));
  });
}

}  // namespace quipu::sqlstore
