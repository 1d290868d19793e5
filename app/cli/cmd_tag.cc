#include <algorithm>

#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/json_out.h"
#include "cli/session_facts.h"

namespace quipu::cli {
namespace {

struct TagArguments {
  std::string session;
  std::vector<std::string> added;
  std::vector<std::string> removed;
};

std::string without_plus(const std::string& word) {
  return word.starts_with('+') ? word.substr(1) : word;
}

std::vector<std::string> changed_tags(std::vector<std::string> tags,
                                      const TagArguments& arguments) {
  for (const std::string& tag : arguments.removed) std::erase(tags, tag);
  for (const std::string& word : arguments.added) {
    const std::string tag = without_plus(word);
    if (std::find(tags.begin(), tags.end(), tag) == tags.end()) tags.push_back(tag);
  }
  return tags;
}

Result<int> print_tags(Context& context, const std::string& session) {
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  auto id = resolve_session(store->sessions(), session);
  if (!id) return std::move(id).error();
  auto summary = store->sessions().describe_session(*id);
  if (!summary) return std::move(summary).error();
  for (const std::string& tag : summary->tags) context.out.data_line(tag);
  return kExitOk;
}

Result<int> run_tag(Context& context, const TagArguments& arguments) {
  for (const std::string& word : arguments.added) {
    if (without_plus(word).empty()) {
      return context.refuse(Error(Code::kInvalidArgument, "an empty tag"));
    }
  }
  const bool changes = !arguments.added.empty() || !arguments.removed.empty();
  if (!changes && !context.json) return print_tags(context, arguments.session);
  return say_of_session(context, arguments.session, [&](const SessionSummary& session) {
    const auto tags = changed_tags(session.tags, arguments);
    if (tags == session.tags) return std::string();
    return JsonWriter().begin_object().member("tags", tags).end_object().text();
  });
}

}  // namespace

void add_tag(CommandLine& line) {
  line.add<TagArguments>(
      "tag", "print the tags of a session, or change them",
      [](Declare& declare, TagArguments& arguments) {
        declare.session(arguments.session)
            .words("TAG", arguments.added, "tags to add, with or without a + before them")
            .hyphen_words("--remove", "TAG", arguments.removed,
                          "a tag to take away; -TAG means the same")
            .footer("Example: quipu tag 0190a1b2 +release -draft");
      },
      run_tag);
}

}  // namespace quipu::cli
