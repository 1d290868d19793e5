#include "view/usage_row.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/sha256.h"
#include "base/varint.h"

namespace quipu::view {
namespace {

// Beyond this nothing is a cost: a billion dollars.
constexpr double kCostMax = 1e9;

// As it lies in memory: the file is this machine's.
void put_word(std::string& out, std::uint64_t word) {
  char bytes[sizeof word];
  std::memcpy(bytes, &word, sizeof word);
  out.append(bytes, sizeof word);
}

void put_text(std::string& out, std::string_view text) {
  append_varint(out, text.size());
  out += text;
}

// From -1 on, which is what is not known.
void put_signed(std::string& out, std::int64_t number) {
  append_varint(out, static_cast<std::uint64_t>(number + 1));
}

/// Reads what was written, and nothing more once something is not that.
class Bytes {
 public:
  explicit Bytes(std::string_view text) : text_(text) {}

  bool ok() const { return ok_; }
  std::string_view left() const { return text_; }

  std::uint64_t number() {
    if (const auto number = take_varint(text_)) return *number;
    ok_ = false;
    text_ = {};
    return 0;
  }
  /// At least -1.
  std::int64_t signed_number() {
    const auto number = static_cast<std::int64_t>(this->number() - 1);
    if (number < Request::kUnknown) ok_ = false;
    return number;
  }

  std::string_view bytes(std::uint64_t size) {
    if (size > text_.size()) {
      ok_ = false;
      size = text_.size();
    }
    const std::string_view bytes = text_.substr(0, size);
    text_.remove_prefix(size);
    return bytes;
  }
  std::string_view text() { return bytes(number()); }
  std::uint64_t word() {
    std::uint64_t word = 0;
    const std::string_view text = bytes(sizeof word);
    std::memcpy(&word, text.data(), text.size());
    return word;
  }

 private:
  std::string_view text_;
  bool ok_ = true;
};

constexpr std::string UsageRow::*kUsageTexts[] = {&UsageRow::created,       &UsageRow::agent_id,
                                                  &UsageRow::project_id,    &UsageRow::model,
                                                  &UsageRow::model_session, &UsageRow::note_memory};
constexpr Request::Name Request::*kNames[] = {&Request::model, &Request::provider, &Request::agent,
                                              &Request::project, &Request::session};
constexpr std::uint64_t Request::*kCounts[] = {&Request::tokens_in, &Request::tokens_out,
                                               &Request::cache_read, &Request::cache_write,
                                               &Request::reasoning};

// Times are written from the one before on: mostly small steps. 0: none.
std::uint64_t zigzag(std::int64_t number) {
  return (static_cast<std::uint64_t>(number) << 1) ^ static_cast<std::uint64_t>(number >> 63);
}
std::uint64_t unzigzag(std::uint64_t number) { return (number >> 1) ^ (0 - (number & 1)); }

}  // namespace

RequestKey hash_key(std::string_view key) {
  const std::string hex = sha256_hex(key);
  RequestKey hash;
  std::from_chars(hex.data(), hex.data() + 16, hash.high, 16);
  std::from_chars(hex.data() + 16, hex.data() + 32, hash.low, 16);
  return hash;
}

void take_numbers(const Usage& usage, Request& into) {
  into.tokens_in = usage.tokens_in.value_or(0);
  into.tokens_out = usage.tokens_out.value_or(0);
  into.cache_read = usage.cache_read.value_or(0);
  into.cache_write = usage.cache_write.value_or(0);
  into.reasoning = usage.reasoning.value_or(0);
  const double cost = usage.cost_usd.value_or(0);
  const bool is_cost = cost > 0 && cost < kCostMax;
  into.cost_nano_usd = is_cost ? std::llround(cost * 1e9) : Request::kUnknown;
  constexpr std::uint64_t kLatencyMax = std::numeric_limits<std::int64_t>::max() - 1;
  into.latency_ms = usage.latency_ms
                        ? static_cast<std::int64_t>(std::min(*usage.latency_ms, kLatencyMax))
                        : Request::kUnknown;
}

std::string pack_requests(const std::vector<Request>& requests) {
  std::string out;
  std::int64_t before = 0;
  for (const Request& request : requests) {
    put_word(out, request.key.high);
    put_word(out, request.key.low);
    const std::int64_t time = request.time_ms.value_or(0);
    append_varint(out, request.time_ms ? 1 + zigzag(time - before) : 0);
    if (request.time_ms) before = time;
    for (const auto name : kNames) append_varint(out, request.*name);
    for (const auto count : kCounts) append_varint(out, request.*count);
    put_signed(out, request.cost_nano_usd);
    put_signed(out, request.latency_ms);
  }
  return out;
}

bool RequestWalk::next(Request& into) {
  if (left_.empty()) return false;
  Bytes in(left_);
  into.key = {.high = in.word(), .low = in.word()};
  into.time_ms.reset();
  if (const std::uint64_t step = in.number(); step > 0) {
    time_ += unzigzag(step - 1);
    into.time_ms = static_cast<std::int64_t>(time_);
  }
  bool is_good = true;
  for (const auto name : kNames) {
    const std::uint64_t place = in.number();
    is_good = is_good && place < names_;
    into.*name = static_cast<Request::Name>(place);
  }
  for (const auto count : kCounts) into.*count = in.number();
  into.cost_nano_usd = in.signed_number();
  into.latency_ms = in.signed_number();
  is_good = is_good && in.ok();
  left_ = is_good ? in.left() : std::string_view();
  return is_good;
}

std::string encode_usage_row(const UsageRow& row) {
  std::string out;
  for (const auto text : kUsageTexts) put_text(out, row.*text);
  append_varint(out, row.names.size());
  for (const std::string& name : row.names) put_text(out, name);
  return out + row.requests;
}

std::optional<UsageRow> decode_usage_row(std::string session_id, const LogCursor& cursor,
                                         std::string_view record) {
  UsageRow row;
  row.session_id = std::move(session_id);
  row.cursor = cursor;
  Bytes in(record);
  for (const auto text : kUsageTexts) row.*text = in.text();
  row.names.clear();
  for (std::uint64_t count = in.number(); count > 0 && in.ok(); --count) {
    row.names.emplace_back(in.text());
  }
  row.requests = in.left();
  return in.ok() && !row.names.empty() ? std::optional(std::move(row)) : std::nullopt;
}

}  // namespace quipu::view
