// Whatever the content, no control byte of it may reach a terminal, and the
// functions that measure and wrap it must come to an end.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cli/columns.h"
#include "cli/json_in.h"
#include "cli/message_text.h"
#include "cli/sanitize.h"
#include "cli/utf8.h"

namespace {

using namespace quipu::cli;

void require(bool condition) {
  if (!condition) std::abort();
}

void require_safe(std::string_view text, bool ascii) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    require((byte >= 0x20 && byte != 0x7F) || byte == '\n' || byte == '\t');
    require(!ascii || byte < 0x80);
    const unsigned char next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    require(byte != 0xC2 || next >= 0xA0);  // C1 controls
  }
  require(is_utf8(text));
  for (const std::string_view hidden : {"\u061C", "\u200B", "\u200D", "\u200E", "\u200F", "\u202A",
                                        "\u202D", "\u202E", "\u2066", "\u2069", "\uFEFF"}) {
    require(text.find(hidden) == std::string_view::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t columns = data[0] % 100;
  const std::string_view content(reinterpret_cast<const char*>(data + 1), size - 1);

  for (const Charset charset : {Charset::kUtf8, Charset::kAscii}) {
    const std::string text = safe_text(content, charset);
    require_safe(text, charset == Charset::kAscii);
    require(safe_text(text, charset) == text);
    const std::string line = safe_line(content, charset);
    require_safe(line, charset == Charset::kAscii);
    require(line.find('\n') == std::string::npos);
    require(columns_of(cut(line, columns, "...")) <= columns);
    require(columns_of(cut_start(line, columns, "...")) <= columns);
    // A wide character alone may need two columns where one was asked for.
    for (const std::string& piece : wrap(text, columns)) {
      require(columns < 2 || columns_of(piece) <= columns);
    }
  }

  quipu::EntryView entry;
  entry.type = "message";
  entry.payload = content;
  require_safe(safe_line(speaker_of(entry)), false);
  require_safe(safe_line(preview_of(entry)), false);
  for (const Block& block : blocks_of(entry)) {
    require_safe(safe_text(block.label), false);
    require_safe(safe_text(block.text), false);
  }
  return 0;
}
