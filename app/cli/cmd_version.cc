#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/json_out.h"
#include "quipu/version.h"

namespace quipu::cli {
namespace {

struct VersionArguments {};

Result<int> run_version(Context& context, const VersionArguments&) {
  if (context.json) {
    context.out.data_line(
        JsonWriter().begin_object().member("version", kVersion).end_object().text());
  } else {
    context.out.line(fmt::format("quipu {}", kVersion));
  }
  return kExitOk;
}

}  // namespace

void add_version(CommandLine& line) {
  line.add<VersionArguments>(
      "version", "print the version", [](Declare&, VersionArguments&) {}, run_version);
}

}  // namespace quipu::cli
