// What `memory` and `knowledge` have in common: JSON lines in, hits out.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/json_out.h"
#include "cli/line_reader.h"
#include "quipu/recall.h"

namespace quipu::cli {

inline constexpr std::size_t kRecallLimitMax = 10'000;
inline constexpr std::chrono::seconds kEmbedBudget(30);

/// Lines of JSON, each read by `read`, `most` of them at once; blank ones are passed over.
/// An error names the line. Empty at the end of the input.
template <class Item>
struct JsonLines {
  std::vector<Item> items{};
  std::uint64_t first = 0;  // line
  std::uint64_t last = 0;

  static Result<JsonLines> read(LineReader& reader, std::size_t most, std::size_t bytes_most,
                                Result<Item> (*read_item)(std::string_view)) {
    JsonLines lines;
    const std::uint64_t from = reader.bytes_read();
    while (lines.items.size() < most && reader.bytes_read() - from <= bytes_most) {
      auto line = reader.next();
      if (!line) return std::move(line).error();
      if (!line->has_value()) break;
      if ((*line)->find_first_not_of(" \t\r") == std::string_view::npos) continue;
      auto item = read_item(**line);
      if (!item) {
        return std::move(item).error().in(
            fmt::format("{}: line {}", reader.place(), reader.line_number()));
      }
      if (lines.items.empty()) lines.first = reader.line_number();
      lines.last = reader.line_number();
      lines.items.push_back(std::move(item).value());
    }
    return lines;
  }
};

/// After something was added: its vectors are made as far as that is quickly done. The answer is
/// printed first, and says nothing of it: vectors may come later.
template <class Recall>
Result<void> make_vectors(Context& context, Recall& recall) {
  if (EmbeddingEndpoint::from_environment().url.empty()) return {};
  if (auto flushed = context.out.flush(); !flushed) return flushed;
  auto status = recall.embed(kEmbedBudget);
  if (!status) return std::move(status).error();
  if (!status->reason.empty()) {
    context.warn(fmt::format("{} texts wait for their vectors, {} will have none: {}",
                             status->waiting, status->given_up, context.shown(status->reason)));
  } else if (status->waiting > 0) {
    context.note(fmt::format("{} texts wait for their vectors", status->waiting));
  }
  return {};
}

/// Answers `{"<done>": count}` or "<count> <done>"; an error when not all of the `named` were
/// there.
Result<void> answer_taken(Context& context, const char* done, std::size_t count,
                          const std::vector<std::string>& named);

/// The words of a query as one text.
std::string joined(const std::vector<std::string>& words);

/// Members of a hit: `score`, `snippet` with `marks`, and where it stands in which list.
void write_rank(JsonWriter& json, double score, const Excerpt& excerpt, const RankReason& reason);
/// `queryIsCut`; `hybrid` and `note`, when vectors were asked for.
template <class Hit>
void write_ranking(JsonWriter& json, const Ranking& ranking, const Hits<Hit>& hits) {
  if (hits.query_is_cut) json.member("queryIsCut", true);
  if (!ranking.hybrid) return;
  json.member("hybrid", hits.is_hybrid);
  if (!hits.note.empty()) json.member("note", hits.note);
}
/// What people are told of an answer.
template <class Hit>
void print_notes(Context& context, const Hits<Hit>& hits) {
  if (hits.query_is_cut) {
    context.warn("the query has more than 64 terms or 64 KiB: what is beyond was left out");
  }
  if (hits.items.empty()) context.note("Nothing found.");
  if (!hits.note.empty()) context.note(hits.note);
}
/// null where there is none.
void write_time(JsonWriter& json, std::string_view name, std::int64_t unix_ms);
/// The excerpt for people, what matched in colour or between stars.
std::string shown_excerpt(Context& context, const Excerpt& excerpt);

}  // namespace quipu::cli
