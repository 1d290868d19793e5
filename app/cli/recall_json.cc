#include "cli/recall_json.h"

#include <set>

#include "cli/times.h"

namespace quipu::cli {

Result<void> answer_taken(Context& context, const char* done, std::size_t count,
                          const std::vector<std::string>& named) {
  const std::size_t wanted = std::set<std::string>(named.begin(), named.end()).size();
  if (count == 0) {
    return Error(Code::kNotFound,
                 wanted == 1 ? "there is no " + named.front() : "none of these is there")
        .with_hint("`list` shows what there is.");
  }
  if (context.json) {
    context.out.data_line(
        JsonWriter().begin_object().member(done, std::uint64_t{count}).end_object().text());
  } else {
    context.out.line(fmt::format("{} {}", count, done));
  }
  if (count >= wanted) return {};
  return Error(Code::kNotFound, fmt::format("{} of {} are not there", wanted - count, wanted))
      .with_hint("The others are " + std::string(done) + "; `list` shows what there is.");
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : " ").append(word);
  return text;
}

void write_rank(JsonWriter& json, double score, const Excerpt& excerpt, const RankReason& reason) {
  json.key("score").raw(fmt::format("{}", score)).member("snippet", excerpt.text);
  json.key("marks").begin_array();
  for (const auto& [begin, end] : excerpt.marks) {
    json.begin_array().value(std::uint64_t{begin}).value(std::uint64_t{end}).end_array();
  }
  json.end_array();
  const auto standing = [&](const char* name, std::size_t rank, double given) {
    if (rank == 0) return;
    json.key(name).begin_object().member("rank", std::uint64_t{rank});
    json.key("score").raw(fmt::format("{}", given)).end_object();
  };
  standing("lexical", reason.lexical_rank, reason.lexical_score);
  standing("vector", reason.vector_rank, reason.vector_score);
}

void write_time(JsonWriter& json, std::string_view name, std::int64_t unix_ms) {
  json.optional_member(name, unix_ms == 0 ? std::string() : utc_text(unix_ms));
}

std::string shown_excerpt(Context& context, const Excerpt& excerpt) {
  const Terminal& terminal = context.out.terminal();
  const std::string_view ellipsis = Glyphs::of(terminal).ellipsis;
  // Without colours the marks are in the text.
  const std::string mark = terminal.color ? "" : "**";
  const auto safe = [&](std::size_t from, std::size_t to) {
    return safe_text(std::string_view(excerpt.text).substr(from, to - from), terminal.charset());
  };
  std::string shown;
  if (excerpt.cut_before) shown += ellipsis;
  std::size_t at = 0;
  for (const auto& [begin, end] : excerpt.marks) {
    shown += safe(at, begin);
    shown += paint(terminal, Style::kYellow, mark + safe(begin, end) + mark);
    at = end;
  }
  shown += safe(at, excerpt.text.size());
  if (excerpt.cut_after) shown += ellipsis;
  return shown;
}

}  // namespace quipu::cli
