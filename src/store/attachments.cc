#include "quipu/attachments.h"

#include <algorithm>
#include <array>

#include "backend/backend.h"
#include "base/base64.h"
#include "base/json_write.h"
#include "base/sha256.h"
#include "base/try.h"
#include "store/fact_walk.h"
#include "store/guarded.h"

namespace quipu {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
// A copy that is bad again and again is a bad disk.
constexpr int kReplaceTries = 3;

Result<std::string> checked_name(std::string_view sha256) {
  if (is_sha256_hex(sha256)) return std::string(sha256);
  return Error(Code::kInvalidArgument, "not a SHA-256")
      .with_hint("64 hexadecimal digits in lower case");
}

AttachmentStat stat_of(const AttachmentFacts& facts) {
  return {.sha256 = facts.sha256, .bytes = facts.bytes, .modified_ms = facts.modified_ms};
}

// Whether the bytes under this name are those.
Result<bool> is_sound(AttachmentStore& store, const std::string& sha256) {
  auto source = store.open(sha256);
  if (!source.ok() && source.error().code() == Code::kNotFound) return false;
  if (!source.ok()) return std::move(source).error();
  AttachmentReader reader(std::move(source).value(), sha256);
  std::vector<char> piece(kPieceBytes);
  for (;;) {
    auto read = reader.read(piece);
    if (!read.ok() && read.error().code() == Code::kCorrupt) return false;
    if (!read.ok()) return std::move(read).error();
    if (*read == 0) return true;
  }
}

// Names what was written, or finds it there already: success means that `get`
// will give these bytes.
Result<void> commit(AttachmentStore& store, AttachmentSink& sink, const std::string& sha256) {
  for (int tries = 1;; ++tries) {
    auto committed = sink.commit(sha256);
    if (committed.ok() || committed.error().code() != Code::kIdConflict) return committed;
    TRY_ASSIGN(const bool sound, is_sound(store, sha256));
    if (sound) return {};
    if (tries == kReplaceTries) {
      return Error(Code::kCorrupt, "attachment " + sha256 + " is damaged and cannot be replaced");
    }
    TRY(store.set_aside(sha256));
  }
}

}  // namespace

struct AttachmentReader::State {
  std::unique_ptr<AttachmentSource> source;
  std::string sha256;
  Sha256 hash;
  std::uint64_t offset = 0;
  bool verified = false;
};

AttachmentReader::AttachmentReader(std::unique_ptr<AttachmentSource> source, std::string sha256)
    : state_(std::make_unique<State>()) {
  state_->source = std::move(source);
  state_->sha256 = std::move(sha256);
}
AttachmentReader::AttachmentReader(AttachmentReader&&) noexcept = default;
AttachmentReader& AttachmentReader::operator=(AttachmentReader&&) noexcept = default;
AttachmentReader::~AttachmentReader() = default;

Result<std::size_t> AttachmentReader::read(std::span<char> into) {
  return guarded([&]() -> Result<std::size_t> {
    if (into.empty()) return Error(Code::kInvalidArgument, "no room to read into");
    if (state_->verified) return std::size_t{0};
    TRY_ASSIGN(const std::size_t count, state_->source->read_at(into, state_->offset));
    state_->offset += count;
    state_->hash.update({into.data(), count});
    if (count > 0) return count;
    const std::string found = state_->hash.finish();
    if (found != state_->sha256) {
      state_->hash = Sha256();  // a second attempt at the end must not pass either
      return Error(Code::kCorrupt,
                   "attachment " + state_->sha256 + " holds other bytes: they hash to " + found);
    }
    state_->verified = true;
    return count;
  });
}

Attachments::Attachments(Store& store) : sessions_(&store.sessions()), backend_(store.backend()) {}

Result<AttachmentStore*> Attachments::kept() const {
  TRY(sessions_->check_open());
  return &backend_->attachments();
}

Result<StoredAttachment> Attachments::put(const ReadBytes& read, const AttachmentOptions& options) {
  return guarded([&]() -> Result<StoredAttachment> {
    TRY_ASSIGN(AttachmentStore* const store, kept());
    TRY_ASSIGN(const auto sink, store->create());
    Sha256 hash;
    StoredAttachment stored;
    std::vector<char> piece(kPieceBytes);
    for (;;) {
      TRY_ASSIGN(const std::size_t count, read(piece));
      if (count == 0) break;
      const std::string_view bytes(piece.data(), count);
      hash.update(bytes);
      TRY(sink->write(bytes));
      stored.bytes += count;
    }
    stored.sha256 = hash.finish();
    TRY(commit(*store, *sink, stored.sha256));
    stored.part = {.type = PartType::kAttachment,
                   .name = options.name,
                   .media_type = options.media_type,
                   .sha256 = stored.sha256};
    return stored;
  });
}

Result<StoredAttachment> Attachments::put(std::string_view bytes,
                                          const AttachmentOptions& options) {
  return put(
      [&](std::span<char> into) -> Result<std::size_t> {
        const std::size_t count = bytes.copy(into.data(), into.size());
        bytes.remove_prefix(count);
        return count;
      },
      options);
}

Result<AttachmentReader> Attachments::open(std::string_view sha256) {
  return guarded([&]() -> Result<AttachmentReader> {
    TRY_ASSIGN(std::string name, checked_name(sha256));
    TRY_ASSIGN(AttachmentStore* const store, kept());
    TRY_ASSIGN(auto source, store->open(name));
    return AttachmentReader(std::move(source), std::move(name));
  });
}

Result<std::string> Attachments::get(std::string_view sha256) {
  return guarded([&]() -> Result<std::string> {
    TRY_ASSIGN(AttachmentReader reader, open(sha256));
    std::string bytes;
    std::vector<char> piece(kPieceBytes);
    for (;;) {
      TRY_ASSIGN(const std::size_t count, reader.read(piece));
      if (count == 0) return bytes;
      bytes.append(piece.data(), count);
    }
  });
}

Result<AttachmentStat> Attachments::stat(std::string_view sha256) {
  return guarded([&]() -> Result<AttachmentStat> {
    TRY_ASSIGN(const std::string name, checked_name(sha256));
    TRY_ASSIGN(AttachmentStore* const store, kept());
    TRY_ASSIGN(const AttachmentFacts facts, store->facts(name));
    return stat_of(facts);
  });
}

Result<std::vector<AttachmentStat>> Attachments::list() {
  return guarded([&]() -> Result<std::vector<AttachmentStat>> {
    TRY_ASSIGN(AttachmentStore* const store, kept());
    TRY_ASSIGN(const auto all, store->list());
    std::vector<AttachmentStat> stats;
    for (const AttachmentFacts& facts : all) stats.push_back(stat_of(facts));
    std::sort(stats.begin(), stats.end(),
              [](const AttachmentStat& a, const AttachmentStat& b) { return a.sha256 < b.sha256; });
    return stats;
  });
}

namespace {

class InlineMover {
 public:
  InlineMover(Attachments& attachments, std::size_t inline_bytes_max)
      : attachments_(attachments), inline_bytes_max_(inline_bytes_max) {}

  /// Writes an object that may have `content` with parts in it.
  Result<void> write_object(std::string_view object, json::Writer& out) {
    const bool is_attachment = text_member(object, "type") == "attachment";
    const bool has_data = is_attachment && is_long(json::find_member(object, "data"));
    out.begin_object();
    json::MemberWalk walk(object);
    while (const auto member = walk.next()) {
      const bool is_parts =
          member->kind == json::Kind::kArray && json::key_equals(member->key, "content");
      const bool is_data = has_data && json::key_equals(member->key, "data");
      // The data decides, and there is one hash.
      if (has_data && json::key_equals(member->key, "sha256")) continue;
      if (is_parts) {
        out.key(member->key);
        TRY(write_parts(member->value, out));
      } else if (is_data) {
        TRY(write_data(*member, out));
      } else {
        out.raw_member(member->key, member->value);
      }
    }
    out.end_object();
    return {};
  }

  bool moved() const { return moved_; }

 private:
  // The door has limited how deep this goes.
  Result<void> write_parts(std::string_view parts, json::Writer& out) {
    out.begin_array();
    json::ElementWalk walk(parts);
    while (const auto part = walk.next()) {
      if (part->kind == json::Kind::kObject) {
        TRY(write_object(part->value, out));
      } else {
        out.raw(part->value);
      }
    }
    out.end_array();
    return {};
  }

  bool is_long(const std::optional<json::Member>& data) const {
    return data && data->kind == json::Kind::kString &&
           json::decode_string(data->value).size() / 4 * 3 > inline_bytes_max_;
  }

  Result<void> write_data(const json::Member& data, json::Writer& out) {
    const auto bytes = base64_decode(json::decode_string(data.value));
    if (!bytes) return Error(Code::kInvalidArgument, "the data of an attachment is no base64");
    TRY_ASSIGN(const StoredAttachment stored, attachments_.put(*bytes));
    out.member("sha256", stored.sha256);
    moved_ = true;
    return {};
  }

  Attachments& attachments_;
  std::size_t inline_bytes_max_;
  bool moved_ = false;
};

}  // namespace

Result<std::string> Attachments::move_inline(std::string_view payload,
                                             std::size_t inline_bytes_max) {
  return guarded([&]() -> Result<std::string> {
    TRY(json::validate_inner_object(payload));
    InlineMover mover(*this, inline_bytes_max);
    std::string moved;
    json::Writer out(moved);
    TRY(mover.write_object(payload, out));
    // Not even white space changes when there is nothing to move.
    return mover.moved() ? moved : std::string(payload);
  });
}

}  // namespace quipu
