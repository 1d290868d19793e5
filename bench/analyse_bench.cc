// What indexing a text costs before any database sees it.
#include <benchmark/benchmark.h>

#include <random>
#include <span>
#include <string>
#include <string_view>

#include "search/analyser.h"

namespace quipu {
namespace {

constexpr std::string_view kProse[] = {
    "the ",       "of ",      "and ",       "connection ", "pool ",    "was ",        "refused, ",
    "because ",   "nobody ",  "had ",       "remembered ", "to ",      "configure ",  "it. ",
    "Yesterday ", "she ",     "explained ", "generously ", "how ",     "relational ", "databases ",
    "are ",       "tested; ", "don't ",     "Caroline's ", "results ", "differ\n",    "in "};
constexpr std::string_view kCode[] = {"  if (",
                                      "text_.size() ",
                                      "== 0) ",
                                      "return ",
                                      "nullptr;\n",
                                      "const ",
                                      "auto& ",
                                      "parse_query",
                                      "(",
                                      "parseQuery",
                                      ") {\n",
                                      "}\n",
                                      "std::vector<",
                                      "std::string> ",
                                      "HTTPServer ",
                                      "// the ",
                                      "#include \"src/fs/fs.cc\"\n",
                                      "0x1F, ",
                                      "TEST(",
                                      "Analyser, "};
constexpr std::string_view kChinese[] = {"数据库", "的",   "索引",   "，",     "我们", "昨天",
                                         "讨论",   "了",   "连接池", "为什么", "。",   "被",
                                         "拒绝",   "记忆", "搜索",   "会话"};

void analyse_text(benchmark::State& state, std::span<const std::string_view> pieces) {
  std::mt19937 random(1);
  std::string text;
  while (text.size() < 1'000'000) text += pieces[random() % pieces.size()];
  struct Count : search::TokenSink {
    bool take(const search::Token& token) override {
      bytes += token.text.size();
      return true;
    }
    std::size_t bytes = 0;
  };
  Count count;
  for (auto _ : state) search::analyse(text, count);
  if (count.bytes == 0) state.SkipWithError("no words");
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
BENCHMARK_CAPTURE(analyse_text, prose, std::span(kProse));
BENCHMARK_CAPTURE(analyse_text, code, std::span(kCode));
BENCHMARK_CAPTURE(analyse_text, chinese, std::span(kChinese));

}  // namespace
}  // namespace quipu
