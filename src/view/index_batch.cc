#include "view/index_batch.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include "base/crc32c.h"
#include "base/try.h"
#include "view/session_index.h"

namespace quipu::view {
namespace {

constexpr std::size_t kTextBytesMax = std::size_t{8} << 20;
constexpr std::size_t kLogsMax = 4096;

// Own entries that redactions name: of those that are seen already, and of the others.
struct Redacted {
  std::set<Ordinal> before;
  std::set<Ordinal> since;
  bool is_new = false;  // some of them are not seen yet, whatever they name
};

Result<Redacted> redacted_in(const LogView& own, Ordinal seen) {
  Redacted redacted;
  const FoldState& fold = own.fold();
  Ordinal fact = fold.last_fact[static_cast<std::size_t>(EntryType::kRedaction)];
  if (fact == kNone || fact - fold.base < seen) return redacted;
  redacted.is_new = true;
  while (fact != kNone) {
    TRY_ASSIGN(const StoredEntry stored, own.entry(fact - fold.base));
    const Ordinal target = stored.place.parent;
    if (target != kNone && target >= fold.base) {
      (fact - fold.base < seen ? redacted.before : redacted.since).insert(target - fold.base);
    }
    fact = stored.place.depth;
  }
  return redacted;
}

}  // namespace

IndexBatch::IndexBatch(const SearchState& before) : before_(before), after_(before) {
  ++after_.generation;
}

bool IndexBatch::is_full() const {
  return text_bytes_ >= kTextBytesMax || changed_.size() + dropped_.size() >= kLogsMax;
}

SearchBlock& IndexBatch::block_for(Ordinal own, Step& step) {
  auto& blocks = step.log.blocks;
  if (blocks.empty() || own - blocks.back().first >= kBlockEntries) {
    blocks.push_back({.number = step.next_number++, .first = own});
  }
  return blocks.back();
}

IndexBatch::Spoken IndexBatch::spoken(const SearchBlock& block, Ordinal own, Said& said) {
  Spoken spoken{.key = block.key(own), .text = std::move(said.text), .tags = tags_of(said)};
  spoken.tags.push_back(block_tag(block.number));
  return spoken;
}

Result<void> IndexBatch::take_out_redacted(const Lineage& lineage, SaidReader& reader, Step& step) {
  TRY_ASSIGN(const Redacted redacted, redacted_in(lineage.own(), step.log.seen));
  step.has_redactions = redacted.is_new;
  for (const Ordinal own : redacted.since) {
    if (own >= step.log.cursor.entries || redacted.before.contains(own)) continue;
    Said said;
    TRY(reader.read(own, said));
    if (said.text.empty()) continue;
    const auto& blocks = step.log.blocks;
    const auto after = std::upper_bound(
        blocks.begin(), blocks.end(), own,
        [](Ordinal wanted, const SearchBlock& block) { return wanted < block.first; });
    if (after == blocks.begin()) return Error(Code::kCorrupt, "an indexed entry without a block");
    step.removed.push_back(spoken(*std::prev(after), own, said));
  }
  return {};
}

Result<void> IndexBatch::take_in(const Lineage& lineage, SaidReader& reader, Step& step) {
  const Ordinal count = lineage.own().fold().count;
  Ordinal& next = step.log.cursor.entries;
  Said said;
  for (; next < count && text_bytes_ + step.text_bytes < kTextBytesMax; ++next) {
    if (lineage.is_redacted(lineage.base() + next)) continue;
    TRY(reader.read(next, said));
    if (said.text.empty()) continue;
    SearchBlock& block = block_for(next, step);
    using Times = std::numeric_limits<std::int64_t>;
    block.since_ms = std::min(block.since_ms, said.time_ms.value_or(Times::min()));
    block.until_ms = std::max(block.until_ms, said.time_ms.value_or(Times::max()));
    step.text_bytes += said.text.size();
    step.added.push_back(spoken(block, next, said));
  }
  return {};
}

Result<void> IndexBatch::add(Backend& backend, const SurveyedLog& log) {
  TRY_ASSIGN(const auto lineage, backend.lineage(log.session_id));
  const LogView& own = lineage->own();
  Step step;
  step.next_number = after_.next_number;
  const auto known = after_.logs.find(log.session_id);
  bool is_new = true;
  if (known != after_.logs.end()) {
    TRY_ASSIGN(const bool grown, is_beginning(known->second.cursor, own, log));
    if (grown) step.log = known->second;
    is_new = !grown;
  }
  if (!step.log.blocks.empty()) step.first_block = step.log.blocks.size() - 1;
  SaidReader reader(lineage);
  TRY(take_out_redacted(*lineage, reader, step));
  TRY(take_in(*lineage, reader, step));

  LogCursor& cursor = step.log.cursor;
  const Ordinal count = own.fold().count;
  cursor.device = log.device;
  cursor.inode = log.inode;
  cursor.modified_ms = log.modified_ms;
  // Until it is read to its end it is not fresh.
  cursor.settled_bytes = cursor.entries == count ? own.settled_bytes() : 0;
  if (cursor.entries > 0) {
    TRY_ASSIGN(const StoredEntry last, own.entry(cursor.entries - 1));
    cursor.tail_crc = crc32c(last.text);
  }
  step.log.seen = count;
  // Such as a torn end, which is looked at again and again.
  const bool is_known = known != after_.logs.end();
  if (is_known && step.log == known->second && step.removed.empty()) return {};

  if (is_new && is_known) dropped_.push_back(log.session_id);
  if (is_new) step.first_block = 0;
  const auto [changed, first_time] = changed_.try_emplace(log.session_id, step.first_block);
  if (!first_time) changed->second = std::min(changed->second, step.first_block);
  report_.entries += step.added.size();
  report_.removed += step.removed.size();
  after_.is_uncut = after_.is_uncut || !step.removed.empty();
  report_.text_bytes += step.text_bytes;
  if (cursor.entries == count) ++report_.sessions;
  text_bytes_ += step.text_bytes;
  has_redactions_ = has_redactions_ || step.has_redactions;
  after_.next_number = step.next_number;
  after_.logs[log.session_id] = std::move(step.log);
  std::move(step.added.begin(), step.added.end(), std::back_inserter(added_));
  std::move(step.removed.begin(), step.removed.end(), std::back_inserter(removed_));
  return {};
}

void IndexBatch::drop(const std::string& session_id) {
  dropped_.push_back(session_id);
  after_.logs.erase(session_id);
}

std::vector<sql::Command> IndexBatch::commands(const search::TextIndex& texts) {
  StateChange change;
  for (const std::string& session : dropped_) change.drop(session);
  for (const auto& [session, first_block] : changed_) {
    change.put(session, after_.logs.at(session), first_block);
  }
  std::vector<sql::Command> all = change.finish(before_, after_);
  const auto documents_of = [](const std::deque<Spoken>& spoken) {
    std::vector<search::Document> documents;
    documents.reserve(spoken.size());
    for (const Spoken& one : spoken) {
      documents.push_back({.key = one.key, .text = one.text, .context = {}, .tags = one.tags});
    }
    return documents;
  };
  if (!removed_.empty()) texts.remove(documents_of(removed_), writes_);
  if (!added_.empty()) texts.add(documents_of(added_), writes_);
  // Without it the words could still be read in the file.
  if (!removed_.empty()) texts.purge(writes_);
  std::move(writes_.commands.begin(), writes_.commands.end(), std::back_inserter(all));
  return all;
}

}  // namespace quipu::view
