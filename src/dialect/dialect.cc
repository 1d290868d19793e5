#include "dialect/dialect.h"

#include <algorithm>

#include "base/json_scan.h"
#include "base/sha256.h"
#include "quipu/entry.h"

namespace quipu::dialect {
namespace {

constexpr std::string_view kFactPrefix = "fact.";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

Result<std::vector<Source>> Dialect::sources(const std::string& path, fs::HostFiles&) const {
  return std::vector<Source>{
      {.agent = std::string(name()), .path = path, .part = {}, .files = {path}}};
}

std::vector<Pick> Dialect::conversation(std::span<const StoredRecord> records,
                                        std::uint32_t at) const {
  std::vector<Pick> picks;
  // Parents stand before their children, so the walk ends.
  for (; at < records.size(); at = records[at].parent) picks.push_back({.record = at});
  std::reverse(picks.begin(), picks.end());
  return picks;
}

std::vector<std::uint32_t> in_order(std::span<const StoredRecord> records, std::uint32_t at) {
  const bool is_whole = std::any_of(records.begin(), records.end(),
                                    [](const auto& record) { return record.place != kNoRecord; });
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < records.size() && i <= at; ++i) {
    if (!is_whole || records[i].place != kNoRecord) order.push_back(i);
  }
  if (is_whole) {
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return records[a].place < records[b].place;
    });
  }
  return order;
}

std::string_view next_line(std::string_view& head) {
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  const std::string_view line = head.substr(0, head.find('\n'));
  head.remove_prefix(std::min(head.size(), line.size() + 1));
  return line;
}

std::string_view next_object(std::string_view& head) {
  while (!head.empty()) {
    const bool may_be_cut = head.find('\n') == std::string_view::npos;
    std::string_view line = next_line(head);
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t\r")));
    if (!line.starts_with('{')) continue;
    if (may_be_cut) return line;
    const std::string_view first = json::Cursor(line).take();
    if (json::is_object(first)) return first;
  }
  return {};
}

const Dialect* find_dialect(std::string_view name) {
  for (const Dialect* dialect : all_dialects()) {
    if (dialect->name() == name) return dialect;
  }
  return nullptr;
}

RecordType record_type(std::string_view entry_type) {
  RecordType type;
  if (entry_type.starts_with(kFactPrefix)) {
    type.is_fact = true;
    entry_type.remove_prefix(kFactPrefix.size());
  }
  const std::size_t dot = entry_type.find('.');
  if (dot == std::string_view::npos) return type;
  type.dialect = find_dialect(entry_type.substr(0, dot));
  type.kind = entry_type.substr(dot + 1);
  return type;
}

void append_entry_type(std::string& to, const Dialect& dialect, std::string_view kind,
                       bool is_fact) {
  if (is_fact) to += kFactPrefix;
  to += dialect.name();
  to += '.';
  to += kind;
}

std::string entry_type_of(const Dialect& dialect, std::string_view kind, bool is_fact) {
  std::string type;
  append_entry_type(type, dialect, kind, is_fact);
  return type;
}

Result<std::string> Dialect::name_on(const Machine&, const std::string& name,
                                     const std::string&) const {
  return name;
}

Result<Joined> Dialect::join(std::string_view, std::string_view) const {
  return Error(Code::kUnsupported, std::string(name()) + " has no index");
}

std::string file_name(const Source& source, std::uint32_t file) {
  const std::string& path = source.files[file];
  if (!source.root.empty() && path.starts_with(source.root + "/")) {
    return path.substr(source.root.size() + 1);
  }
  const std::string_view first(source.path);
  // Up from the first file's directory to one that holds this file, too.
  std::size_t directory = first.rfind('/') + 1;
  while (directory > 0 && !path.starts_with(first.substr(0, directory))) {
    directory = directory < 2 ? 0 : first.rfind('/', directory - 2) + 1;
  }
  return path.substr(directory);
}

std::string session_id_of(std::string_view agent, std::string_view id) {
  std::string name = std::string(agent) + "." + std::string(id);
  if (is_session_id(name)) return name;
  return std::string(agent) + "." + sha256_hex(id).substr(0, 32);
}

}  // namespace quipu::dialect
