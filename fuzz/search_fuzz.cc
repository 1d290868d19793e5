// Any bytes as text and as query: the analyser stays inside the text, every text is a query, and a
// snippet is one line of UTF-8 whose marks are in it.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json_text.h"
#include "search/analyser.h"
#include "search/query.h"
#include "search/snippet.h"

namespace {

using namespace quipu::search;

void require(bool condition) {
  if (!condition) std::abort();
}

class CheckTokens : public TokenSink {
 public:
  explicit CheckTokens(std::string_view text) : text_(text) {}
  bool take(const Token& token) override {
    require(token.begin >= begin_ && token.begin < token.end && token.end <= text_.size());
    require(!token.text.empty() && token.text.size() <= kTokenBytesMax);
    require(quipu::json::is_utf8(token.text));
    require(count_ > 0 || !token.same_place);
    begin_ = token.begin;
    // A character becomes at most 18, and a word has its name and its humps.
    require(++count_ <= text_.size() * 20);
    return true;
  }

 private:
  std::string_view text_;
  std::size_t begin_ = 0;
  std::size_t count_ = 0;
};

void check_query(const Query& query) {
  require(query.any.size() + query.all.size() + query.none.size() <= kTermsMax);
  for (const auto* terms : {&query.any, &query.all, &query.none}) {
    for (const Term& term : *terms) {
      require(!term.tokens.empty() && term.tokens.size() <= kTermsMax);
      for (const auto& token : term.tokens) {
        require(!token.empty() && token.size() <= kTokenBytesMax);
      }
      require(std::count(terms->begin(), terms->end(), term) == 1);
    }
  }
}

void check_snippet(const Snippet& snippet) {
  require(quipu::json::is_utf8(snippet.text));
  for (const char c : snippet.text) require(static_cast<unsigned char>(c) >= ' ' && c != 0x7F);
  std::size_t at = 0;
  for (const auto& [begin, end] : snippet.marks) {
    require(begin >= at && begin < end && end <= snippet.text.size());
    at = end;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The first line is the query, and all of it is the text: so there is something to mark.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view line = text.substr(0, text.find('\n'));
  static constexpr std::array<std::string_view, 2> kFields = {"role", "tool"};
  CheckTokens tokens(text);
  analyse(text, tokens);
  check_query(parse_query(text, kFields));
  const Query query = parse_query(line, kFields);
  check_query(query);
  for (const std::size_t width : {std::size_t{0}, std::size_t{40}, size}) {
    check_snippet(make_snippet(text, query, width));
  }
  return 0;
}
