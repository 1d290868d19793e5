#include "fs/rooted_watch.h"

#include "base/try.h"
#include "fs/host_files.h"

namespace quipu::fs {
namespace {

class RootedWatch final : public HostWatch {
 public:
  RootedWatch(std::unique_ptr<HostWatch> watch, std::string root)
      : watch_(std::move(watch)), root_(std::move(root) + "/") {}

  Result<void> add(const std::string& directory) override { return watch_->add(root_ + directory); }

  Result<HostChanges> wait(std::chrono::milliseconds time) override {
    TRY_ASSIGN(HostChanges changes, watch_->wait(time));
    for (std::string& file : changes.files) file.erase(0, root_.size());
    return changes;
  }

 private:
  const std::unique_ptr<HostWatch> watch_;
  const std::string root_;
};

}  // namespace

Result<std::unique_ptr<HostWatch>> watch_below(std::string root) {
  TRY_ASSIGN(auto watch, HostFiles::system().watch());
  return std::unique_ptr<HostWatch>(
      std::make_unique<RootedWatch>(std::move(watch), std::move(root)));
}

}  // namespace quipu::fs
