#include "net/libcurl.h"

#include <dlfcn.h>

#include <string>

namespace quipu::net {
namespace {

Result<Libcurl> load() {
  void* library = nullptr;
  // Debian has it twice, by the library that it leaves TLS to.
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
    if (library == nullptr) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    return Error(Code::kUnsupported, "libcurl cannot be loaded: " + std::string(::dlerror()))
        .with_hint("install libcurl (Debian: libcurl4)");
  }
  Libcurl functions{};
#define QUIPU_LIBCURL_LOAD(name)                                                                \
  functions.name = reinterpret_cast<decltype(&::curl_##name)>(::dlsym(library, "curl_" #name)); \
  if (functions.name == nullptr) {                                                              \
    return Error(Code::kUnsupported, "libcurl has no curl_" #name)                              \
        .with_hint("install libcurl 7.68 or newer");                                            \
  }
  QUIPU_LIBCURL_FUNCTIONS(QUIPU_LIBCURL_LOAD)
#undef QUIPU_LIBCURL_LOAD
  if (functions.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return Error(Code::kUnsupported, "libcurl cannot be initialised");
  }
  return functions;
}

}  // namespace

Result<const Libcurl*> libcurl() {
  static const Result<Libcurl> loaded = load();
  if (!loaded.ok()) return loaded.error();
  return &loaded.value();
}

}  // namespace quipu::net
