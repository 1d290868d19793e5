// What providers differ in, as data. Everything else is said by their writers.
#pragma once

#include <cstddef>
#include <string_view>

#include "quipu/context.h"

namespace quipu::context {

struct Rules {
  Provider provider = Provider::kQuipu;
  /// Who must speak first and last.
  bool user_first = false;
  bool user_last = false;
  /// Calls and results are tied by ids of `[A-Za-z0-9_-]`, at most this long; 0:
  /// any text will do.
  std::size_t id_bytes_max = 0;
  /// Tool names of `[A-Za-z0-9_-]`, at most this long; 0: any text.
  std::size_t name_bytes_max = 0;
  /// What a message's `provider` says when this provider signed its reasoning.
  std::string_view signer{};
  /// Reasoning is passed on whoever signed it: nobody will check.
  bool keeps_all_reasoning = false;
};

const Rules& rules_of(Provider provider);

}  // namespace quipu::context
