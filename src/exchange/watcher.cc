#include "exchange/watcher.h"

#include <algorithm>

#include "backend/backend.h"
#include "base/try.h"
#include "exchange/import_run.h"

namespace quipu::exchange {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// How long somebody who wants to stop has to wait.
constexpr milliseconds kPatience{200};
// An agent writes several lines at a time; they are taken together.
constexpr milliseconds kSettling{50};
constexpr int kSettlingMax = 6;
constexpr seconds kLookAgain{30};
constexpr seconds kLookWithoutWatch{1};
constexpr int kLookingShare = 100;
// Whoever takes long (a large database is copied) is asked less often.
constexpr milliseconds kLong{100};
constexpr int kImportingShare = 4;

// A database says in a file beside it that it has changed.
std::string source_file(std::string path) {
  constexpr std::string_view kLog = "-wal";
  if (path.ends_with(kLog)) path.resize(path.size() - kLog.size());
  return path;
}

std::string complaint_of(const ImportReport& report) {
  std::string all = report.error ? report.error->message() : std::string();
  for (const ImportProblem& problem : report.problems) {
    all += "\n" + problem.what + " " + std::to_string(problem.count);
  }
  return all;
}

}  // namespace

Watcher::Watcher(Store& store, fs::HostFiles& files, Variable variable, const FindOptions& find,
                 const ImportOptions& options, Done done)
    : store_(store),
      clock_(store.backend()->filler().clock),
      files_(files),
      variable_(std::move(variable)),
      find_(find),
      options_(options),
      done_(std::move(done)) {}

Result<void> Watcher::run(const std::function<bool()>& is_over) {
  TRY_ASSIGN(known_, KnownSources::of(store_));
  TRY_ASSIGN(watch_, files_.watch());
  while (!stopped_ && !is_over()) {
    // An agent that is used for the first time makes its place.
    TRY_ASSIGN(std::vector<Place> places, places_of(files_, variable_, find_));
    if (places.size() != places_.size()) look_again_ = {};
    if (clock_.monotonic() >= look_again_) TRY(look_at_all(std::move(places)));
    if (!stopped_) TRY(wait());
  }
  return {};
}

Result<void> Watcher::look_at_all(std::vector<Place> places) {
  const auto began = clock_.monotonic();
  bool is_watched = true;
  places_ = std::move(places);
  for (const Place& place : places_) {
    const auto stat = files_.stat(place.path);
    const bool is_file = stat.ok() && stat->kind == fs::HostKind::kFile;
    const std::string directory =
        is_file ? place.path.substr(0, place.path.rfind('/')) : place.path;
    is_watched = watch_->add(directory).ok() && is_watched;
  }
  TRY(import(find_in(files_, known_, places_, find_.since_ms)));
  const auto now = clock_.monotonic();
  const std::chrono::nanoseconds usual = is_watched ? kLookAgain : kLookWithoutWatch;
  look_again_ = now + std::max(usual, (now - began) * kLookingShare);
  return {};
}

Result<void> Watcher::wait() {
  TRY_ASSIGN(fs::HostChanges changes, watch_->wait(kPatience));
  for (int round = 0; round < kSettlingMax; ++round) {
    for (std::string& path : changes.files) changed_.insert(source_file(std::move(path)));
    if (changes.missed) look_again_ = {};
    if (changes.files.empty()) break;
    TRY_ASSIGN(changes, watch_->wait(kSettling));
  }
  const auto began = clock_.monotonic();
  if (changed_.empty() || began < import_again_) return {};
  const std::vector<std::string> files(changed_.begin(), changed_.end());
  changed_.clear();
  TRY(import(find_changed(files_, known_, places_, files)));
  const auto now = clock_.monotonic();
  if (now - began > kLong) import_again_ = now + (now - began) * kImportingShare;
  return {};
}

Result<void> Watcher::import(FoundSources found) {
  std::erase_if(found.sources, [](const ImportSource& source) { return source.is_current; });
  ImportOptions live = options_;
  live.is_live = true;
  std::vector<std::string> sessions;
  const ImportRun::Done done = [&](const ImportReport& one) {
    if (one.was_read && !one.error) sessions.push_back(one.session_id);
    report(one);
    return !stopped_;
  };
  ImportRun(store_, files_, known_, live, found.sources, done).run();
  for (const std::string& session : sessions) TRY(known_.look_at(store_, session));
  return {};
}

// What has not changed is no news, and neither is a complaint that was heard before.
void Watcher::report(const ImportReport& report) {
  std::string complaint = complaint_of(report);
  std::string& last = complaints_[report.source];
  const bool is_news = report.added != 0 || (!complaint.empty() && complaint != last);
  if (!complaint.empty()) last = std::move(complaint);
  if (is_news && !done_(report)) stopped_ = true;
}

}  // namespace quipu::exchange
