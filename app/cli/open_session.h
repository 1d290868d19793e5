// How nearly every command begins: the store, and the session that was named.
#pragma once

#include <string>
#include <string_view>

#include "cli/context.h"
#include "quipu/branch.h"

namespace quipu::cli {

struct OpenSession {
  Store store;
  std::string id;
};
Result<OpenSession> open_session(const Context& context, std::string_view name);

/// The same, and its tree.
struct OpenBranch {
  Store store;
  std::string id;
  SessionBranch branch;
};
Result<OpenBranch> open_branch(const Context& context, std::string_view name);

}  // namespace quipu::cli
