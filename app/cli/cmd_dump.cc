#include <fmt/format.h>

#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/json_out.h"
#include "cli/open_session.h"
#include "cli/pager.h"
#include "cli/utf8.h"

namespace quipu::cli {
namespace {

struct DumpArguments {
  std::string session;
};

std::string json_line(const DumpLine& line) {
  JsonWriter json;
  json.begin_object()
      .member("offset", line.offset)
      .member("bytes", line.bytes)
      .member("state", line.state)
      .optional_member("remaining", line.remaining)
      .optional_member("crc", line.crc);
  // Damaged bytes are what one looks at here: they are not to be replaced.
  if (is_utf8(line.text)) {
    json.member("text", line.text);
  } else {
    json.member("textBase64", base64(line.text));
  }
  return json.end_object().text();
}

Style style_of_state(std::string_view state) {
  if (state == "sealed") return Style::kGreen;
  if (state == "adopted" || state == "blank") return Style::kCyan;
  return Style::kRed;
}

std::string text_line(const Context& context, const DumpLine& line) {
  const Terminal& terminal = context.out.terminal();
  const std::string seal =
      line.crc.empty() ? std::string(13, '-') : fmt::format("{}.{}", line.remaining, line.crc);
  const std::string numbers = fmt::format("{:>10} {:>8}  ", line.offset, line.bytes);
  const std::string state = pad(context.shown(line.state), 10);
  std::string text = safe_text(line.text, terminal.charset());
  if (terminal.width > 0) {
    const std::size_t used = columns_of(numbers) + columns_of(state) + columns_of(seal) + 3;
    text =
        cut(text, terminal.width > used ? terminal.width - used : 0, Glyphs::of(terminal).ellipsis);
  }
  return fmt::format("{}{} {}  {}", numbers, paint(terminal, style_of_state(line.state), state),
                     seal, text);
}

Result<int> run_dump(Context& context, const DumpArguments& arguments) {
  auto opened = open_session(context, arguments.session);
  if (!opened) return std::move(opened).error();
  auto& [store, id] = *opened;
  auto lines = store.sessions().dump_session(id);
  if (!lines) return std::move(lines).error();

  Pager pager;
  if (!context.json && !context.no_pager) pager.start(context.out);
  if (!context.json) {
    context.out.line(paint(context.out.terminal(), Style::kBold,
                           fmt::format("{:>10} {:>8}  {:<10} {:<13}  {}", "OFFSET", "BYTES",
                                       "STATE", "SEAL", "TEXT")));
  }
  for (const DumpLine& line : *lines) {
    if (context.out.failed()) break;
    if (context.json) {
      context.out.data_line(json_line(line));
    } else {
      context.out.line(text_line(context, line));
    }
  }
  pager.finish();
  return kExitOk;
}

}  // namespace

void add_dump(CommandLine& line) {
  line.add<DumpArguments>(
      "dump", "show how the log of a session is stored, line by line",
      [](Declare& declare, DumpArguments& arguments) {
        declare.session(arguments.session)
            .footer("With --json one object a line; bytes that are no UTF-8 as textBase64.");
      },
      run_dump);
}

}  // namespace quipu::cli
