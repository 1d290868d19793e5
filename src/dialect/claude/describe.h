// What a line is: node or fact, where it hangs, whether a session goes on from it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/line_reader.h"

namespace quipu::dialect::claude {

/// The types that Claude chains by `parentUuid`.
enum class LineType : unsigned char { kOther, kUser, kAssistant, kSystem, kAttachment, kProgress };
LineType line_type(std::string_view kind);

/// The kind of attachments that are what the user typed while the model worked.
inline constexpr std::string_view kQueuedPrompt = "queued-prompt";
/// Whether somebody says something in lines of this kind: a session goes on from those.
bool speaks(std::string_view kind);

/// Whether lines of this type speak of a session instead of standing in its tree, also
/// when they have a uuid.
bool is_metadata(std::string_view type);

/// 8-4-4-4-12 hexadecimal digits.
bool is_uuid(std::string_view text);

/// Hashes of ids in one piece of memory: one is added for every line.
class HashSet {
 public:
  void insert(std::size_t hash);
  bool contains(std::size_t hash) const;

 private:
  std::size_t slot_of(std::size_t hash) const;

  std::vector<std::size_t> slots_;  // a power of two of them; 0: empty
  std::size_t count_ = 0;
};

class Describer {
 public:
  /// `session`: what the file's name says; empty when it says nothing.
  /// `is_agent`: a sub-agent's file, whose lines are side chains all of them.
  Describer(std::string session, bool is_agent)
      : session_(std::move(session)), is_agent_(is_agent) {}

  void operator()(const Fields& fields, Record& record);

 private:
  void describe_node(const Fields& fields, Record& record);

  std::string session_;
  bool is_agent_;
  /// Hashes of the uuids that the lines so far hang on: a line that comes after its
  /// children is nobody's end.
  HashSet parents_;
};

}  // namespace quipu::dialect::claude
