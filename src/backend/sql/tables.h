// Tables: what entries mean in the tables that other programs read: chat_sessions,
// messages, message_parts, session_runtime_state, projects. Written in the transaction
// that stores the entries, computed from them alone, so that all of it can be made again
// (SqlBackend::repair).
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

class Tables {
 public:
  /// `session_id` must outlive it.
  explicit Tables(std::string_view session_id) : session_id_(session_id) {}

  /// The next entry of the log. `line` must outlive this. `is_new`: of a log that is
  /// being made, whose first entry makes the session's row.
  void add(std::string_view line, Ordinal ordinal, RuntimeRow& runtime);

  /// Adds what has to be written. Once, after the last entry.
  void write(const RuntimeRow& runtime, std::vector<sql::Command>& commands);

 private:
  void add_header(const Envelope& entry);
  void add_info(const Envelope& entry);
  void add_message(const Envelope& entry, Ordinal ordinal);
  void add_summary(const Envelope& entry, Ordinal ordinal);
  void add_message_row(const Envelope& entry, Ordinal ordinal, std::string_view role,
                       sql::Param usage, bool is_summary);
  void add_part(const Envelope& entry, std::size_t number, std::string_view type,
                std::string_view payload);
  void add_project(const Envelope& entry);
  void change_runtime(const Envelope& entry, RuntimeRow& runtime);

  /// Keeps a text until the commands have been carried out. A NUL, which PostgreSQL has
  /// no place for, becomes U+FFFD.
  std::string_view keep(std::string text);

  std::string_view session_id_;
  std::deque<std::string> kept_;
  std::vector<sql::Command> others_;  // sessions, projects
  std::vector<sql::Param> messages_;
  std::vector<sql::Param> parts_;
  std::vector<sql::Param> change_ = std::vector<sql::Param>(12);  // of kChangeSession
  bool changes_session_ = false;
  std::string_view runtime_changed_;  // when; empty: not at all
};

}  // namespace quipu::sqlstore
