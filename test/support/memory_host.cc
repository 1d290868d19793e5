#include "support/memory_host.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace quipu {
namespace {

using fs::HostKind;

fs::HostStat stat_of(const std::string& path, const std::string& text) {
  fs::HostStat stat;
  stat.kind = HostKind::kFile;
  stat.inode = std::hash<std::string>()(path);
  stat.size = text.size();
  // Another content is another time.
  stat.modified_ns = static_cast<std::int64_t>(std::hash<std::string>()(text) >> 2);
  return stat;
}

class MemoryFile final : public fs::HostFile {
 public:
  MemoryFile(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {}
  fs::HostStat stat() const override { return stat_of(path_, text_); }
  Result<std::size_t> read_at(std::span<char> into, std::uint64_t offset) override {
    if (offset >= text_.size()) return std::size_t{0};
    const std::size_t size = std::min<std::size_t>(into.size(), text_.size() - offset);
    std::memcpy(into.data(), text_.data() + offset, size);
    return size;
  }

 private:
  std::string path_;
  std::string text_;
};

class MemoryWatch final : public fs::HostWatch {
 public:
  explicit MemoryWatch(MemoryHost& host) : host_(host) {}
  Result<void> add(const std::string& directory) override {
    host_.watched.insert(directory);
    return {};
  }
  // After each happening it is quiet once, so that it is taken by itself.
  Result<fs::HostChanges> wait(std::chrono::milliseconds) override {
    is_quiet_ = !is_quiet_;
    if (is_quiet_ || host_.happened >= host_.happenings.size()) return fs::HostChanges();
    return host_.happenings[host_.happened++]();
  }

 private:
  MemoryHost& host_;
  bool is_quiet_ = true;
};

Error not_there(const std::string& path) { return {Code::kNotFound, path + ": not there"}; }

}  // namespace

bool MemoryHost::exists(const std::string& path) { return stat(path).ok(); }

Result<std::string> MemoryHost::read(const std::string& path, std::size_t bytes_max) {
  const auto found = files.find(path);
  if (found == files.end()) return not_there(path);
  return found->second.substr(0, bytes_max);
}

Result<fs::HostStat> MemoryHost::stat(const std::string& path) {
  if (const auto found = files.find(path); found != files.end()) {
    return stat_of(path, found->second);
  }
  const auto below = files.lower_bound(path + "/");
  if (below == files.end() || !below->first.starts_with(path + "/")) return not_there(path);
  fs::HostStat stat;
  stat.kind = HostKind::kDirectory;
  stat.inode = std::hash<std::string>()(path);
  return stat;
}

Result<std::vector<fs::HostName>> MemoryHost::list(const std::string& path) {
  std::map<std::string, fs::HostKind> kinds;  // `x.y` comes before `x/y` among paths
  for (auto at = files.lower_bound(path + "/");
       at != files.end() && at->first.starts_with(path + "/"); ++at) {
    const std::string rest = at->first.substr(path.size() + 1);
    const std::string name = rest.substr(0, rest.find('/'));
    kinds[name] = name == rest ? HostKind::kFile : HostKind::kDirectory;
  }
  if (kinds.empty()) return not_there(path);
  std::vector<fs::HostName> names;
  for (const auto& [name, kind] : kinds) names.push_back({.name = name, .kind = kind});
  return names;
}

Result<std::unique_ptr<fs::HostFile>> MemoryHost::open(const std::string& path) {
  const auto found = files.find(path);
  if (found == files.end()) return not_there(path);
  return std::unique_ptr<fs::HostFile>(std::make_unique<MemoryFile>(path, found->second));
}

Result<std::unique_ptr<fs::HostWatch>> MemoryHost::watch() {
  return std::unique_ptr<fs::HostWatch>(std::make_unique<MemoryWatch>(*this));
}

}  // namespace quipu
