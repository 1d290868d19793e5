// Draft: a session that is being written for an agent that keeps lines of JSON, and what
// everybody needs who writes one: the transcript, ids made from it, the results by their
// calls, what has been written, what was lost.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_write.h"
#include "dialect/answers.h"
#include "dialect/made_ids.h"

namespace quipu::dialect {

struct Draft {
  /// The transcript must outlive this.
  explicit Draft(const Transcript& from) : transcript(from), ids(from.seed), answers(from) {}

  const Transcript& transcript;
  const MadeIds ids;
  Answers answers;
  Written written{};
  std::string text{};  // the lines

  /// One more line: an object with the members that `members` writes.
  template <class Members>
  void line(Members members) {
    json::Writer out(text);
    out.begin_object();
    members(out);
    out.end_object();
    text += '\n';
  }

  /// What users asked and models answered, in order. Results stand with their calls, and
  /// instructions have no place: `agent` makes its own.
  template <class Prompt, class Answered>
  void each(std::string_view agent, Prompt prompt, Answered answer) {
    for (const TranscriptMessage& message : transcript.messages) {
      if (message.message.role == Role::kUser) prompt(message);
      if (message.message.role == Role::kAssistant) answer(message);
      if (message.message.role == Role::kSystem) {
        lose(message, "system", std::string(agent) + " makes its system prompt anew");
      }
    }
  }

  /// An attachment as a file of the session: `<directory><id><ending>`.
  struct Attached {
    std::string id;
    std::string file;  // without the directory
    std::string name;  // as the user called it
    std::size_t bytes = 0;
  };
  /// Nothing, and reported, when its bytes are not in the session.
  std::optional<Attached> attach(const TranscriptMessage& from, const Part& part,
                                 const std::string& directory);

  void lose(const TranscriptMessage& from, std::string what, std::string why) {
    dialect::lose(written, from, std::move(what), std::move(why));
  }
  /// Of the session as a whole.
  void lose(std::string what, std::string why) {
    written.lost.push_back({.entry_id = {}, .what = std::move(what), .why = std::move(why)});
  }

 private:
  std::uint64_t attached_ = 0;
};

/// What a call was made with, as an object. Text that is none is its member `input`.
void write_input(json::Writer& out, const Part& call);

}  // namespace quipu::dialect
