#include "dialect/codex/notes.h"

#include <array>

#include "base/json_scan.h"
#include "dialect/codex/line.h"
#include "dialect/json_members.h"

namespace quipu::dialect::codex {
namespace {

constexpr std::size_t kTitleBytes = 200;

// What is remembered from line to line, one a line of `Note::memory`.
struct Memory {
  std::string thread;  // the file's own
  std::string root;    // the oldest thread whose lines were copied into this one
  std::string model;
  std::string provider;
  std::string totals;  // of the last count
  std::string title;   // "1" when there is one
  std::string exact;   // "1" when each request has its own record

  static Memory read(std::string_view text) {
    Memory memory;
    for (std::string* member : memory.members()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      *member = line;
      text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
    return memory;
  }

  std::string text() {
    std::string text;
    for (const std::string* member : members()) {
      for (const char c : *member) text += c == '\n' ? ' ' : c;
      text += '\n';
    }
    return text;
  }

 private:
  std::array<std::string*, 7> members() {
    return {&thread, &root, &model, &provider, &totals, &title, &exact};
  }
};

void add_kin(Note& into, Relation relation, std::string session) {
  if (session.empty()) return;
  for (const Kinship& known : into.kin) {
    if (known.relation == relation && known.session == session) return;
  }
  into.kin.push_back({.relation = relation, .session = std::move(session), .entry = {}});
}

void note_meta(std::string_view record, std::string_view meta, Memory& memory, Note& into) {
  const std::string id = text_in(meta, "id");
  if (!memory.thread.empty()) {
    if (id != memory.thread) memory.root = id;
    return;
  }
  memory.thread = id;
  memory.root = id;
  const std::string_view base = object_in(meta, "history_base");
  // Not a copy: its counts go on from those of its base, as other files' may, even of the
  // same thread.
  if (!base.empty()) memory.root += "@" + text_in(record, "timestamp");
  memory.provider = text_in(meta, "model_provider");
  if (!memory.provider.empty()) into.provider = memory.provider;
  if (std::string cwd = text_in(meta, "cwd"); !cwd.empty()) into.cwd = std::move(cwd);
  add_kin(into, Relation::kForkedFrom, text_in(base, "thread_id"));
  add_kin(into, Relation::kForkedFrom, text_in(meta, "forked_from_id"));
  const std::string_view spawn =
      object_in(object_in(object_in(meta, "source"), "subagent"), "thread_spawn");
  add_kin(into, Relation::kSpawnedBy, text_in(spawn, "parent_thread_id"));
  add_kin(into, Relation::kSpawnedBy, text_in(meta, "parent_thread_id"));
}

void note_turn(std::string_view context, Memory& memory, Note& into) {
  if (std::string model = text_in(context, "model"); !model.empty()) {
    memory.model = model;
    into.model = std::move(model);
  }
  if (std::string cwd = text_in(context, "cwd"); !cwd.empty()) into.cwd = std::move(cwd);
}

// The first line of it that says something.
std::string title_of(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t\r\n");
  if (from == std::string_view::npos) return {};
  text.remove_prefix(from);
  text = text.substr(0, text.find_first_of("\r\n"));
  if (text.size() > kTitleBytes) {
    std::size_t cut = kTitleBytes;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) --cut;
    text = text.substr(0, cut);
  }
  return std::string(text);
}

void note_title(std::string_view text, Memory& memory, Note& into) {
  if (!memory.title.empty()) return;
  std::string title = title_of(text);
  if (title.empty() || title.starts_with("<image")) return;
  memory.title = "1";
  into.title = std::move(title);
}

// Of an event or of the index.
void note_name(std::string_view named, Memory& memory, Note& into) {
  std::string name = text_in(named, "thread_name");
  if (name.empty()) return;
  into.title = std::move(name);
  into.title_is_given = true;
  memory.title = "1";
}

// `input_tokens` has those from the cache in it.
void add_usage(std::string_view last, std::string key, const Memory& memory, Note& into) {
  const std::uint64_t cached = number_in(last, "cached_input_tokens").value_or(0);
  const std::uint64_t written = number_in(last, "cache_write_input_tokens").value_or(0);
  const std::uint64_t in = number_in(last, "input_tokens").value_or(0);
  UsageNote note;
  note.key = std::move(key);
  note.usage.tokens_in = in - std::min(in, cached + written);
  note.usage.tokens_out = number_in(last, "output_tokens");
  note.usage.cache_read = cached;
  if (written > 0) note.usage.cache_write = written;
  note.usage.reasoning = number_in(last, "reasoning_output_tokens");
  note.model = memory.model;
  note.provider = memory.provider;
  into.usage.push_back(std::move(note));
}

// Counts are of all requests of the thread so far, and of the last one; the same ones
// are written again when nothing was asked of the model.
void note_count(std::string_view info, Memory& memory, Note& into) {
  const std::string_view total = object_in(info, "total_token_usage");
  const std::string_view last = object_in(info, "last_token_usage");
  if (total.empty() || last.empty()) return;
  std::string totals;
  for (const std::string_view name : {"input_tokens", "cached_input_tokens", "output_tokens",
                                      "reasoning_output_tokens", "total_tokens"}) {
    if (!totals.empty()) totals += '.';
    totals += std::to_string(number_in(total, name).value_or(0));
  }
  if (totals == memory.totals || !memory.exact.empty()) return;
  memory.totals = totals;
  // Without the thread, equal counts of two threads would be one.
  std::string key = memory.root.empty() ? "" : "codex:" + memory.root + ":" + totals;
  add_usage(last, std::move(key), memory, into);
}

// Since 2026 beside the counts, once a request.
void note_request(std::string_view record, Memory& memory, Note& into) {
  const std::string_view usage = object_in(record, "usage");
  const std::string turn = text_in(record, "turn_id");
  if (usage.empty() || turn.empty()) return;
  memory.exact = "1";
  const auto so_far = number_in(object_in(record, "turn_token_usage"), "total_tokens");
  add_usage(usage,
            "codex:" + turn + ":" + text_in(record, "response_id") + ":" +
                std::to_string(so_far.value_or(0)),
            memory, into);
}

void note_event(std::string_view event, Memory& memory, Note& into) {
  const std::string type = text_in(event, "type");
  if (type == "token_count") return note_count(object_in(event, "info"), memory, into);
  if (type == "user_message") return note_title(text_in(event, "message"), memory, into);
  if (type == "thread_name_updated") note_name(event, memory, into);
}

}  // namespace

void note_record(std::string_view kind, std::string_view record, Note& into) {
  const bool matters = kind == kMeta || kind == kTurnContext || kind == kEvent || kind == kItem ||
                       kind == kUsage || kind == kName;
  if (!matters) return;
  const std::string_view payload = payload_of(record);
  Memory memory = Memory::read(into.memory);
  if (kind == kMeta) note_meta(record, payload, memory, into);
  if (kind == kTurnContext) note_turn(payload, memory, into);
  if (kind == kUsage) note_request(payload, memory, into);
  if (kind == kEvent) note_event(payload, memory, into);
  if (kind == kName) note_name(record, memory, into);
  if (kind == kItem && begins_turn(payload)) {
    into.prompt = said(payload);
    if (memory.title.empty()) note_title(*into.prompt, memory, into);
  }
  into.memory = memory.text();
}

}  // namespace quipu::dialect::codex
