// libcurl, found when a request is made and not before: with all it brings along it takes
// longer to load than most commands take to run, and whoever asks no endpoint need not have it.
#pragma once

// Checks of arguments that are macros, and would hide the functions.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "quipu/result.h"

namespace quipu::net {

/// Its functions under their own names, without the prefix.
struct Libcurl {
// One a line: clang-format has no lasting opinion otherwise.
#define QUIPU_LIBCURL_FUNCTIONS(X) \
  X(global_init)                   \
  X(easy_init)                     \
  X(easy_setopt)                   \
  X(easy_getinfo)                  \
  X(easy_reset)                    \
  X(easy_cleanup)                  \
  X(easy_strerror)                 \
  X(multi_init)                    \
  X(multi_add_handle)              \
  X(multi_remove_handle)           \
  X(multi_perform)                 \
  X(multi_poll)                    \
  X(multi_wakeup)                  \
  X(multi_info_read)               \
  X(multi_cleanup)                 \
  X(multi_strerror)                \
  X(slist_append)                  \
  X(slist_free_all)
#define QUIPU_LIBCURL_MEMBER(name) decltype(&::curl_##name) name;
  QUIPU_LIBCURL_FUNCTIONS(QUIPU_LIBCURL_MEMBER)
#undef QUIPU_LIBCURL_MEMBER
};

/// Loaded once; stays for the life of the process. `unsupported` when there is none.
Result<const Libcurl*> libcurl();

}  // namespace quipu::net
