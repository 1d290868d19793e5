#include "cli/errors.h"

#include <algorithm>
#include <numeric>

#include "cli/json_out.h"

namespace quipu::cli {

int exit_code(Code code) {
  switch (code) {
    case Code::kNotFound:
      return kExitNotFound;
    case Code::kTailMoved:
    case Code::kHeadMoved:
    case Code::kFenced:
    case Code::kIdConflict:
    case Code::kPartialOverlap:
      return kExitConflict;
    case Code::kCorrupt:
      return kExitCorrupt;
    case Code::kUnsupported:
      return kExitUnsupported;
    case Code::kBusy:
      return kExitBusy;
    case Code::kNotAllowed:
      return kExitNotAllowed;
    case Code::kNoSpace:
    case Code::kIoError:
    case Code::kDurabilityUnknown:
    case Code::kStorageGone:
      return kExitStorage;
    case Code::kUnknownParent:
    case Code::kBadBatch:
    case Code::kInvalidArgument:
    case Code::kTooLarge:
    case Code::kNoMemory:
    case Code::kInternal:
      return kExitFailed;
  }
  return kExitFailed;
}

std::string error_object(const Error& error) {
  JsonWriter json;
  json.begin_object()
      .member("code", name(error.code()))
      .member("message", error.message())
      .member("hint", error.hint())
      .member("retryable", error.retryable());
  // A session without entries has no tail or head to name: null.
  if (error.code() == Code::kTailMoved) json.optional_member("actualTail", error.actual());
  if (error.code() == Code::kHeadMoved) json.optional_member("actualHead", error.actual());
  if (error.code() == Code::kFenced) json.optional_member("actualRun", error.actual());
  if (error.code() == Code::kNotFound && !error.actual().empty()) {
    json.member("oldestCursor", error.actual());
  }
  if (!error.entry_ids().empty()) json.member("entryIds", error.entry_ids());
  return json.end_object().text();
}

namespace {

// Optimal string alignment: insert, delete, replace, swap neighbours.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  // Arguments may be whole files; nobody means a command by them.
  if (word.size() > 64) return {};
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const bool begun = word.size() > 1 && candidate.starts_with(word);
    const std::size_t d = begun ? 1 : distance(word, candidate);
    if (d < best_distance) {
      best_distance = d;
      best = candidate;
    }
  }
  return best;
}

}  // namespace quipu::cli
