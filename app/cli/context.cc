#include "cli/context.h"

#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include "cli/environment.h"
#include "cli/json_out.h"

namespace quipu::cli {
namespace {

// Losing words on stderr must not change what the command does.
void print_error(std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = write(STDERR_FILENO, text.data(), text.size());
    if (wrote <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

}  // namespace

Context::Context() : out(STDOUT_FILENO) {}

void Context::inspect_streams() {
  err = Terminal::inspect(STDERR_FILENO, color);
  out.set_terminal(Terminal::inspect(STDOUT_FILENO, color));
}

Result<std::string> Context::store_location() const {
  if (schema.empty()) return store_place();
  auto place = store_place();
  if (!place) return place;
  if (!place->starts_with("postgres")) {
    return Error(Code::kInvalidArgument, "--schema is for stores on PostgreSQL");
  }
  return *place + (place->find('?') == std::string::npos ? "?" : "&") + "schema=" + schema;
}

Result<std::string> Context::store_place() const {
  if (!store.empty()) return store;
  if (std::string place = environment("QUIPU_STORE"); !place.empty()) return place;
  const std::string data = environment("XDG_DATA_HOME");
  // The specification: a relative path there is to be ignored.
  if (data.starts_with('/')) return data + "/quipu";
  if (const std::string home = environment("HOME"); !home.empty()) {
    return home + "/.local/share/quipu";
  }
  return Error(Code::kInvalidArgument, "no place for the store: HOME is not set")
      .with_hint("Give --store DIR or set QUIPU_STORE.");
}

Result<Store> Context::open_store(bool create) const {
  auto place = store_location();
  if (!place) return std::move(place).error();
  if (create && store.empty() && environment("QUIPU_STORE").empty()) {
    // On a new machine not even ~/.local/share may exist. If it cannot be
    // made, opening says so in better words.
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(*place).parent_path(), ignored);
  }
  StoreOptions options;
  options.create = create;
  options.replica = replica;
  if (!replica.empty() && !schema.empty()) {
    options.replica += (replica.find('?') == std::string::npos ? "?schema=" : "&schema=") + schema;
  }
  auto opened = Store::open(*place, options);
  if (!opened && opened.error().code() == Code::kNotFound) {
    return std::move(opened).error().with_hint(
        "`quipu init` makes a store, `quipu new` a store and a session; --store and QUIPU_STORE "
        "say where.");
  }
  return opened;
}

Result<Store> Context::open_store_or_none() const {
  auto opened = open_store();
  if (!opened && opened.error().code() == Code::kNotFound) return Store::open("memory:");
  return opened;
}

void Context::warn(std::string_view message) const {
  std::string line;
  if (json) {
    line = JsonWriter().begin_object().member("warning", message).end_object().text();
    if (err.is_terminal) line = safe_text(line, err.charset());
  } else {
    line = fmt::format("quipu: {} {}", paint(err, Style::kYellow, "warning:"),
                       safe_text(message, err.charset()));
  }
  print_error(line + "\n");
}

void Context::note(std::string_view message) const {
  if (!json) print_error(safe_text(message, err.charset()) + "\n");
}

void Context::report(const Error& error) const {
  if (json) {
    const std::string line = fmt::format("{{\"error\":{}}}", error_object(error));
    print_error((err.is_terminal ? safe_text(line, err.charset()) : line) + "\n");
    return;
  }
  std::string text = fmt::format("{} {}\n", paint(err, Style::kRed, "quipu:"),
                                 safe_text(error.message(), err.charset()));
  if (!error.actual().empty()) {
    const char* what = error.code() == Code::kTailMoved  ? "the tail"
                       : error.code() == Code::kFenced   ? "the newest run"
                       : error.code() == Code::kNotFound ? "the oldest cursor"
                                                         : "the head";
    text += fmt::format("  {} is {}\n", what, safe_line(error.actual(), err.charset()));
  }
  text += fmt::format("  {}\n", paint(err, Style::kDim, safe_text(error.hint(), err.charset())));
  print_error(text);
}

int Context::finish(const Result<int>& result) {
  // What was answered before an error belongs on the screen before it.
  const auto flushed = out.flush();
  if (result && flushed) return *result;
  const Error& error = result ? flushed.error() : result.error();
  report(error);
  return exit_code(error.code());
}

void Context::warn_of_damage(std::string_view session_id, std::uint32_t damaged) const {
  if (damaged == 0) return;
  warn(fmt::format("{} damaged {} of session {} {} passed over; `quipu verify {}` says more",
                   damaged, damaged == 1 ? "line" : "lines", session_id,
                   damaged == 1 ? "was" : "were", session_id));
}

}  // namespace quipu::cli
