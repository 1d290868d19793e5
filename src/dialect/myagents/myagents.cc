#include "dialect/myagents/myagents.h"

#include <algorithm>

#include "base/try.h"
#include "dialect/document_reader.h"
#include "dialect/json_members.h"
#include "dialect/myagents/messages.h"
#include "dialect/shared_index.h"
#include "dialect/side_files.h"

namespace quipu::dialect::myagents {
namespace {

constexpr std::string_view kLines = ".jsonl";
constexpr std::string_view kDocument = ".json";
constexpr std::string_view kPlace = "/.myagents/sessions/";
constexpr std::string_view kSessions = "sessions/";
constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::size_t kHeadBytes = std::size_t{64} << 10;

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

std::string without(std::string_view ending, const std::string& path) {
  return path.substr(0, path.size() - ending.size());
}

std::string session_of(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

bool is_index(std::string_view path) {
  return path.ends_with(kIndexName) &&
         (path.size() == kIndexName.size() || path.ends_with("/sessions.json"));
}

// The objects of the index, each as it stands there. Nothing can be said while the program
// writes it: it is not written at once.
std::optional<IndexEntries> split_index(std::string_view text) {
  const auto document = Document::parse(std::string(text), "");
  if (!document.ok()) return std::nullopt;
  IndexEntries entries;
  for (const std::string_view entry : document->elements()) {
    entries.try_emplace(text_in(entry, "id"), entry);
  }
  return entries;
}

void describe(const Fields& fields, Record& record) {
  const std::string role = fields.text("role");
  record.kind = role == "user" || role == "assistant" ? "message" : "unknown";
  record.is_fact = record.kind != "message";
  record.id = fields.text("id");
  record.timestamp = fields.text("timestamp");
}

Result<std::unique_ptr<Reader>> open_first(const std::string& path, fs::HostFiles& files,
                                           Outline outline, const ReadPosition& from) {
  TRY_ASSIGN(auto file, files.open(path));
  if (path.ends_with(kDocument)) {
    TRY_ASSIGN(std::string text, read_document(*file));
    TRY_ASSIGN(Document document, Document::parse(std::move(text), "messages"));
    if (outline.created.empty() && !document.elements().empty()) {
      outline.created = text_in(document.elements().front(), "timestamp");
    }
    return std::unique_ptr<Reader>(
        std::make_unique<DocumentReader>(std::move(document), std::move(outline), describe));
  }
  LineWindow lines(std::move(file), from);
  if (outline.created.empty()) {
    TRY(lines.peek(kHeadBytes, [&](const Fields& fields) {
      outline.created = fields.text("timestamp");
      return false;
    }));
  }
  return std::unique_ptr<Reader>(
      std::make_unique<LineReader>(std::move(lines), std::move(outline), describe));
}

}  // namespace

std::vector<std::string> MyAgents::places(const Machine& machine) const {
  const std::string place(kPlace);
  return {machine.home + place.substr(0, place.size() - 1)};
}

bool MyAgents::recognises(const std::string& path, std::string_view head) const {
  const bool is_document = path.ends_with(kDocument);
  if ((!is_document && !path.ends_with(kLines)) || is_index(path)) return false;
  if (path.find(kPlace) != std::string::npos) return true;
  if (is_document) {
    json::ElementWalk messages(json::value_onward(head, "messages"));
    const auto first = messages.next();
    return first && is_message(first->value);
  }
  while (!head.empty()) {  // lines that nobody can read are passed over
    if (is_message(next_line(head))) return true;
  }
  return false;
}

Result<std::vector<Source>> MyAgents::sources(const std::string& path, fs::HostFiles& files) const {
  Source source{.agent = std::string(name()), .path = path, .part = {}, .files = {}};
  const bool is_document = path.ends_with(kDocument);
  if (is_document || path.ends_with(kLines)) {
    const std::string base = without(is_document ? kDocument : kLines, path);
    const std::string lines = base + std::string(kLines);
    const std::string document = base + std::string(kDocument);
    if (is_document && files.exists(lines)) source.path = lines;
    source.files.push_back(source.path);
    if (source.path != document && files.exists(document)) source.files.push_back(document);
  } else {
    source.files.push_back(path);
  }
  // In its place the index lies above the sessions; in an export beside them.
  const std::string own = parent_of(path);
  const std::string beside = own + "/" + std::string(kIndexName);
  const std::string root = files.exists(beside) ? own : parent_of(own);
  add_index(source, root + "/" + std::string(kIndexName), session_of(path), files, split_index);
  TRY(add_files_below(root + "/attachments/" + session_of(path), files, source.files));
  return std::vector<Source>{std::move(source)};
}

Result<std::unique_ptr<Reader>> MyAgents::open(const Source& source, fs::HostFiles& files,
                                               const ReadPosition& from) const {
  const std::string session = session_of(source.path);
  const std::string& entry = source.state;
  Outline outline;
  outline.session = session;
  outline.cwd = text_in(entry, "agentDir");
  outline.created = text_in(entry, "createdAt");
  TRY_ASSIGN(auto first, open_first(source.path, files, std::move(outline), from));
  if (source.files.size() < 2) return first;
  const auto kind_of = [legacy = session + std::string(kDocument)](std::string_view name) {
    return std::string(is_index(name) ? "session" : name == legacy ? "legacy" : "file");
  };
  const auto part_of = [&source](std::string_view name) -> std::optional<std::string> {
    if (!is_index(name)) return std::nullopt;
    return "[\n  " + source.state + "\n]";
  };
  return std::unique_ptr<Reader>(
      std::make_unique<SideFiles>(std::move(first), source, files, kind_of, part_of));
}

bool MyAgents::leads(std::string_view) const { return true; }

Result<std::string> MyAgents::name_on(const Machine&, const std::string& name,
                                      const std::string&) const {
  const std::size_t at = name.starts_with(kSessions) ? kSessions.size() : 0;
  if (!name.substr(at).starts_with("attachments/")) return name;
  return std::string(kSessions) + "../" + name.substr(at);
}

Result<Joined> MyAgents::join(std::string_view index, std::string_view part) const {
  const auto document = Document::parse(std::string(index), "");
  const auto known = split_index(index);
  const auto fresh = split_index(part);
  const std::size_t begin = std::min(index.find_first_not_of(kBlanks), index.size());
  const bool is_list = document.ok() && index.substr(begin).starts_with('[');
  if (!is_list || !fresh || fresh->size() != 1) {
    return Error(Code::kUnsupported, std::string(kIndexName) + " is no list of sessions");
  }
  Joined joined{.text = std::string(index), .lock = "sessions.lock"};
  const auto& [id, entry] = *fresh->begin();
  if (known->contains(id)) return joined;
  const auto& there = document->elements();
  const std::size_t at = index.find_last_not_of(kBlanks, index.rfind(']') - 1) + 1;
  joined.text.insert(at, (there.empty() ? "\n  " : ",\n  ") + entry + (there.empty() ? "\n" : ""));
  return joined;
}

}  // namespace quipu::dialect::myagents
