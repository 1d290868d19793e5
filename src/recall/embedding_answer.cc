#include "recall/embedding_answer.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "base/base64.h"
#include "base/json_scan.h"
#include "base/try.h"
#include "recall/vector.h"

namespace quipu::recall {
namespace {

constexpr std::size_t kComplaintBytes = 300;

Error garbage(const std::string& why) {
  return Error(Code::kIoError, "the answer is not one of an embeddings endpoint: " + why)
      .with_hint("see whether URL and model are those of an OpenAI-compatible endpoint");
}

template <class Number>
std::optional<Number> number_of(std::string_view token) {
  Number number{};
  const char* const end = token.data() + token.size();
  const auto [at, error] = std::from_chars(token.data(), end, number);
  if (error != std::errc{} || at != end) return std::nullopt;
  return number;
}

Result<std::vector<float>> read_array(std::string_view array) {
  std::vector<float> vector;
  json::ElementWalk walk(array);
  while (const auto element = walk.next()) {
    // As a double first: what is too small for a float is zero and no error.
    const auto number =
        element->kind == json::Kind::kNumber ? number_of<double>(element->value) : std::nullopt;
    constexpr double kMost = std::numeric_limits<float>::max();
    if (!number || *number > kMost || *number < -kMost) {
      return garbage("component " + std::to_string(vector.size()) + " is not a number");
    }
    vector.push_back(static_cast<float>(*number));
  }
  return vector;
}

Result<std::vector<float>> read_vector(const json::Member& embedding) {
  std::vector<float> vector;
  if (embedding.kind == json::Kind::kArray) {
    TRY_ASSIGN(vector, read_array(embedding.value));
  } else if (embedding.kind == json::Kind::kString) {
    const auto bytes = base64_decode(json::decode_string(embedding.value));
    auto decoded = bytes ? vector_of_bytes(*bytes) : Error(Code::kInvalidArgument, "");
    if (!decoded.ok()) return garbage("an embedding is not base64 of floats");
    vector = std::move(decoded).value();
  } else {
    return garbage("an embedding is neither an array nor a string");
  }
  const auto checked = check_vector(vector);
  if (!checked.ok()) return garbage(checked.error().message());
  return vector;
}

Result<void> read_item(std::string_view item, std::vector<std::vector<float>>& vectors) {
  const auto index = json::find_member(item, "index");
  const auto embedding = json::find_member(item, "embedding");
  if (!index || !embedding) return garbage("an element of data has no index or no embedding");
  const auto place = number_of<std::size_t>(index->value);
  if (!place || *place >= vectors.size()) return garbage("an index is not one of a text");
  if (!vectors[*place].empty()) return garbage("an index is there twice");
  auto vector = read_vector(*embedding);
  if (!vector.ok()) {
    return std::move(vector).error().in("text " + std::to_string(*place));
  }
  vectors[*place] = std::move(vector).value();
  return {};
}

}  // namespace

Result<std::vector<std::vector<float>>> read_embeddings(std::string_view answer,
                                                        std::size_t count) {
  std::vector<json::Member> members;
  const auto scanned = json::scan_object(answer, members);
  if (!scanned.ok()) return garbage(scanned.error().message());
  const auto data = std::ranges::find_if(
      members, [](const json::Member& member) { return json::key_equals(member.key, "data"); });
  if (data == members.end() || data->kind != json::Kind::kArray) return garbage("it has no data");

  std::vector<std::vector<float>> vectors(count);
  std::size_t items = 0;
  json::ElementWalk walk(data->value);
  while (const auto item = walk.next()) {
    if (++items > count) break;
    if (item->kind != json::Kind::kObject) return garbage("an element of data is no object");
    TRY(read_item(item->value, vectors));
  }
  if (items != count) {
    return garbage("it has " + std::string(items > count ? "more" : "fewer") + " than the " +
                   std::to_string(count) + " vectors asked for");
  }
  for (const auto& vector : vectors) {
    if (vector.size() != vectors.front().size()) return garbage("its vectors differ in dimensions");
  }
  return vectors;
}

std::string read_complaint(std::string_view answer) {
  std::string text(answer.substr(0, 4 * kComplaintBytes));
  std::vector<json::Member> members;
  if (json::scan_object(answer, members).ok()) {
    // {"error": {"message": …}}, {"error": …} or {"message": …}
    auto found = json::find_member(answer, "error");
    if (found && found->kind == json::Kind::kObject) {
      found = json::find_member(found->value, "message");
    }
    if (!found) found = json::find_member(answer, "message");
    if (found && found->kind == json::Kind::kString) text = json::decode_string(found->value);
  }
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  }
  if (text.size() > kComplaintBytes) {
    std::size_t end = kComplaintBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    text = text.substr(0, end) + "…";
  }
  return text;
}

}  // namespace quipu::recall
