#include "support/history_target.h"

#include <algorithm>

#include "base/json_scan.h"

namespace quipu::test {
namespace {

std::map<std::string, std::string> members_of(const std::string& object) {
  std::map<std::string, std::string> out;
  std::vector<json::Member> members;
  if (!json::scan_object(object, members).ok()) return {{"not JSON", object}};
  for (const auto& member : members) {
    const std::string key = json::decode_string(member.key);
    if (key == "parentId" && member.kind == json::Kind::kNull) continue;
    out[key] = std::string(member.value);
  }
  return out;
}

void compare(std::string& out, const std::string& what, const std::string& expected,
             const std::string& actual) {
  if (expected == actual) return;
  out += what + ": expected [" + expected + "], got [" + actual + "]\n";
}

void compare_rows(std::string& out, const Row& expected, const Row& actual) {
  const std::string at = "entry " + expected.id + " ";
  compare(out, at + "id", expected.id, actual.id);
  compare(out, at + "parent", expected.parent.value_or("none"), actual.parent.value_or("none"));
  compare(out, at + "type", expected.type, actual.type);
  compare(out, at + "timestamp", expected.timestamp, actual.timestamp);
  compare(out, at + "kind", expected.fact ? "fact" : "node", actual.fact ? "fact" : "node");
  const auto word = [](bool yes) { return yes ? std::string("yes") : std::string("no"); };
  compare(out, at + "inherited", word(expected.inherited), word(actual.inherited));
  compare(out, at + "adopted", word(expected.adopted), word(actual.adopted));
  compare(out, at + "redacted", word(expected.redacted), word(actual.redacted));
  if (expected.type == "session_header") return;
  compare(out, at + "payload", expected.payload, actual.payload);
  compare(out, at + "meta", expected.meta, actual.meta);
  if (expected.redacted || expected.adopted) return;
  compare(out, at + "run", expected.run_id, actual.run_id);
  if (members_of(expected.json) != members_of(actual.json)) {
    compare(out, at + "json", expected.json, actual.json);
  }
}

std::string join_lists(const std::map<std::string, std::vector<std::string>>& lists) {
  std::string out;
  for (const auto& [key, words] : lists) out += key + "(" + join(words) + ") ";
  return out;
}

}  // namespace

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

const Row* SessionView::find(const std::string& id) const {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.id == id; });
  return row == rows.end() ? nullptr : &*row;
}

void SessionView::derive_shape() {
  for (const auto& row : rows) {
    if (row.fact) continue;
    children[row.id] = {};
    if (!row.parent) roots.push_back(row.id);
    if (row.parent) children[*row.parent].push_back(row.id);
  }
  for (const auto& row : rows) {
    auto& path = paths[row.id];
    for (const Row* at = &row; at != nullptr && !at->fact;) {
      path.insert(path.begin(), at->id);
      at = at->parent ? find(*at->parent) : nullptr;
    }
    if (row.fact) continue;
    if (children[row.id].empty()) leaves.push_back(row.id);
    if (children[row.id].size() > 1) branch_points.push_back(row.id);
  }
}

std::string difference(const SessionView& expected, const SessionView& actual) {
  std::vector<std::string> expected_ids;
  std::vector<std::string> actual_ids;
  for (const auto& row : expected.rows) expected_ids.push_back(row.id);
  for (const auto& row : actual.rows) actual_ids.push_back(row.id);
  std::string out;
  compare(out, "entries", join(expected_ids), join(actual_ids));
  if (!out.empty()) return out;
  for (std::size_t i = 0; i < expected.rows.size(); ++i) {
    compare_rows(out, expected.rows[i], actual.rows[i]);
  }
  compare(out, "head", expected.head.value_or("none"), actual.head.value_or("none"));
  compare(out, "tail", expected.tail, actual.tail);
  compare(out, "parent_session", expected.parent_session, actual.parent_session);
  compare(out, "roots", join(expected.roots), join(actual.roots));
  compare(out, "leaves", join(expected.leaves), join(actual.leaves));
  compare(out, "branch_points", join(expected.branch_points), join(actual.branch_points));
  compare(out, "children", join_lists(expected.children), join_lists(actual.children));
  compare(out, "paths", join_lists(expected.paths), join_lists(actual.paths));
  return out;
}

std::optional<std::string> common_ancestor(const SessionView& view, const std::string& a,
                                           const std::string& b) {
  const auto& left = view.paths.at(a);
  const auto& right = view.paths.at(b);
  std::optional<std::string> deepest;
  for (std::size_t i = 0; i < left.size() && i < right.size() && left[i] == right[i]; ++i) {
    deepest = left[i];
  }
  return deepest;
}

}  // namespace quipu::test
