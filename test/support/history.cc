#include "support/history.h"

#include <algorithm>
#include <sstream>

#include "support/history_expand.h"
#include "support/history_line.h"

namespace quipu::test {
namespace {

using Words = std::vector<std::string>;
using Views = std::map<std::string, SessionView>;

std::string option(const Words& words, const std::string& name, bool& found) {
  for (const auto& word : words) {
    if (!word.starts_with(name + "=")) continue;
    found = true;
    return word.substr(name.size() + 1);
  }
  found = false;
  return {};
}

bool has_word(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// What an operation answered, whichever it was.
struct Outcome {
  int line = 0;
  bool ok = true;
  std::string code, message, actual, last, session;
  std::size_t appended = 0;
  std::size_t present = 0;
  int version = 0;
  bool was_read = true;  // by an `expect`
};

void take_error(Outcome& outcome, const Error& error) {
  outcome.ok = false;
  outcome.code = name(error.code());
  outcome.message = error.message();
  outcome.actual = error.actual();
}

class Run {
 public:
  Run(const History& history, HistoryTarget& target, const RunOptions& options)
      : history_(history), target_(target), options_(options) {}

  std::string all() {
    for (const auto& step : history_.steps) {
      const bool asks = step.words[0] == "expect";
      std::string failure = asks ? std::string() : unread_failure();
      if (failure.empty()) failure = one(step);
      if (failure.empty() && options_.reopen_each_step) target_.reopen();
      if (!failure.empty()) return place(step.line) + failure;
    }
    return unread_failure();
  }

 private:
  std::string place(int line) const {
    return history_.name + ".history:" + std::to_string(line) + ": ";
  }

  std::string unread_failure() const {
    if (outcome_.was_read || outcome_.ok) return {};
    return place(outcome_.line) + "must succeed, answered " + outcome_.code + ": " +
           outcome_.message;
  }

  std::string one(const HistoryStep& step) {
    const std::string& word = step.words[0];
    if (word == "create" || word == "append" || word == "fork") return operate(step);
    if (word == "expect") return expect(step.words);
    if (word == "foreign") {
      target_.write_foreign(step.words.at(1), names_.expand(step.value));
      return {};
    }
    if (word == "reopen") {
      target_.reopen();
      return {};
    }
    if (word == "missing") return missing(step.words.at(1));
    if (word == "sessions") return sessions(step.value);
    auto view = target_.view(word == "bind" ? Words(words_of(step.value)).at(0) : step.words.at(1));
    if (!view.ok()) return "no view: " + view.error().message();
    return word == "bind" ? bind(step, *view) : ask(step, *view);
  }

  static Words words_of(const std::string& text) {
    std::istringstream in(text);
    Words words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
  }

  std::string all_views(Views& views) {
    auto ids = target_.sessions();
    if (!ids.ok()) return "no sessions: " + ids.error().message();
    for (const auto& id : *ids) {
      auto view = target_.view(id);
      if (!view.ok()) return "no view of " + id + ": " + view.error().message();
      views.emplace(id, std::move(view).value());
    }
    return {};
  }

  std::string unchanged(const Views& before, const std::string& why) {
    Views after;
    if (auto failure = all_views(after); !failure.empty()) return failure;
    if (before.size() != after.size()) return why + " changed the sessions";
    for (const auto& [id, view] : before) {
      if (!after.contains(id)) return why + " removed " + id;
      const auto changed = difference(view, after.at(id));
      if (!changed.empty()) return why + " changed " + id + ": " + changed;
    }
    return {};
  }

  std::string operate(const HistoryStep& step) {
    Views before;
    if (auto failure = all_views(before); !failure.empty()) return failure;
    outcome_ = Outcome();
    outcome_.line = step.line;
    outcome_.was_read = false;
    const std::string& word = step.words[0];
    std::string failure;
    if (word == "append") failure = append(step);
    if (word == "create") failure = made(target_.create(step.words.at(1)), step.words.at(1));
    if (word == "fork") failure = fork(step.words);
    if (failure.empty() && !outcome_.ok) failure = unchanged(before, "a refused " + word);
    return failure;
  }

  std::string made(const Result<SessionHandle>& session, const std::string& id) {
    if (!session.ok()) {
      take_error(outcome_, session.error());
      return {};
    }
    outcome_.version = session->schema_version;
    if (session->session_id != id) return "made the session " + session->session_id;
    auto view = target_.view(id);
    if (!view.ok()) return "no view of the new session: " + view.error().message();
    for (const auto& row : view->rows) {
      if (row.type == "session_header" && !row.inherited) names_.set("@" + id, row.id);
    }
    return {};
  }

  std::string fork(const Words& words) {
    ForkOptions options;
    options.new_id = words.at(5);
    options.detach = has_word(words, "detach");
    return made(target_.fork(words.at(1), names_.expand(words.at(3)), options), options.new_id);
  }

  std::string append(const HistoryStep& step) {
    Words lines;
    for (const auto& line : step.batch) lines.push_back(names_.expand(long_form(line)));
    AppendOptions options;
    bool given = false;
    const auto tail = option(step.words, "expect-tail", given);
    if (given) options.expected_tail = names_.expand(tail);
    const auto head = option(step.words, "expect-head", given);
    if (given) options.expected_head = names_.expand(head);
    const auto fence = option(step.words, "fence", given);
    if (given) options.fence = names_.expand(fence);
    if (has_word(step.words, "merge")) options.mode = AppendMode::kMerge;
    if (has_word(step.words, "relaxed")) options.durability = Durability::kRelaxed;

    const std::string& session = step.words.at(1);
    const auto result = target_.append(session, lines, options);
    if (!result.ok()) {
      take_error(outcome_, result.error());
      return names_ids(result.error(), lines);
    }
    outcome_.appended = result->appended_count;
    outcome_.present = result->already_present;
    outcome_.last = result->last_appended_entry_id;
    if (result->entry_ids.size() != lines.size()) return "the answer does not name every entry";
    if (result->entry_ids.back() != outcome_.last) return "the last id is not the last";
    outcome_.session = result->session_id;
    return repeat(session, lines, result->entry_ids, options);
  }

  // A caller must be able to tell its retry from a new entry.
  static std::string names_ids(const Error& error, const Words& lines) {
    const Code code = error.code();
    if (code != Code::kTailMoved && code != Code::kHeadMoved && code != Code::kFenced &&
        code != Code::kIdConflict && code != Code::kPartialOverlap &&
        code != Code::kUnknownParent) {
      return {};
    }
    if (error.entry_ids().size() != lines.size()) return "the error does not name every entry";
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto line = read_any_line(lines[i]);
      const std::string& id = error.entry_ids()[i];
      if (id.empty() || (line && line->has("id") && line->row.id != id)) {
        return "the error names the wrong entry " + id;
      }
    }
    return {};
  }

  std::string repeat(const std::string& session, Words lines, const Words& ids,
                     const AppendOptions& options) {
    Views before;
    if (auto failure = all_views(before); !failure.empty()) return failure;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto line = read_any_line(lines[i]);
      if (line && !line->has("id")) lines[i].insert(1, "\"id\":" + json::quoted(ids[i]) + ",");
    }
    const auto again = target_.append(session, lines, options);
    if (!again.ok()) return "repeated: " + again.error().message();
    if (again->appended_count != 0 || again->already_present != lines.size() ||
        again->last_appended_entry_id != ids.back() || again->entry_ids != ids) {
      return "repeated: not recognised";
    }
    return unchanged(before, "a repeated append");
  }

  std::string expect(const Words& words) {
    outcome_.was_read = true;
    if (words.at(1) == "error") {
      if (outcome_.ok) return "expected " + words.at(2) + ", succeeded";
      if (outcome_.code != words.at(2)) {
        return "expected " + words.at(2) + ", got " + outcome_.code + ": " + outcome_.message;
      }
      return expect_option(words, "actual", outcome_.actual);
    }
    if (words.at(1) != "ok") return "expect ok or expect error";
    if (!outcome_.ok) return "expected ok, got " + outcome_.code + ": " + outcome_.message;
    auto failure = expect_option(words, "appended", std::to_string(outcome_.appended));
    failure += expect_option(words, "present", std::to_string(outcome_.present));
    failure += expect_option(words, "version", std::to_string(outcome_.version));
    failure += expect_option(words, "session", outcome_.session);
    return failure + expect_option(words, "last", outcome_.last);
  }

  std::string expect_option(const Words& words, const std::string& key, const std::string& actual) {
    bool given = false;
    const auto expected = names_.expand(option(words, key, given));
    if (!given || expected == actual) return {};
    return "expected " + key + "=" + expected + ", got " + actual + "; ";
  }

  std::string bind(const HistoryStep& step, const SessionView& view) {
    const auto at = std::stoul(words_of(step.value).at(1));
    if (at >= view.rows.size()) return "no such entry";
    names_.set("$" + step.words.at(1), view.rows[at].id);
    return {};
  }

  std::string missing(const std::string& session) {
    const auto view = target_.view(session);
    if (view.ok()) return session + " is there";
    return view.error().code() == Code::kNotFound ? "" : "answered " + view.error().message();
  }

  std::string sessions(const std::string& expected) {
    const auto ids = target_.sessions();
    if (!ids.ok()) return ids.error().message();
    return same(expected, join(*ids));
  }

  static std::string same(const std::string& expected, const std::string& actual) {
    return expected == actual ? "" : "expected [" + expected + "], got [" + actual + "]";
  }

  std::string ask(const HistoryStep& step, const SessionView& view) {
    const std::string& word = step.words[0];
    const std::string expected = names_.expand(step.value);
    if (word == "tail") return same(expected, view.tail);
    if (word == "head") return same(expected, view.head.value_or("none"));
    if (word == "roots") return same(expected, join(view.roots));
    if (word == "leaves") return same(expected, join(view.leaves));
    if (word == "branch_points") return same(expected, join(view.branch_points));
    if (word == "parent_session") {
      return same(expected, view.parent_session.empty() ? "none" : view.parent_session);
    }
    if (step.words.size() == 2) return same(expected, filtered(word, view));
    return ask_entry(step, view, expected);
  }

  static std::string filtered(const std::string& word, const SessionView& view) {
    Words ids;
    for (const auto& row : view.rows) {
      if (word == "entries" || (word == "facts" && row.fact) ||
          (word == "inherited" && row.inherited) || (word == "redacted" && row.redacted) ||
          (word == "adopted" && row.adopted)) {
        ids.push_back(row.id);
      }
    }
    return join(ids);
  }

  std::string ask_entry(const HistoryStep& step, const SessionView& view,
                        const std::string& expected) {
    const auto or_none = [](const std::string& text) { return text.empty() ? "none" : text; };
    const std::string& word = step.words[0];
    const std::string id = names_.expand(step.words.at(2));
    const Row* row = view.find(id);
    if (row == nullptr) return "no entry " + id;
    if (word == "path") return same(expected, join(view.paths.at(id)));
    if (word == "children") {
      return same(expected, view.children.contains(id) ? join(view.children.at(id)) : "");
    }
    if (word == "ancestor") {
      const auto found = common_ancestor(view, id, names_.expand(step.words.at(3)));
      return same(expected, found.value_or("none"));
    }
    if (word == "parent") return same(expected, row->parent.value_or("none"));
    if (word == "type") return same(expected, row->type);
    if (word == "timestamp") return same(expected, or_none(row->timestamp));
    if (word == "run") return same(expected, or_none(row->run_id));
    if (word == "payload") return same(expected, row->payload);
    if (word == "meta") return same(expected, or_none(row->meta));
    if (word == "json") return options_.check_json ? same(expected, row->json) : "";
    return "unknown question";
  }

  const History& history_;
  HistoryTarget& target_;
  RunOptions options_;
  HistoryNames names_;
  Outcome outcome_;
};

}  // namespace

std::string run_history(const History& history, HistoryTarget& target, const RunOptions& options) {
  return Run(history, target, options).all();
}

}  // namespace quipu::test
