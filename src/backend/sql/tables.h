// Tables: what entries mean in the tables that other programs read: sessions,
// session_runtime_state, projects, and the views messages and message_parts. Written in the
// transaction that stores the entries, computed from them alone, so that all of it can be made
// again (SqlBackend::repair).
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "backend/sql/log_head.h"
#include "model/envelope.h"
#include "model/session_header.h"
#include "sql/engine.h"

namespace quipu::sqlstore {

/// What the views `messages` and `message_parts` show of an entry that is one.
struct MessageColumns {
  std::string_view role{};   // empty: it is none
  std::string_view usage{};  // JSON; empty: unknown
  bool is_summary = false;
  /// Where its parts lie in the line, a text each in a JSON array: ten digits for the first
  /// byte, ten for how many there are, 1 for a bare string (else 0), and the type. Empty: it
  /// has none.
  std::string_view parts{};
};

class Tables {
 public:
  /// `session_id` must outlive it.
  explicit Tables(std::string_view session_id) : session_id_(session_id) {}

  /// The next entry of the log, read from `line`, which must outlive this. The first entry of
  /// a log makes the session's row.
  MessageColumns add(const Envelope& entry, std::string_view line, Ordinal ordinal,
                     ComputedState& computed);

  /// Adds what has to be written. Once, after the last entry.
  void write(const ComputedState& computed, std::vector<sql::Command>& commands);

 private:
  void add_header(const Envelope& entry);
  void add_info(const Envelope& entry);
  void change_model(std::string model, ComputedState& computed);
  MessageColumns add_message(const Envelope& entry, std::string_view line, ComputedState& computed);
  MessageColumns add_summary(const Envelope& entry, std::string_view line);
  void add_project(const Envelope& entry);
  void change_runtime(const Envelope& entry, ComputedState& computed);

  /// Keeps a text until the commands have been carried out. A NUL, which PostgreSQL has
  /// no place for, becomes U+FFFD.
  std::string_view keep(std::string text);

  std::string_view session_id_;
  std::deque<std::string> kept_;
  std::vector<sql::Command> others_;                              // sessions, projects
  std::vector<sql::Param> change_ = std::vector<sql::Param>(11);  // of kChangeSession
  std::string_view runtime_changed_;                              // when; empty: not at all
};

}  // namespace quipu::sqlstore
