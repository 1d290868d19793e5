#include "cli/index_progress.h"

#include <optional>

#include "cli/progress.h"

namespace quipu::cli {

Result<IndexReport> with_index_progress(
    const Context& context, const std::string& what,
    const std::function<Result<IndexReport>(const IndexProgress&)>& work) {
  std::optional<Progress> bar;  // how much there is to do is said with the first step
  return work([&](std::uint64_t done, std::uint64_t total) {
    if (!bar) bar.emplace(!context.json, context.err, what, total);
    bar->set(done);
    return true;
  });
}

void warn_of_unread(const Context& context, const IndexReport& report) {
  for (const auto& [session, problem] : report.problems) {
    context.warn("session " + session + " is not searched: " + problem);
  }
}

}  // namespace quipu::cli
