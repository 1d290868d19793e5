// What PostgreSQL's error codes (SQLSTATE) mean for a store.
#pragma once

#include <string>
#include <string_view>

#include "quipu/result.h"

namespace quipu::sql {

Error postgres_error(std::string_view state, std::string_view text);
/// The server could not be reached, or would not have us.
Error postgres_connect_error(std::string_view text);

/// The server is going away, and with it the connection.
bool ends_connection(std::string_view state);
/// The statement is not on this connection, or was already: a pooler is at work.
bool is_about_prepared(std::string_view state);

}  // namespace quipu::sql
