#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/json_out.h"
#include "quipu/version.h"

namespace quipu::cli {

int print_version(Context& context) {
  if (context.json) {
    context.out.data_line(
        JsonWriter().begin_object().member("version", kVersion).end_object().text());
  } else {
    context.out.line(fmt::format("quipu {}", kVersion));
  }
  return kExitOk;
}

void add_version(CommandLine& line) {
  struct VersionArguments {};
  line.add<VersionArguments>(
      "version", "print the version", [](Declare&, VersionArguments&) {},
      [](Context& context, const VersionArguments&) -> Result<int> {
        return print_version(context);
      });
}

}  // namespace quipu::cli
