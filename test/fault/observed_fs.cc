#include "fault/observed_fs.h"

#include <utility>

namespace quipu::fault {
namespace {

using fs::File;
using fs::MapMode;
using fs::SimCall;

// Tells the observer around one call.
class Around {
 public:
  Around(CallObserver& observer, SimCall call, const std::string& path, std::string_view bytes = {})
      : observer_(observer), call_(call), path_(path) {
    observer_.before(call_, path_, bytes);
  }
  ~Around() { observer_.after(call_, path_); }
  Around(const Around&) = delete;
  Around& operator=(const Around&) = delete;

 private:
  CallObserver& observer_;
  SimCall call_;
  const std::string& path_;
};

class ObservedFile final : public File {
 public:
  ObservedFile(std::unique_ptr<File> inner, std::string path, CallObserver& observer)
      : inner_(std::move(inner)), path_(std::move(path)), observer_(observer) {}

  Result<std::size_t> read_at(std::span<char> into, std::uint64_t offset) override {
    const Around around(observer_, SimCall::kReadAt, path_);
    return inner_->read_at(into, offset);
  }
  Result<std::size_t> append(std::string_view bytes) override {
    const Around around(observer_, SimCall::kAppend, path_, bytes);
    return inner_->append(bytes);
  }
  Result<std::uint64_t> append_end() override { return inner_->append_end(); }
  Result<std::size_t> write_at(std::string_view bytes, std::uint64_t offset) override {
    const Around around(observer_, SimCall::kWriteAt, path_);
    return inner_->write_at(bytes, offset);
  }
  Result<void> truncate(std::uint64_t size) override {
    const Around around(observer_, SimCall::kTruncate, path_);
    return inner_->truncate(size);
  }
  Result<void> allocate(std::uint64_t offset, std::uint64_t size) override {
    const Around around(observer_, SimCall::kAllocate, path_);
    return inner_->allocate(offset, size);
  }
  Result<void> sync() override {
    const Around around(observer_, SimCall::kSync, path_);
    return inner_->sync();
  }
  Result<fs::Stat> stat() override {
    const Around around(observer_, SimCall::kFileStat, path_);
    return inner_->stat();
  }
  Result<fs::Mapping> map(std::uint64_t offset, std::size_t size, MapMode mode) override {
    const Around around(observer_, SimCall::kMap, path_);
    return inner_->map(offset, size, mode);
  }
  Result<bool> try_lock(std::uint64_t byte) override {
    const Around around(observer_, SimCall::kTryLock, path_);
    return inner_->try_lock(byte);
  }
  Result<void> unlock(std::uint64_t byte) override {
    const Around around(observer_, SimCall::kUnlock, path_);
    return inner_->unlock(byte);
  }

  File& inner() { return *inner_; }
  void set_path(const std::string& path) { path_ = path; }

 private:
  std::unique_ptr<File> inner_;
  std::string path_;
  CallObserver& observer_;
};

class ObservedFs final : public fs::Fs {
 public:
  ObservedFs(std::unique_ptr<fs::Fs> inner, CallObserver& observer)
      : inner_(std::move(inner)), observer_(observer) {}

  Result<std::unique_ptr<File>> open(const std::string& path, fs::OpenMode mode) override {
    const Around around(observer_, SimCall::kOpen, path);
    return wrapped(inner_->open(path, mode), path);
  }
  Result<std::unique_ptr<File>> create_unnamed(const std::string& directory) override {
    const Around around(observer_, SimCall::kCreateUnnamed, directory);
    return wrapped(inner_->create_unnamed(directory), {});
  }
  Result<void> link(File& file, const std::string& path) override {
    const Around around(observer_, SimCall::kLink, path);
    auto& own = static_cast<ObservedFile&>(file);
    own.set_path(path);
    return inner_->link(own.inner(), path);
  }
  Result<void> link(const std::string& existing, const std::string& path) override {
    const Around around(observer_, SimCall::kLinkPath, path);
    return inner_->link(existing, path);
  }
  Result<void> rename(const std::string& from, const std::string& to) override {
    const Around around(observer_, SimCall::kRename, from);
    return inner_->rename(from, to);
  }
  Result<void> remove(const std::string& path) override {
    const Around around(observer_, SimCall::kRemove, path);
    return inner_->remove(path);
  }
  Result<void> make_dir(const std::string& path) override {
    const Around around(observer_, SimCall::kMakeDir, path);
    return inner_->make_dir(path);
  }
  Result<void> sync_dir(const std::string& path) override {
    const Around around(observer_, SimCall::kSyncDir, path);
    return inner_->sync_dir(path);
  }
  Result<std::vector<std::string>> list(const std::string& path) override {
    const Around around(observer_, SimCall::kList, path);
    return inner_->list(path);
  }
  Result<fs::Stat> stat(const std::string& path) override {
    const Around around(observer_, SimCall::kStat, path);
    return inner_->stat(path);
  }
  std::uint64_t boot_id() const override { return inner_->boot_id(); }

 private:
  Result<std::unique_ptr<File>> wrapped(Result<std::unique_ptr<File>> file,
                                        const std::string& path) {
    if (!file.ok()) return file;
    return std::unique_ptr<File>(
        std::make_unique<ObservedFile>(std::move(file).value(), path, observer_));
  }

  std::unique_ptr<fs::Fs> inner_;
  CallObserver& observer_;
};

}  // namespace

std::unique_ptr<fs::Fs> observed(std::unique_ptr<fs::Fs> inner, CallObserver& observer) {
  return std::make_unique<ObservedFs>(std::move(inner), observer);
}

}  // namespace quipu::fault
