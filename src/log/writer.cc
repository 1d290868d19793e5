#include "log/writer.h"

#include <algorithm>
#include <utility>

#include "base/crc32c.h"
#include "base/try.h"
#include "log/quarantine.h"
#include "log/seal.h"

namespace quipu::log {
namespace {

bool is_damaged_index(const Error& error) { return error.code() == Code::kCorrupt; }

}  // namespace

Result<std::unique_ptr<LogWriter>> LogWriter::open(WriterContext context, LogPaths paths,
                                                   std::shared_ptr<const Inherited> inherited) {
  std::unique_ptr<LogWriter> writer(new LogWriter(context, std::move(paths), std::move(inherited)));
  TRY(writer->load());
  return writer;
}

Result<void> LogWriter::load() {
  TRY_ASSIGN(file_, context_.fs.open(paths_.log, fs::OpenMode::kAppend));
  // Whoever made the file may have been killed before its name was durable.
  TRY(context_.fs.sync_dir(paths_.directory));
  TRY_ASSIGN(const fs::Stat stat, file_->stat());
  identity_ = stat.identity;
  bytes_.emplace(*file_);
  TRY_ASSIGN(const std::string first, first_line(*file_, stat.size));
  chain_id_ = chain_session_id(first, paths_.session_id);
  // What a torn tail is over there, we cannot know: nothing is cut, nothing added.
  if (const int version = header_of(first).version; version > kSchemaVersion) {
    return Error(Code::kUnsupported, "session " + paths_.session_id + " has version " +
                                         std::to_string(version) + " and can only be read");
  }
  if (!open_index().ok()) return rebuild_index();
  auto caught_up = catch_up(stat.size);
  if (!caught_up.ok() && is_damaged_index(caught_up.error())) return rebuild_index();
  return caught_up;
}

Result<void> LogWriter::open_index() {
  TRY_ASSIGN(auto file, context_.fs.open(paths_.index, fs::OpenMode::kReadWrite));
  TRY_ASSIGN(auto index,
             Index::open(std::move(file), {.log = identity_, .boot_id = context_.fs.boot_id()},
                         fs::MapMode::kShared));
  TRY_ASSIGN(const IndexState state, index->published());
  TRY_ASSIGN(const fs::Stat stat, file_->stat());
  const Ordinal base = inherited_ ? inherited_->count() : 0;
  state_ = state;
  TRY_ASSIGN(const bool fits, fits_the_log(stat.size));
  if (!fits || state.fold.base != base) {
    return Error(Code::kCorrupt, "offset index: does not fit the log");
  }
  use_index(std::move(index));
  return {};
}

void LogWriter::use_index(std::shared_ptr<Index> index) {
  index_ = std::move(index);
  known_ = kNone;
  builder_.emplace(*index_, state_, inherited_.get(),
                   [this](const IndexEntry& entry) { return line_text(entry); });
}

Result<void> LogWriter::rebuild_index() {
  ignore(context_.fs.remove(paths_.index), "there may be none");
  const IndexOwner owner{.log = identity_, .boot_id = context_.fs.boot_id()};
  std::shared_ptr<Index> index;
  if (auto file = context_.fs.open(paths_.index, fs::OpenMode::kCreate); file.ok()) {
    auto created = Index::create(std::move(file).value(), owner, context_.key);
    if (created.ok()) index = std::move(created).value();
  }
  // No room for an index is no reason not to work.
  if (!index) index = Index::in_memory(context_.key);
  state_ = IndexState{};
  state_.fold = fold_start(inherited_ ? inherited_->count() : 0);
  state_.chain = chain_seed(chain_id_);
  use_index(std::move(index));
  is_recovered_ = true;
  TRY_ASSIGN(const fs::Stat stat, file_->stat());
  return catch_up(stat.size);
}

Result<void> LogWriter::catch_up(std::uint64_t size) {
  dirty_ = true;
  std::uint64_t torn_bytes = 0;
  const std::uint64_t from = state_.committed;
  if (size > from) {
    TRY_ASSIGN(std::string_view tail, bytes_->at(from, static_cast<std::size_t>(size - from)));
    if (tail.back() != '\n' && settled_end(tail) == tail.size()) {
      // Another program's last line, whole but for this.
      TRY(fs::append_all(*file_, "\n"));
      TRY_ASSIGN(tail, bytes_->at(from, tail.size() + 1));
    }
    // The builder may remap the log to look at older lines.
    const fs::Mapping keep = bytes_->keep_alive();
    const Recovered recovered = recover(tail, from, state_.chain, *builder_);
    if (builder_->failure()) return *builder_->failure();
    state_.committed = recovered.committed;
    state_.chain = recovered.chain;
    torn_bytes = recovered.torn_bytes;
  }
  // Also for who cannot cut off a torn tail: what stands before it is known now.
  TRY_ASSIGN(state_.tail_crc, tail_crc(*file_, state_.committed));
  index_->publish(state_);
  return torn_bytes > 0 ? cut_torn_tail(torn_bytes) : Result<void>();
}

Result<void> LogWriter::cut_torn_tail(std::uint64_t bytes) {
  TRY_ASSIGN(std::string path,
             quarantine(context_.fs, paths_, *file_, state_.committed, bytes,
                        "torn tail: a batch that was never completed", context_.clock));
  // Another program may have gone on behind it meanwhile: what is cut must be what was copied.
  TRY_ASSIGN(const fs::Stat stat, file_->stat());
  if (stat.size != state_.committed + bytes) {
    ignore(context_.fs.remove(path), "a copy of what is still in the log");
    return other_program_writes();
  }
  quarantined_.push_back(std::move(path));
  TRY(file_->truncate(state_.committed));
  if (auto synced = file_->sync(); !synced.ok()) {
    refused_ = Error(Code::kIoError,
                     "the disk would not confirm a repair: " + std::move(synced).error().message());
    return *refused_;
  }
  state_.durable = state_.committed;
  index_->publish(state_);
  return {};
}

Error LogWriter::other_program_writes() const {
  return {Code::kBusy, "another program is writing to session " + paths_.session_id};
}

Result<bool> LogWriter::refresh() {
  if (refused_) return *refused_;
  TRY_ASSIGN(const fs::Stat stat, context_.fs.stat_size(paths_.log));
  if (stat.identity != identity_) return false;
  if (!index_->is_private() && !index_->newest_is_own()) {
    const auto others = index_->published();
    if (!others.ok()) {
      TRY(rebuild_index());
      return true;
    }
    if (others->committed > state_.committed) state_ = *others;
  }
  if (stat.size == state_.committed) return true;
  TRY_ASSIGN(const bool fits, fits_the_log(stat.size));
  auto caught_up = fits ? catch_up(stat.size) : rebuild_index();
  if (!caught_up.ok() && is_damaged_index(caught_up.error())) caught_up = rebuild_index();
  if (!caught_up.ok()) return std::move(caught_up).error();
  return true;
}

// Not when another program has cut the log, or written it anew.
Result<bool> LogWriter::fits_the_log(std::uint64_t size) {
  if (size < state_.committed) return false;
  TRY_ASSIGN(const std::uint32_t crc, tail_crc(*file_, state_.committed));
  return crc == state_.tail_crc;
}

Result<std::string_view> LogWriter::line_text(const IndexEntry& entry) {
  // While catching up nothing is staged, and lines above the committed length
  // are indexed already.
  if (staged_.empty() || entry.offset < staged_from()) return bytes_->at(entry.offset, entry.bytes);
  return std::string_view(staging_).substr(entry.offset - staged_from(), entry.bytes);
}

// As LogSnapshot::is_sound; who finds a line that does not fit reads the log from its beginning.
Result<bool> LogWriter::is_sound(const IndexEntry& entry) {
  if (is_recovered_ || entry.adopted || entry.offset >= state_.committed) return true;
  const std::uint64_t from = entry.offset - std::min<std::uint64_t>(entry.offset, kSealBytes + 2);
  const auto before = static_cast<std::size_t>(entry.offset - from);
  TRY_ASSIGN(const std::string_view both, bytes_->at(from, before + entry.bytes));
  const std::string_view text = both.substr(before);
  const auto seal = find_seal(text);
  if (!seal) return false;
  if (before == 0) return seal_crc(chain_seed(chain_id_), text) == seal->crc;
  return extends_seal(both.substr(0, before), text).value_or(true);
}

Result<std::string_view> LogWriter::line(Ordinal visible) {
  TRY_ASSIGN(const IndexEntry entry, index_->entry(visible - state_.fold.base));
  TRY_ASSIGN(const bool sound, is_sound(entry));
  if (!sound) return Error(Code::kCorrupt, "a line is not the one that was sealed");
  return line_text(entry);
}

Result<std::string_view> LogWriter::id(Ordinal visible) {
  if (visible != known_) {
    TRY_ASSIGN(const IndexEntry entry, index_->entry(visible - state_.fold.base));
    TRY_ASSIGN(const std::string_view text, line_text(entry));
    known_id_ = id_of(*index_, entry, text);
    known_ = visible;
  }
  return std::string_view(known_id_);
}

void LogWriter::stage(const Draft& draft, std::string_view parent, const FoldInput& input) {
  if (staged_.empty()) before_ = state_.fold;
  const std::size_t start = staging_.size();
  draft.append_body(staging_, parent);
  append_unsealed(staging_, {});
  const std::size_t size = staging_.size() - start;
  staged_.emplace_back(start, size);
  known_ = state_.fold.next();
  known_id_ = draft.id.view();
  builder_->add(staged_from() + start, size - 1, known_id_, input);
}

void LogWriter::drop_staged() {
  if (staged_.empty()) return;
  index_->take_back(before_.count, state_.fold.count);
  builder_->take_back();
  state_.fold = before_;
  known_ = kNone;
  staging_.clear();
  staged_.clear();
}

Result<void> LogWriter::commit(bool sync) {
  auto written = [&]() -> Result<void> {
    if (refused_) return *refused_;
    if (builder_->failure()) return *builder_->failure();
    if (sync) TRY(sync_earlier());
    return staged_.empty() ? Result<void>() : write_batch(sync);
  }();
  if (!written.ok()) drop_staged();
  staging_.clear();
  staged_.clear();
  return written;
}

// Invariant 2. Also what a repeat relies on: success means on the disk, whoever
// wrote it.
Result<void> LogWriter::sync_earlier() {
  if (state_.durable == state_.committed) return {};
  if (auto synced = file_->sync(); !synced.ok()) {
    refused_ = Error(Code::kIoError, "earlier entries cannot be made durable: " +
                                         std::move(synced).error().message());
    return *refused_;
  }
  state_.durable = state_.committed;
  // Staged entries are in the state already, but not in the log.
  if (staged_.empty()) index_->publish(state_);
  return {};
}

Result<void> LogWriter::write_batch(bool sync) {
  std::uint32_t chain = state_.chain;
  for (std::size_t i = 0; i < staged_.size(); ++i) {
    const auto remaining = static_cast<std::uint32_t>(staged_.size() - 1 - i);
    chain = write_seal(staging_.data() + staged_[i].first, staged_[i].second, remaining, chain);
  }
  if (auto written = fs::append_all(*file_, staging_); !written.ok()) {
    const Code code = written.error().code();
    if (code == Code::kStorageGone) refused_ = written.error();
    // Nobody was told of these bytes and no reader counts them. If they cannot
    // be removed now, the next writer takes them for what they are: torn.
    if (code != Code::kStorageGone) ignore(take_back_staged(), "they are invisible anyway");
    return written;
  }
  if (sync) {
    if (auto synced = file_->sync(); !synced.ok()) {
      refused_ = Error(Code::kIoError,
                       "the session is read-only since the disk refused to confirm a write");
      return Error(Code::kDurabilityUnknown, std::move(synced).error().message());
    }
  }
  dirty_ = true;
  const auto end = file_->append_end();
  if (!end.ok() || *end != state_.committed + staging_.size()) return find_written(end, sync);
  state_.committed = *end;
  state_.chain = chain;
  if (sync) state_.durable = state_.committed;
  const std::string_view tail(staging_);
  if (tail.size() >= kTailCrcBytes) {
    state_.tail_crc = crc32c(tail.substr(tail.size() - kTailCrcBytes));
  } else if (auto crc = tail_crc(*file_, state_.committed); crc.ok()) {
    state_.tail_crc = *crc;  // else the index will not fit, and be made anew
  }
  index_->publish(state_);
  return {};
}

// Lines of another program came between the last look at the log and the write: the batch
// stands behind them, and counts as recovery says. Nobody has been told of it yet.
Result<void> LogWriter::find_written(const Result<std::uint64_t>& end, bool synced) {
  drop_staged();
  auto caught_up = end.ok() ? catch_up(*end) : Result<void>(end.error());
  if (!caught_up.ok() && is_damaged_index(caught_up.error())) caught_up = rebuild_index();
  if (!caught_up.ok()) {
    return Error(Code::kDurabilityUnknown,
                 "the batch was written, and " + std::move(caught_up).error().message());
  }
  if (state_.committed < *end) return other_program_writes();
  if (synced) {
    state_.durable = *end;
    index_->publish(state_);
  }
  return {};
}

// Not if another program's line came before them.
Result<void> LogWriter::take_back_staged() {
  TRY_ASSIGN(const fs::Stat stat, file_->stat());
  if (stat.size <= state_.committed) return {};
  const auto size = static_cast<std::size_t>(stat.size - state_.committed);
  TRY_ASSIGN(const std::string_view added, bytes_->at(state_.committed, size));
  if (!std::string_view(staging_).starts_with(added)) return {};
  return file_->truncate(state_.committed);
}

Result<void> LogWriter::close() {
  if (refused_ || !dirty_) return {};
  if (state_.durable < state_.committed) {
    if (auto synced = file_->sync(); !synced.ok()) {
      refused_ = synced.error();
      return Error(Code::kDurabilityUnknown, std::move(synced).error().message());
    }
    state_.durable = state_.committed;
  }
  ignore(index_->close_clean(state_), "without the mark the next boot rebuilds the index");
  dirty_ = false;
  return {};
}

}  // namespace quipu::log
