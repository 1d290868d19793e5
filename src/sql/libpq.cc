#include "sql/libpq.h"

#include <dlfcn.h>

#include <string>

namespace quipu::sql {
namespace {

Result<Libpq> load() {
  void* library = ::dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Error(Code::kUnsupported,
                 "PostgreSQL's client library cannot be loaded: " + std::string(::dlerror()))
        .with_hint("install libpq (Debian: libpq5)");
  }
  Libpq functions{};
#define QUIPU_LIBPQ_LOAD(name)                                                            \
  functions.name = reinterpret_cast<decltype(&::PQ##name)>(::dlsym(library, "PQ" #name)); \
  if (functions.name == nullptr) {                                                        \
    return Error(Code::kUnsupported, "PostgreSQL's client library has no PQ" #name)       \
        .with_hint("install libpq 14 or newer");                                          \
  }
  QUIPU_LIBPQ_FUNCTIONS(QUIPU_LIBPQ_LOAD)
#undef QUIPU_LIBPQ_LOAD
  return functions;
}

}  // namespace

Result<const Libpq*> libpq() {
  static const Result<Libpq> loaded = load();
  if (!loaded.ok()) return loaded.error();
  return &loaded.value();
}

}  // namespace quipu::sql
