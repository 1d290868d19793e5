#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/json_out.h"

namespace quipu::cli {
namespace {

struct InitArguments {};

Result<int> run_init(Context& context, const InitArguments&) {
  auto place = context.store_location();
  if (!place) return std::move(place).error();
  auto existing = context.open_store();
  // Also what is left of a store without its quipu.json; other directories are refused again.
  const bool created = !existing && (existing.error().code() == Code::kNotFound ||
                                     existing.error().code() == Code::kInvalidArgument);
  auto store = created ? context.open_store(/*create=*/true) : std::move(existing);
  if (!store) return std::move(store).error();

  if (context.json) {
    JsonWriter json;
    json.begin_object()
        .member("store", *place)
        .member("storeId", store->id())
        .member("created", created)
        .end_object();
    context.out.data_line(json.text());
  } else {
    context.note(fmt::format("{} {}", created ? "made the store" : "already a store:", *place));
  }
  if (auto closed = store->close(); !closed) return std::move(closed).error();
  return kExitOk;
}

}  // namespace

void add_init(CommandLine& line) {
  line.add<InitArguments>(
      "init", "make the store; one that exists is left as it is", [](Declare&, InitArguments&) {},
      run_init);
}

}  // namespace quipu::cli
