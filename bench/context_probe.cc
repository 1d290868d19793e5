// context_probe STORE SESSION: a program that goes on with a session, and no more.
#include "quipu/quipu.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  auto store = quipu::Store::open(argv[1]);
  if (!store.ok()) return 1;
  const auto context =
      quipu::build_context(*store, argv[2], {.provider = quipu::Provider::kAnthropic});
  return context.ok() && context->messages > 0 ? 0 : 1;
}
