#include "backend/file/file_attachments.h"

#include "base/sha256.h"
#include "base/try.h"

namespace quipu::file {
namespace {

constexpr const char* kDirectory = "attachments";

std::string path_of(const std::string& sha256) { return std::string(kDirectory) + "/" + sha256; }

Error no_attachment(const std::string& sha256) {
  return {Code::kNotFound, "there is no attachment " + sha256};
}

template <class T>
Result<T> for_attachment(const std::string& sha256, Result<T> result) {
  if (result.ok() || result.error().code() != Code::kNotFound) return result;
  return no_attachment(sha256);
}

// The name exists; whether it survives a power cut is not known until now.
Result<void> sync_names(fs::Fs& fs) {
  auto synced = fs.sync_dir(kDirectory);
  if (synced.ok()) return {};
  return Error(Code::kDurabilityUnknown, std::move(synced).error().message());
}

class FileSink : public AttachmentSink {
 public:
  FileSink(fs::Fs& fs, std::unique_ptr<fs::File> file) : fs_(fs), file_(std::move(file)) {}

  Result<void> write(std::string_view bytes) override { return fs::append_all(*file_, bytes); }

  Result<void> commit(const std::string& sha256) override {
    TRY(file_->sync());
    auto linked = fs_.link(*file_, path_of(sha256));
    if (!linked.ok() && linked.error().code() != Code::kIdConflict) return linked;
    // Also for a name that was there: its maker may have died before this.
    TRY(sync_names(fs_));
    return linked;
  }

 private:
  fs::Fs& fs_;
  std::unique_ptr<fs::File> file_;
};

class FileSource : public AttachmentSource {
 public:
  FileSource(std::unique_ptr<fs::File> file, std::uint64_t size)
      : file_(std::move(file)), size_(size) {}

  std::uint64_t size() const override { return size_; }
  Result<std::size_t> read_at(std::span<char> into, std::uint64_t offset) override {
    TRY_ASSIGN(const std::string bytes, fs::read_up_to(*file_, offset, into.size()));
    bytes.copy(into.data(), bytes.size());
    return bytes.size();
  }

 private:
  std::unique_ptr<fs::File> file_;
  std::uint64_t size_;
};

}  // namespace

// Made by the first that needs it, in stores of any age. Synced once by every
// process: whoever made it may have been killed before that.
Result<void> FileAttachments::make_directory() {
  MutexLock lock(mutex_);
  if (directory_made_) return {};
  TRY(fs_.make_dir(kDirectory));
  TRY(fs_.sync_dir(""));
  directory_made_ = true;
  return {};
}

Result<std::unique_ptr<AttachmentSink>> FileAttachments::create() {
  TRY(make_directory());
  TRY_ASSIGN(auto file, fs_.create_unnamed(kDirectory));
  return std::unique_ptr<AttachmentSink>(std::make_unique<FileSink>(fs_, std::move(file)));
}

Result<std::unique_ptr<AttachmentSource>> FileAttachments::open(const std::string& sha256) {
  TRY_ASSIGN(auto file, for_attachment(sha256, fs_.open(path_of(sha256), fs::OpenMode::kRead)));
  TRY_ASSIGN(const fs::Stat stat, file->stat());
  return std::unique_ptr<AttachmentSource>(
      std::make_unique<FileSource>(std::move(file), stat.size));
}

Result<AttachmentFacts> FileAttachments::facts(const std::string& sha256) {
  TRY_ASSIGN(const fs::Stat stat, for_attachment(sha256, fs_.stat(path_of(sha256))));
  return AttachmentFacts{.sha256 = sha256, .bytes = stat.size, .modified_ms = stat.modified_ms};
}

Result<std::vector<AttachmentFacts>> FileAttachments::list() {
  auto names = fs_.list(kDirectory);
  std::vector<AttachmentFacts> all;
  if (!names.ok() && names.error().code() == Code::kNotFound) return all;
  if (!names.ok()) return std::move(names).error();
  for (const std::string& name : *names) {
    if (!is_sha256_hex(name)) continue;
    auto one = facts(name);
    if (!one.ok() && one.error().code() == Code::kNotFound) continue;  // set aside meanwhile
    if (!one.ok()) return std::move(one).error();
    all.push_back(std::move(one).value());
  }
  return all;
}

Result<void> FileAttachments::set_aside(const std::string& sha256) {
  // A name that is free: an earlier bad copy may be there already.
  for (int number = 1;; ++number) {
    const std::string to = "quarantine/attachment-" + sha256 + "." + std::to_string(number);
    auto linked = fs_.link(path_of(sha256), to);
    if (!linked.ok() && linked.error().code() == Code::kIdConflict) continue;
    if (!linked.ok() && linked.error().code() == Code::kNotFound) return {};  // somebody else did
    TRY(linked);
    break;
  }
  TRY(fs_.sync_dir("quarantine"));
  auto removed = fs_.remove(path_of(sha256));
  if (!removed.ok() && removed.error().code() != Code::kNotFound) return removed;
  return {};
}

}  // namespace quipu::file
