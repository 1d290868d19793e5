#include "sql/postgres_error.h"

namespace quipu::sql {
namespace {

struct Meaning {
  std::string_view prefix;  // the longest one decides
  Code code;
};

constexpr Meaning kMeanings[] = {
    {"08", Code::kStorageGone},      // connection
    {"22", Code::kInvalidArgument},  // data
    {"23", Code::kIdConflict},       // a constraint is violated
    {"25006", Code::kStorageGone},   // read_only_sql_transaction: a standby
    {"28", Code::kNotAllowed},       // authorization
    {"3D", Code::kNotFound},         // no such database
    {"40", Code::kBusy},             // serialization, deadlock
    {"42", Code::kInvalidArgument},  // syntax, names
    {"42501", Code::kNotAllowed},
    {"53", Code::kBusy},  // connections, other limits
    {"53100", Code::kNoSpace},
    {"53200", Code::kNoMemory},
    {"54", Code::kTooLarge},
    {"55P03", Code::kBusy},  // lock_not_available
    {"57014", Code::kBusy},  // query_canceled
    {"57P", Code::kStorageGone},
    {"58030", Code::kIoError},
    {"XX001", Code::kCorrupt},
    {"XX002", Code::kCorrupt},
};

std::string_view first_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return text.substr(0, text.find('\n'));
}

}  // namespace

Error postgres_error(std::string_view state, std::string_view text) {
  Code code = Code::kIoError;
  std::size_t longest = 0;
  for (const Meaning& meaning : kMeanings) {
    if (state.starts_with(meaning.prefix) && meaning.prefix.size() > longest) {
      code = meaning.code;
      longest = meaning.prefix.size();
    }
  }
  std::string message = "postgres: ";
  message += first_line(text);
  if (!state.empty()) message.append(" (").append(state).append(")");
  return {code, std::move(message)};
}

Error postgres_connect_error(std::string_view text) {
  return Error(Code::kStorageGone, "postgres: " + std::string(first_line(text)))
      .with_hint("check that the server runs, and host, port, user and password of the URL");
}

bool ends_connection(std::string_view state) {
  return state.starts_with("57P") || state.starts_with("08");
}

bool is_about_prepared(std::string_view state) { return state == "26000" || state == "42P05"; }

}  // namespace quipu::sql
