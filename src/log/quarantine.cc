#include "log/quarantine.h"

#include <algorithm>

#include "base/json_scan.h"
#include "base/time_text.h"
#include "base/try.h"

namespace quipu::log {
namespace {

constexpr std::uint64_t kCopyBytes = std::uint64_t{1} << 20;

// The name is only for people; two quarantines within a millisecond must not
// stop each other.
Result<std::string> link_free_name(fs::Fs& fs, fs::File& file, const std::string& stem) {
  for (int number = 1;; ++number) {
    std::string path = stem + (number == 1 ? "" : "-" + std::to_string(number)) + ".torn";
    auto linked = fs.link(file, path);
    if (linked.ok()) return path;
    if (linked.error().code() != Code::kIdConflict || number == 1000) {
      return std::move(linked).error();
    }
  }
}

}  // namespace

Result<std::string> quarantine(fs::Fs& fs, const LogPaths& paths, fs::File& log,
                               std::uint64_t offset, std::uint64_t bytes, std::string_view reason,
                               Clock& clock) {
  const std::int64_t now = clock.unix_ms();
  TRY(fs.make_dir(paths.quarantine));
  TRY_ASSIGN(auto file, fs.create_unnamed(paths.quarantine));
  std::string record =
      "{\"session\":" + json::quoted(paths.session_id) + ",\"offset\":" + std::to_string(offset) +
      ",\"bytes\":" + std::to_string(bytes) + ",\"reason\":" + json::quoted(reason) +
      ",\"time\":\"" + format_timestamp(now) + "\"}\n";
  TRY(fs::append_all(*file, record));
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t part = std::min(bytes - done, kCopyBytes);
    TRY_ASSIGN(const std::string copy,
               fs::read_exactly(log, offset + done, static_cast<std::size_t>(part)));
    TRY(fs::append_all(*file, copy));
    done += part;
  }
  TRY(file->sync());
  std::string stem = paths.session_id;
  std::replace(stem.begin(), stem.end(), '/', '.');  // system/<name>
  TRY_ASSIGN(std::string path,
             link_free_name(fs, *file, paths.quarantine + "/" + stem + "." + std::to_string(now)));
  TRY(fs.sync_dir(paths.quarantine));
  return path;
}

}  // namespace quipu::log
