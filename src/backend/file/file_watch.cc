#include "backend/file/file_watch.h"

#include <optional>

#include "backend/backend.h"
#include "base/try.h"

namespace quipu::file {
namespace {

// For what nobody is told of: changes that other machines make on a shared file system.
constexpr std::chrono::seconds kLookAgain{5};

std::optional<std::string> log_of(std::string_view file) {
  constexpr std::string_view kSessions = "sessions/";
  constexpr std::string_view kSuffix = ".jsonl";
  if (!file.ends_with(kSuffix)) return std::nullopt;
  file.remove_suffix(kSuffix.size());
  if (file.starts_with(kSystemPrefix)) return std::string(file);
  if (!file.starts_with(kSessions)) return std::nullopt;
  file.remove_prefix(kSessions.size());
  return is_session_id(file) ? std::optional(std::string(file)) : std::nullopt;
}

class FileWatch final : public LogWatch {
 public:
  FileWatch(std::unique_ptr<fs::HostWatch> watch, Clock& clock)
      : watch_(std::move(watch)), clock_(clock), looked_(clock.monotonic()) {}

  Result<LogChanges> wait(std::chrono::milliseconds time) override {
    // It may be made later.
    if (!sees_system_) sees_system_ = watch_->add("system").ok();
    TRY_ASSIGN(const fs::HostChanges changes, watch_->wait(time));
    LogChanges told;
    for (const std::string& file : changes.files) {
      if (auto log = log_of(file)) told.logs.push_back(*std::move(log));
    }
    const std::chrono::nanoseconds now = clock_.monotonic();
    told.all = changes.missed || now - looked_ >= kLookAgain;
    if (told.all) looked_ = now;
    return told;
  }

 private:
  const std::unique_ptr<fs::HostWatch> watch_;
  Clock& clock_;
  std::chrono::nanoseconds looked_;
  bool sees_system_ = false;
};

}  // namespace

std::unique_ptr<LogWatch> watch_files(fs::Fs& fs, Clock& clock) {
  auto watch = fs.watch();
  if (!watch.ok() || !(*watch)->add("sessions").ok()) return nullptr;
  return std::make_unique<FileWatch>(std::move(watch).value(), clock);
}

}  // namespace quipu::file
