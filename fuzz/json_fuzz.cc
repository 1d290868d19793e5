// Any bytes through the JSON scanner: nothing reads out of bounds, and its parts
// agree with each other.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_scan.h"

namespace {

using quipu::json::Kind;
using quipu::json::Member;

void require(bool condition) {
  if (!condition) std::abort();
}

bool inside(std::string_view part, std::string_view text) {
  return part.data() >= text.data() && part.data() + part.size() <= text.data() + text.size();
}

// On any text the walk ends and stays inside it.
std::vector<Member> walk_all(std::string_view text) {
  std::vector<Member> members;
  quipu::json::MemberWalk walk(text);
  while (const auto member = walk.next()) {
    require(inside(member->key, text) && inside(member->value, text));
    members.push_back(*member);
    require(members.size() <= text.size());
  }
  require(!walk.next());
  return members;
}

void check_member(std::string_view object, const Member& member) {
  require(quipu::json::validate(member.value).ok());
  const std::string key = quipu::json::decode_string(member.key);
  require(quipu::json::key_equals(member.key, key));
  const auto found = quipu::json::find_member(object, key);
  require(found.has_value() && found->value.data() <= member.value.data());
  if (member.kind == Kind::kString) {
    const std::string plain = quipu::json::decode_string(member.value);
    require(quipu::json::decode_string(quipu::json::quoted(plain)) == plain);
  }
}

void check_object(std::string_view text, const std::vector<Member>& members) {
  require(quipu::json::validate(text).ok());
  const std::vector<Member> walked = walk_all(text);
  require(walked.size() == members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    require(walked[i].key.data() == members[i].key.data() && walked[i].key == members[i].key);
    require(walked[i].value.data() == members[i].value.data());
    require(walked[i].value.size() == members[i].value.size());
    require(walked[i].kind == members[i].kind);
    // Each lookup walks the object again: a few members are enough.
    if (i < 16) check_member(text, members[i]);
  }
  const auto duplicate = quipu::json::find_duplicate_key(members);
  if (!duplicate) return;
  std::size_t times = 0;
  for (const Member& member : members) times += quipu::json::key_equals(member.key, *duplicate);
  require(times >= 2);
}

// Any bytes, quoted, are one valid string, and quoting again changes nothing.
void check_quoting(std::string_view text) {
  const std::string token = quipu::json::quoted(text);
  require(quipu::json::validate(token).ok());
  const std::string plain = quipu::json::decode_string(token);
  require(quipu::json::quoted(plain) == token);
  const std::string object = "{" + token + ":" + token + "}";
  std::vector<Member> members;
  require(quipu::json::scan_object(object, members).ok());
  require(members.size() == 1 && members[0].value == token);
  require(quipu::json::key_equals(members[0].key, plain));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<Member> members;
  if (quipu::json::scan_object(text, members).ok()) {
    check_object(text, members);
  } else {
    walk_all(text);
  }
  quipu::json::decode_string(text);
  check_quoting(text);
  return 0;
}
