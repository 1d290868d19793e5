#include "dialect/draft.h"

namespace quipu::dialect {

std::optional<Draft::Attached> Draft::attach(const TranscriptMessage& from, const Part& part,
                                             const std::string& directory) {
  auto file = file_of(part);
  if (!file) {
    lose(from, "attachment", "its bytes are not in the session");
    return std::nullopt;
  }
  Attached attached;
  attached.id = ids.uuid("attachment " + std::to_string(++attached_));
  attached.file = attached.id + file->ending;
  attached.name = part.name.empty() ? attached.file : part.name;
  attached.bytes = file->bytes.size();
  written.files.push_back({.path = directory + attached.file, .bytes = std::move(file->bytes)});
  return attached;
}

void write_input(json::Writer& out, const Part& call) {
  if (call.input.empty()) {
    out.begin_object().member("input", call.raw_input).end_object();
  } else {
    out.raw(call.input);
  }
}

}  // namespace quipu::dialect
