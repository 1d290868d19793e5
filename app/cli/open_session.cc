#include "cli/open_session.h"

#include "cli/ids.h"

namespace quipu::cli {

Result<OpenSession> open_session(const Context& context, std::string_view name) {
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  auto id = resolve_session(store->sessions(), name);
  if (!id) return std::move(id).error();
  return OpenSession{.store = std::move(store).value(), .id = std::move(id).value()};
}

Result<OpenBranch> open_branch(const Context& context, std::string_view name) {
  auto session = open_session(context, name);
  if (!session) return std::move(session).error();
  auto branch = SessionBranch::open(session->store, session->id);
  if (!branch) return std::move(branch).error();
  return OpenBranch{.store = std::move(session->store),
                    .id = std::move(session->id),
                    .branch = std::move(branch).value()};
}

}  // namespace quipu::cli
