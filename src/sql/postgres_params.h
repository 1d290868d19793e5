// Parameters and values as PostgreSQL's protocol has them: binary, so that nothing is
// escaped or converted and a line of the log goes over the wire as it is.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/engine.h"

namespace quipu::sql {

/// The parameters of one command, in the form that libpq wants them.
class PostgresParams {
 public:
  /// With `kinds`, `params` are rows, and each column becomes an array.
  PostgresParams(const char* kinds, std::span<const Param> params);

  int count() const { return static_cast<int>(types_.size()); }
  const unsigned* types() const { return types_.data(); }
  const char* const* values() const { return values_.data(); }
  const int* lengths() const { return lengths_.data(); }
  /// All are binary.
  const int* formats() const { return formats_.data(); }

 private:
  void add(unsigned type, const char* value, std::size_t length);
  void add_array(char kind, std::size_t column, std::size_t width, std::span<const Param> params);

  std::vector<unsigned> types_;
  std::vector<const char*> values_;
  std::vector<int> lengths_;
  std::vector<int> formats_;
  std::deque<std::string> made_;
};

/// An integer of 2, 4 or 8 bytes as it comes.
std::int64_t read_integer(std::string_view bytes);

}  // namespace quipu::sql
