// Early return for `Result`: TRY and TRY_ASSIGN. Internal, hence the short names.
#pragma once

#include "quipu/result.h"

#define QUIPU_CAT_(a, b) a##b
#define QUIPU_CAT(a, b) QUIPU_CAT_(a, b)

// Returns the error of `expr` from the enclosing function, if there is one.
#define TRY(expr) TRY_(QUIPU_CAT(try_result_, __LINE__), expr)
#define TRY_(tmp, expr)                                              \
  do {                                                               \
    if (auto tmp = (expr); !tmp.ok()) return std::move(tmp).error(); \
  } while (false)

// The same, and binds the value to `decl` otherwise.
#define TRY_ASSIGN(decl, expr) TRY_ASSIGN_(QUIPU_CAT(try_result_, __LINE__), decl, expr)
#define TRY_ASSIGN_(tmp, decl, expr)            \
  auto tmp = (expr);                            \
  if (!tmp.ok()) return std::move(tmp).error(); \
  decl = std::move(tmp).value()
