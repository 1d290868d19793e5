// A caller's line taken apart: what the door has to look at.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/json_scan.h"
#include "support/history_target.h"

namespace quipu::test {

struct HistoryLine {
  Row row;  // what the line says; `parent` only when it names one
  std::map<std::string, std::string> members;  // decoded key to JSON text
  std::map<std::string, json::Kind> kinds;
  std::string target;  // the entry that a `head` or `redaction` points at

  bool has(const std::string& key) const { return members.contains(key); }
  bool is(const std::string& key, json::Kind kind) const {
    return has(key) && kinds.at(key) == kind;
  }
  /// A string member; empty when there is none.
  std::string text(const std::string& key) const;
};

bool is_fact_name(const std::string& type);

/// Any JSON object at all, every member optional; of members that occur twice
/// the first counts. Nothing when it is no JSON object.
std::optional<HistoryLine> read_any_line(const std::string& line);

/// A line that may be appended; nothing when the door must refuse it.
std::optional<HistoryLine> read_strict_line(const std::string& line);

}  // namespace quipu::test
