#include <array>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/input.h"
#include "cli/json_out.h"
#include "cli/table.h"
#include "cli/times.h"
#include "quipu/attachments.h"

namespace quipu::cli {
namespace {

struct AttachArguments {
  std::string action;
  std::string argument;
  std::string type = "application/octet-stream";
};

Result<int> put(Context& context, Attachments& attachments, const AttachArguments& arguments) {
  auto input = Input::open(arguments.argument);
  if (!input) return std::move(input).error();
  AttachmentOptions options;
  options.media_type = arguments.type;
  if (arguments.argument != "-") {
    options.name = arguments.argument.substr(arguments.argument.rfind('/') + 1);
  }
  auto stored = attachments.put(
      [&](std::span<char> into) { return input->read(into.data(), into.size()); }, options);
  if (!stored) return std::move(stored).error();
  if (context.json) {
    // The part as a message carries it.
    JsonWriter json;
    json.begin_object().member("type", "attachment").member("mediaType", options.media_type);
    if (!options.name.empty()) json.member("name", options.name);
    json.member("sha256", stored->sha256).member("bytes", stored->bytes).end_object();
    context.out.data_line(json.text());
  } else {
    context.out.data_line(stored->sha256);
  }
  return kExitOk;
}

Result<std::string> resolve_attachment(Attachments& attachments, const std::string& prefix) {
  if (auto exact = attachments.stat(prefix)) return prefix;
  auto all = attachments.list();
  if (!all) return std::move(all).error();
  std::vector<std::string> names;
  for (const AttachmentStat& one : *all) names.push_back(one.sha256);
  return match_prefix({"attachment", "`quipu attach list` shows what there is."}, prefix, names);
}

Result<int> get(Context& context, Attachments& attachments, const AttachArguments& arguments) {
  if (context.out.terminal().is_terminal) {
    return Error(Code::kInvalidArgument, "an attachment is no text for a terminal")
        .with_hint("Send it to a file or a pipe: quipu attach get SHA256 > FILE");
  }
  auto sha256 = resolve_attachment(attachments, arguments.argument);
  if (!sha256) return std::move(sha256).error();
  auto reader = attachments.open(*sha256);
  if (!reader) return std::move(reader).error();
  std::array<char, 64 << 10> piece;
  while (!context.out.failed()) {
    auto count = reader->read(piece);
    if (!count) return std::move(count).error();
    if (*count == 0) break;
    context.out.text({piece.data(), *count});
  }
  return kExitOk;
}

Result<int> list(Context& context, Attachments& attachments) {
  auto all = attachments.list();
  if (!all) return std::move(all).error();
  if (context.json) {
    JsonWriter json;
    json.begin_array();
    for (const AttachmentStat& one : *all) {
      json.begin_object()
          .member("sha256", one.sha256)
          .member("bytes", one.bytes)
          .member("modified", utc_text(one.modified_ms))
          .end_object();
    }
    context.out.data_line(json.end_array().text());
    return kExitOk;
  }
  Table table({{.title = "SHA-256"},
               {.title = "SIZE", .right = true},
               {.title = "STORED", .expendable = true}});
  for (const AttachmentStat& one : *all) {
    table.add({one.sha256, bytes_text(one.bytes), local_text(one.modified_ms)});
  }
  if (all->empty()) context.note("no attachments");
  if (!all->empty()) {
    for (const std::string& text : table.lines(context.out.terminal())) context.out.line(text);
  }
  return kExitOk;
}

Result<int> run_attach(Context& context, const AttachArguments& arguments) {
  if (arguments.action != "list" && arguments.argument.empty()) {
    context.report(Error(Code::kInvalidArgument, arguments.action == "put"
                                                     ? "which file is to be put?"
                                                     : "which attachment is to be got?")
                       .with_hint("attach put FILE|-, attach get SHA256, attach list"));
    return kExitUsage;
  }
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  Attachments attachments(*store);
  if (arguments.action == "put") return put(context, attachments, arguments);
  if (arguments.action == "get") return get(context, attachments, arguments);
  return list(context, attachments);
}

}  // namespace

void add_attach(CommandLine& line) {
  line.add<AttachArguments>(
      "attach", "large parts of messages, kept by their SHA-256",
      [](Declare& declare, AttachArguments& arguments) {
        declare.word_choice("ACTION", arguments.action, {"put", "get", "list"}, "put, get or list")
            .optional_positional("FILE|SHA256", arguments.argument,
                                 "put: a file, - is standard input; get: a hash or any unique "
                                 "prefix of it")
            .option("--type", "TYPE", arguments.type, "put: the media type for the part")
            .footer(
                "`put` prints the hash, with --json the part to put into a message. `get` prints "
                "the bytes;\nexit code 5 when they are not what they were, which is known at the "
                "end only.");
      },
      run_attach);
}

}  // namespace quipu::cli
