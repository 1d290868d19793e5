#include "exchange/agent_place.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/try.h"

namespace quipu::exchange {
namespace {

const std::map<std::string, std::string> kNoVariables;

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Error no_place(const dialect::Dialect& dialect, const std::string& path) {
  return Error(Code::kUnsupported, path + ": " + std::string(dialect.name()) +
                                       " looks for its sessions in no directory that we know")
      .with_hint("write it somewhere with --out");
}

}  // namespace

Result<std::string> installed_path(const dialect::Dialect& dialect, const std::string& name,
                                   const std::string& cwd, const dialect::Machine& machine) {
  TRY_ASSIGN(std::string there, dialect.name_on(machine, name, cwd));
  const auto places = dialect.places(machine);
  const bool is_index = !dialect.index_name().empty() && last_name(name) == dialect.index_name();
  if (is_index && !places.empty()) {
    there = last_name(places.front()) + "/../" + std::string(dialect.index_name());
  }
  const std::size_t slash = there.find('/');
  if (slash == std::string::npos) {
    // The place of an agent that keeps all in one file is that file.
    const auto file = std::find_if(places.begin(), places.end(), [&](const std::string& place) {
      return last_name(place) == there;
    });
    return file != places.end() ? Result<std::string>(whole_path(*file)) : no_place(dialect, name);
  }
  // The place of that name which exists; else the first one, which the agent would make.
  // A place that the user has moved has any name.
  const std::string* best = nullptr;
  for (const std::string& place : places) {
    const bool fits = last_name(place) == there.substr(0, slash) || places.size() == 1;
    if (fits &&
        (best == nullptr || (!machine.files.exists(*best) && machine.files.exists(place)))) {
      best = &place;
    }
  }
  if (best == nullptr) return no_place(dialect, name);
  return whole_path(*best + there.substr(slash));
}

Result<std::string> name_in_place(const dialect::Dialect& dialect, const std::string& path,
                                  const dialect::Machine& machine) {
  const auto places = dialect.places(machine);
  for (const std::string& place : places) {
    if (path.starts_with(place + "/")) return last_name(place) + path.substr(place.size());
  }
  // On another machine, perhaps: what the place is called when nobody has moved it.
  const dialect::Machine usual{
      .files = machine.files, .home = machine.home, .variable = variables(&kNoVariables)};
  for (const std::string& place : dialect.places(usual)) {
    const std::size_t at = path.rfind("/" + last_name(place) + "/");
    if (at != std::string::npos) return path.substr(at + 1);
  }
  return no_place(dialect, path);
}

Variable variables(const std::map<std::string, std::string>* given) {
  if (given == nullptr) {
    return [](const std::string& name) {
      const char* value = std::getenv(name.c_str());
      return std::string(value == nullptr ? "" : value);
    };
  }
  return [copy = *given](const std::string& name) {
    const auto found = copy.find(name);
    return found == copy.end() ? std::string() : found->second;
  };
}

}  // namespace quipu::exchange
