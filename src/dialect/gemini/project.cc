#include "dialect/gemini/project.h"

#include <set>

#include "dialect/json_members.h"

namespace quipu::dialect::gemini {
namespace {

constexpr std::size_t kListBytes = std::size_t{4} << 20;
constexpr std::size_t kPathBytes = 4096;

class Projects {
 public:
  // A list that is not understood counts as empty, as it does for the program.
  Projects(fs::HostFiles& files, const std::string& tmp) : files_(files), tmp_(tmp) {
    const auto list = files.read(tmp.substr(0, tmp.rfind('/')) + "/projects.json", kListBytes);
    if (list.ok() && json::validate(*list).ok()) list_ = *list;
  }

  std::string slug_of(const std::string& cwd) {
    std::set<std::string> taken;
    json::MemberWalk walk(object_in(list_, "projects"));
    while (const auto project = walk.next()) {
      std::string slug = json::decode_string(project->value);
      const bool is_it = json::decode_string("\"" + std::string(project->key) + "\"") == cwd;
      if (is_it && can_be(slug, cwd)) return slug;
      taken.insert(std::move(slug));
    }
    if (const auto there = files_.list(tmp_); there.ok()) {
      for (const fs::HostName& name : *there) {
        if (owner(name.name) == cwd) return name.name;
      }
    }
    const std::string slug = gemini::slug_of(cwd);
    for (int count = 0;; ++count) {
      std::string one = count == 0 ? slug : slug + "-" + std::to_string(count);
      if (!taken.contains(one) && can_be(one, cwd)) return one;
    }
  }

 private:
  /// Empty: nobody's.
  std::string owner(const std::string& slug) {
    const auto root = files_.read(tmp_ + "/" + slug + "/.project_root", kPathBytes);
    return root.ok() ? root->substr(0, root->find_first_of("\r\n")) : std::string();
  }

  bool can_be(const std::string& slug, const std::string& cwd) {
    const std::string known = owner(slug);
    return !slug.empty() && slug.find('/') == std::string::npos && slug != ".." &&
           (known.empty() || known == cwd);
  }

  fs::HostFiles& files_;
  const std::string& tmp_;
  std::string list_;
};

}  // namespace

// Letters and digits of the directory's name in lower case, one dash for everything between
// them.
std::string slug_of(const std::string& cwd) {
  std::string slug;
  for (char c : cwd.substr(cwd.rfind('/') + 1)) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_plain) slug += c;
    if (!is_plain && !slug.empty() && slug.back() != '-') slug += '-';
  }
  if (slug.ends_with('-')) slug.pop_back();
  return slug.empty() ? "project" : slug;
}

std::string slug_on(const Machine& machine, const std::string& tmp, const std::string& cwd) {
  return Projects(machine.files, tmp).slug_of(cwd);
}

}  // namespace quipu::dialect::gemini
