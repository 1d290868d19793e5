// No session, whatever happened to it, gives a request that a provider refuses; and
// the same head and options give the same bytes.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "quipu/context.h"
#include "random_session.h"
#include "support/provider_rules.h"
#include "support/scale.h"

namespace quipu {
namespace {

constexpr Provider kProviders[] = {Provider::kQuipu, Provider::kAnthropic, Provider::kOpenAiChat,
                                   Provider::kOpenAiResponses, Provider::kGemini};

std::uint64_t first_seed() {
  const char* given = std::getenv("QUIPU_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
}

class AnySession {
 public:
  explicit AnySession(std::uint64_t seed)
      : seed_(seed), random_(seed), store_(Store::open("memory:").value()), maker_(store_, seed) {}

  void check() {
    const std::string id = maker_.make(1 + random_() % 60);
    for (const Provider provider : kProviders) {
      for (int i = 0; i < 4; ++i) check(id, any_options(provider));
    }
  }

 private:
  ContextOptions any_options(Provider provider) {
    ContextOptions options;
    options.provider = provider;
    if (random_() % 2 == 0) options.head = maker_.some_node();
    static constexpr const char* kModels[] = {"", "m1", "m2", "gemini-3-pro"};
    options.model = kModels[random_() % 4];
    if (random_() % 2 == 0) options.budget_tokens = 200 + random_() % 4000;
    options.open_ended = provider != Provider::kGemini && random_() % 4 == 0;
    options.full = random_() % 5 == 0;
    return options;
  }

  void check(const std::string& id, const ContextOptions& options) {
    const auto context = build_context(store_, id, options);
    if (!context.ok()) {
      EXPECT_EQ(context.error().code(), Code::kTooLarge) << context.error().message();
      return;
    }
    const std::string wrong = objection(options.provider, context->request);
    ASSERT_EQ(wrong, "") << "seed " << seed_ << ", " << name(options.provider) << ", head "
                         << options.head << "\n"
                         << context->request.substr(0, 5000);
    EXPECT_LE(context->tokens, options.budget_tokens.value_or(context->tokens)) << seed_;
    const auto again = build_context(store_, id, options);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->request, context->request) << "seed " << seed_;
  }

  std::uint64_t seed_;
  std::mt19937_64 random_;
  Store store_;
  RandomSession maker_;
};

TEST(ContextProperty, NoSessionGivesARequestThatIsRefused) {
  const auto sessions = static_cast<std::uint64_t>(std::max(50.0, 3000 * test_scale()));
  const std::uint64_t first = first_seed();
  std::printf("seeds %llu to %llu\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + sessions - 1));
  for (std::uint64_t seed = first; seed < first + sessions; ++seed) {
    AnySession(seed).check();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace quipu
