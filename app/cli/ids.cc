#include "cli/ids.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "quipu/entry.h"

namespace quipu::cli {
namespace {

constexpr std::size_t kCandidatesShown = 8;
constexpr std::size_t kShortest = 8;

bool may_begin_session_id(std::string_view text) {
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !text.empty() && text.size() <= kSessionIdBytesMax &&
         text.find_first_not_of(kAllowed) == std::string_view::npos &&
         text.find("..") == std::string_view::npos;
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const auto [end, _] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(end - a.begin());
}

}  // namespace

Result<std::string> match_prefix(const Noun& noun, std::string_view prefix,
                                 const std::vector<std::string>& ids) {
  if (prefix.empty()) {
    return Error(Code::kInvalidArgument, fmt::format("an empty id for {}", noun.name));
  }
  std::vector<std::string_view> found;
  for (const std::string& id : ids) {
    if (id == prefix) return id;
    if (id.starts_with(prefix)) found.push_back(id);
  }
  if (found.size() == 1) return std::string(found[0]);
  if (found.empty()) {
    return Error(Code::kNotFound,
                 fmt::format("no {} has an id that begins with '{}'", noun.name, prefix))
        .with_hint(std::string(noun.where_to_look));
  }
  std::string hint = "Candidates:";
  for (std::size_t i = 0; i < std::min(found.size(), kCandidatesShown); ++i) {
    hint.append(i == 0 ? " " : ", ").append(found[i]);
  }
  if (found.size() > kCandidatesShown) {
    hint += fmt::format(" and {} more", found.size() - kCandidatesShown);
  }
  return Error(Code::kNotFound,
               fmt::format("'{}' is ambiguous: {} ids begin with it", prefix, found.size()))
      .with_hint(std::move(hint));
}

Result<std::string> resolve_session(SessionStore& sessions, std::string_view name) {
  if (is_session_id(name)) {
    // The usual case, without a look at the directory. Whatever else is wrong
    // with the session, it is the one that was meant.
    auto exact = sessions.session_ends(name);
    if (exact.ok() || exact.error().code() != Code::kNotFound) return std::string(name);
  } else if (!may_begin_session_id(name)) {
    return Error(Code::kInvalidArgument, fmt::format("'{}' is not a session id", name))
        .with_hint("Session ids have 1 to 64 of A-Z a-z 0-9 . _ - and no '..'.");
  }
  auto all = sessions.session_ids();
  if (!all) return std::move(all).error();
  return match_prefix({"session", "`quipu list` shows the sessions of the store."}, name, *all);
}

Result<std::vector<std::string>> entry_ids(const SessionTree& tree) {
  std::vector<std::string> ids;
  ids.reserve(tree.size());
  for (SessionTree::Ordinal entry = 0; entry < tree.size(); ++entry) {
    auto id = tree.id(entry);
    if (!id) return std::move(id).error();
    ids.push_back(std::move(id).value());
  }
  return ids;
}

Result<SessionTree::Ordinal> resolve_entry(const SessionTree& tree, std::string_view name) {
  if (auto exact = tree.find(name); exact || exact.error().code() != Code::kNotFound) return exact;
  auto ids = entry_ids(tree);
  if (!ids) return std::move(ids).error();
  auto id = match_prefix({"entry of this session", "`quipu tree` shows the entries of a session."},
                         name, *ids);
  if (!id) return std::move(id).error();
  return tree.find(*id);
}

Result<SessionTree::Ordinal> resolve_node(const SessionTree& tree, std::string_view name) {
  auto entry = resolve_entry(tree, name);
  if (entry && !tree.is_node(*entry)) {
    return Error(Code::kInvalidArgument, fmt::format("entry '{}' is no node of the tree", name))
        .with_hint("Facts such as head or label have no place in the tree; name a message.");
  }
  return entry;
}

Result<std::string> resolve_place(const SessionBranch& branch, std::string_view name) {
  auto exact = branch.resolve(name);
  if (exact || exact.error().code() != Code::kNotFound) return exact;
  auto node = resolve_node(branch.tree(), name);
  if (!node) return std::move(node).error();
  return branch.tree().id(*node);
}

ShortIds::ShortIds(std::vector<std::string> ids) : ids_(std::move(ids)) {
  std::sort(ids_.begin(), ids_.end());
}

ShortIds ShortIds::of_sessions(SessionStore& sessions) {
  auto ids = sessions.session_ids();
  return ShortIds(ids ? std::move(ids).value() : std::vector<std::string>());
}

std::string ShortIds::of(const std::string& id) const {
  if (ids_.empty()) return id;
  const auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
  std::size_t length = kShortest;
  if (at != ids_.begin()) length = std::max(length, common_prefix(id, *std::prev(at)) + 1);
  auto next = at;
  if (next != ids_.end() && *next == id) ++next;
  if (next != ids_.end()) length = std::max(length, common_prefix(id, *next) + 1);
  if (length >= id.size()) return id;
  // Not between the bytes of one character, nor right after a hyphen.
  const auto inside = [&](std::size_t i) {
    return i < id.size() && (static_cast<unsigned char>(id[i]) & 0xC0u) == 0x80;
  };
  if (id[length - 1] == '-') ++length;
  while (inside(length)) ++length;
  return id.substr(0, length);
}

}  // namespace quipu::cli
