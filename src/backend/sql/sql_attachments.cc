#include "backend/sql/sql_attachments.h"

#include <algorithm>

#include "base/try.h"
#include "base/uuid.h"

namespace quipu::sqlstore {
namespace {

using sql::Text;

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

constexpr Text kAddChunk =
    "INSERT INTO @attachment_chunks (upload, seq, bytes) VALUES ($1, $2, $3)";
constexpr Text kDropChunks = "DELETE FROM @attachment_chunks WHERE upload = $1";
constexpr Text kReadChunk = "SELECT bytes FROM @attachment_chunks WHERE upload = $1 AND seq = $2";
constexpr Text kAddAttachment =
    "INSERT INTO @attachments (sha256, upload, bytes, modified_ms) VALUES ($1, $2, $3, $4)";
constexpr Text kReadAttachment =
    "SELECT upload, bytes, modified_ms FROM @attachments WHERE sha256 = $1";
constexpr Text kReadAll = "SELECT sha256, bytes, modified_ms FROM @attachments";
constexpr Text kSetAside = "UPDATE @attachments SET sha256 = $1 WHERE sha256 = $2";

Error no_attachment(const std::string& sha256) {
  return {Code::kNotFound, "there is no attachment " + sha256};
}

class Sink : public AttachmentSink {
 public:
  Sink(sql::Pool& pool, Clock& clock, std::string upload)
      : pool_(pool), clock_(clock), upload_(std::move(upload)) {}

  ~Sink() override {
    if (committed_ || chunks_ == 0) return;
    const sql::Command drop{.text = kDropChunks, .params = {upload_}};
    ignore(commit_all({&drop, 1}), "bytes that no row points at harm nobody");
  }

  Result<void> write(std::string_view bytes) override {
    size_ += static_cast<std::int64_t>(bytes.size());
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, kChunkBytes - waiting_.size());
      waiting_ += part;
      bytes.remove_prefix(part.size());
      if (waiting_.size() == kChunkBytes) TRY(flush());
    }
    return {};
  }

  Result<void> commit(const std::string& sha256) override {
    if (!waiting_.empty()) TRY(flush());
    const sql::Command add{.text = kAddAttachment,
                           .params = {sha256, upload_, size_, clock_.unix_ms()}};
    auto done = commit_all({&add, 1});
    // Perhaps the row is there by now, and others rely on it: then the bytes must stay.
    committed_ = done.ok() || done.error().code() == Code::kDurabilityUnknown;
    return done;
  }

 private:
  Result<void> flush() {
    const sql::Command add{.text = kAddChunk,
                           .params = {upload_, chunks_, sql::Param::bytes(waiting_)}};
    TRY(commit_all({&add, 1}));
    ++chunks_;
    waiting_.clear();
    return {};
  }

  Result<void> commit_all(std::span<const sql::Command> commands) {
    TRY_ASSIGN(const auto engine, pool_.lease());
    return engine->commit(commands);
  }

  sql::Pool& pool_;
  Clock& clock_;
  const std::string upload_;
  std::string waiting_;
  std::int64_t chunks_ = 0;
  std::int64_t size_ = 0;
  bool committed_ = false;
};

class Source : public AttachmentSource {
 public:
  Source(sql::Pool& pool, std::string upload, std::uint64_t size)
      : pool_(pool), upload_(std::move(upload)), size_(size) {}

  std::uint64_t size() const override { return size_; }

  Result<std::size_t> read_at(std::span<char> into, std::uint64_t offset) override {
    std::size_t done = 0;
    while (done < into.size() && offset + done < size_) {
      const std::uint64_t at = offset + done;
      TRY(load(static_cast<std::int64_t>(at / kChunkBytes)));
      const std::size_t from = static_cast<std::size_t>(at % kChunkBytes);
      if (from >= chunk_.size()) return Error(Code::kCorrupt, "an attachment is cut off");
      done += chunk_.copy(into.data() + done, into.size() - done, from);
    }
    return done;
  }

 private:
  Result<void> load(std::int64_t number) {
    if (loaded_ == number) return {};
    TRY_ASSIGN(auto chunk,
               pool_.reading([&](sql::Engine& engine) -> Result<std::optional<std::string>> {
                 const sql::Param params[] = {upload_, number};
                 return engine.word(kReadChunk, params);
               }));
    if (!chunk) return Error(Code::kCorrupt, "a part of an attachment is missing");
    chunk_ = *std::move(chunk);
    loaded_ = number;
    return {};
  }

  sql::Pool& pool_;
  const std::string upload_;
  const std::uint64_t size_;
  std::int64_t loaded_ = -1;
  std::string chunk_;
};

}  // namespace

Result<std::unique_ptr<AttachmentSink>> SqlAttachments::create() {
  return std::unique_ptr<AttachmentSink>(
      std::make_unique<Sink>(pool_, clock_, uuid_v7(clock_.unix_ms(), random_)));
}

Result<std::unique_ptr<AttachmentSource>> SqlAttachments::open(const std::string& sha256) {
  using Found = std::unique_ptr<AttachmentSource>;
  return pool_.reading([&](sql::Engine& engine) -> Result<Found> {
    const sql::Param params[] = {sha256};
    TRY_ASSIGN(const auto rows, engine.ask(kReadAttachment, params));
    TRY_ASSIGN(const bool found, rows->next());
    if (!found) return no_attachment(sha256);
    return Found(std::make_unique<Source>(pool_, std::string(rows->text(0)),
                                          static_cast<std::uint64_t>(rows->integer(1))));
  });
}

Result<AttachmentFacts> SqlAttachments::facts(const std::string& sha256) {
  return pool_.reading([&](sql::Engine& engine) -> Result<AttachmentFacts> {
    const sql::Param params[] = {sha256};
    TRY_ASSIGN(const auto rows, engine.ask(kReadAttachment, params));
    TRY_ASSIGN(const bool found, rows->next());
    if (!found) return no_attachment(sha256);
    return AttachmentFacts{.sha256 = sha256,
                           .bytes = static_cast<std::uint64_t>(rows->integer(1)),
                           .modified_ms = rows->integer(2)};
  });
}

Result<std::vector<AttachmentFacts>> SqlAttachments::list() {
  return pool_.reading([&](sql::Engine& engine) -> Result<std::vector<AttachmentFacts>> {
    TRY_ASSIGN(const auto rows, engine.ask(kReadAll));
    std::vector<AttachmentFacts> all;
    for (;;) {
      TRY_ASSIGN(const bool more, rows->next());
      if (!more) return all;
      // Set aside: see below.
      if (rows->text(0).size() != 64) continue;
      all.push_back({.sha256 = std::string(rows->text(0)),
                     .bytes = static_cast<std::uint64_t>(rows->integer(1)),
                     .modified_ms = rows->integer(2)});
    }
  });
}

Result<void> SqlAttachments::set_aside(const std::string& sha256) {
  const std::string aside = sha256 + ".aside." + uuid_v7(clock_.unix_ms(), random_);
  const sql::Command rename{.text = kSetAside, .params = {aside, sha256}};
  TRY_ASSIGN(const auto engine, pool_.lease());
  return engine->commit({&rename, 1});
}

}  // namespace quipu::sqlstore
