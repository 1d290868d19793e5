#include "sql/postgres_params.h"

#include <cstring>

namespace quipu::sql {
namespace {

// From pg_type.dat; they never change.
constexpr unsigned kBytesType = 17, kIntegerType = 20, kTextType = 25;
constexpr unsigned kBytesArray = 1001, kTextArray = 1009, kIntegerArray = 1016;

template <class T>
void append_number(std::string& out, T number) {
  for (std::size_t i = sizeof(T); i-- > 0;) {
    out += static_cast<char>(static_cast<std::make_unsigned_t<T>>(number) >> (8 * i) & 0xff);
  }
}

unsigned type_of(Param::Kind kind) {
  switch (kind) {
    case Param::Kind::kNull:
      return 0;  // whatever is wanted there
    case Param::Kind::kInteger:
      return kIntegerType;
    case Param::Kind::kText:
      return kTextType;
    case Param::Kind::kBytes:
      return kBytesType;
  }
  return 0;
}

void append_element(std::string& out, const Param& param) {
  switch (param.kind()) {
    case Param::Kind::kNull:
      append_number(out, std::int32_t{-1});
      break;
    case Param::Kind::kInteger:
      append_number(out, std::int32_t{8});
      append_number(out, param.number());
      break;
    case Param::Kind::kText:
    case Param::Kind::kBytes:
      append_number(out, static_cast<std::int32_t>(param.view().size()));
      out += param.view();
      break;
  }
}

}  // namespace

PostgresParams::PostgresParams(const char* kinds, std::span<const Param> params) {
  if (kinds != nullptr) {
    const std::size_t width = std::strlen(kinds);
    for (std::size_t column = 0; column < width; ++column) {
      add_array(kinds[column], column, width, params);
    }
    return;
  }
  for (const Param& param : params) {
    if (param.kind() == Param::Kind::kInteger) {
      append_number(made_.emplace_back(), param.number());
      add(kIntegerType, made_.back().data(), made_.back().size());
    } else if (param.kind() == Param::Kind::kNull) {
      add(0, nullptr, 0);
    } else {
      const std::string_view view = param.view();
      add(type_of(param.kind()), view.empty() ? "" : view.data(), view.size());
    }
  }
}

void PostgresParams::add(unsigned type, const char* value, std::size_t length) {
  types_.push_back(type);
  values_.push_back(value);
  lengths_.push_back(static_cast<int>(length));
  formats_.push_back(1);
}

void PostgresParams::add_array(char kind, std::size_t column, std::size_t width,
                               std::span<const Param> params) {
  const unsigned element = kind == 'i' ? kIntegerType : kind == 'b' ? kBytesType : kTextType;
  const unsigned array = kind == 'i' ? kIntegerArray : kind == 'b' ? kBytesArray : kTextArray;
  std::string& out = made_.emplace_back();
  std::size_t bytes = 20;
  for (std::size_t at = column; at < params.size(); at += width) {
    bytes += 12 + params[at].view().size();
  }
  out.reserve(bytes);
  append_number(out, std::int32_t{1});  // dimensions
  append_number(out, std::int32_t{1});  // there may be nulls
  append_number(out, element);
  append_number(out, static_cast<std::int32_t>(params.size() / width));
  append_number(out, std::int32_t{1});  // counted from 1
  for (std::size_t at = column; at < params.size(); at += width) append_element(out, params[at]);
  add(array, out.data(), out.size());
}

std::int64_t read_integer(std::string_view bytes) {
  if (bytes.empty()) return 0;
  std::int64_t number = static_cast<signed char>(bytes[0]);
  for (const char byte : bytes.substr(1)) {
    number = static_cast<std::int64_t>(static_cast<std::uint64_t>(number) << 8 |
                                       static_cast<unsigned char>(byte));
  }
  return number;
}

}  // namespace quipu::sql
