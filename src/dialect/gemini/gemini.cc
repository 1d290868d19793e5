#include "dialect/gemini/gemini.h"

#include "base/try.h"
#include "dialect/document_reader.h"
#include "dialect/gemini/project.h"

namespace quipu::dialect::gemini {
namespace {

std::string stem_of(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

bool is_header(std::string_view object) {
  return json::find_member(object, "sessionId") && json::find_member(object, "projectHash");
}

bool is_checkpoint(const std::string& path) {
  return stem_of(path).starts_with("checkpoint-") && path.ends_with(".json");
}

// The order of the tests is the program's own.
void describe(const Fields& fields, Record& record) {
  if (!fields.text("$rewindTo").empty()) {
    record.kind = "rewind";
  } else if (record.id = fields.text("id"); !record.id.empty()) {
    record.kind = "message";
    record.timestamp = fields.text("timestamp");
  } else if (const std::string_view set = fields.object("$set"); !set.empty()) {
    const auto messages = json::find_member(set, "messages");
    record.is_fact = !messages || messages->kind != json::Kind::kArray;
    record.kind = record.is_fact ? "set" : "messages";
  } else {
    record.kind = fields.find("sessionId") != nullptr ? "header" : "unknown";
    record.is_fact = true;
  }
}

void describe_content(const Fields&, Record& record) { record.kind = "content"; }

void see_header(const Fields& fields, Outline& outline) {
  outline.session = fields.text("sessionId");
  outline.created = fields.text("startTime");
  if (const json::Member* directories = fields.find("directories")) {
    json::ElementWalk walk(directories->value);
    if (const auto first = walk.next()) outline.cwd = json::decode_string(first->value);
  }
}

// The project's directory lies in a file beside `chats`.
void find_cwd(const std::string& path, fs::HostFiles& files, Outline& outline) {
  if (!outline.cwd.empty()) return;
  std::string directory = parent_of(path);
  for (int up = 0; up < 3 && outline.cwd.empty() && !directory.empty(); ++up) {
    const auto root = files.read(directory + "/.project_root", 4096);
    if (root.ok()) outline.cwd = root->substr(0, root->find_first_of("\r\n"));
    directory = parent_of(directory);
  }
}

Result<std::unique_ptr<Reader>> open_document(const std::string& path, fs::HostFile& file,
                                              fs::HostFiles& files) {
  TRY_ASSIGN(std::string text, read_document(file));
  Outline outline;
  std::vector<json::Member> members;
  std::string_view list = "messages";
  if (json::scan_object(text, members).ok()) see_header(Fields(members), outline);
  if (is_checkpoint(path)) {
    list = members.empty() ? "" : "history";
    outline.session = stem_of(parent_of(path)) + "." + stem_of(path);
  }
  if (outline.session.empty()) {
    return Error(Code::kInvalidArgument, path + ": no session of gemini-cli");
  }
  TRY_ASSIGN(Document document, Document::parse(std::move(text), list));
  find_cwd(path, files, outline);
  return std::unique_ptr<Reader>(std::make_unique<DocumentReader>(
      std::move(document), std::move(outline), is_checkpoint(path) ? describe_content : describe));
}

}  // namespace

std::vector<std::string> Gemini::places(const Machine& machine) const {
  return {machine.home + "/.gemini/tmp"};
}

// The directory of a project holds all kinds of files.
bool Gemini::is_session_name(std::string_view path) const {
  return path.ends_with(".jsonl") && path.find("/chats/") != std::string_view::npos;
}

bool Gemini::recognises(const std::string& path, std::string_view head) const {
  if (is_checkpoint(path)) return true;
  // A document's head is cut somewhere; its first members are whole.
  if (path.ends_with(".json")) return is_header(head);
  if (!path.ends_with(".jsonl")) return false;
  // Records are known by their shape, wherever they stand.
  std::string_view line = next_object(head);
  while (!line.empty() && !is_header(line)) line = next_object(head);
  return !line.empty();
}

Result<std::unique_ptr<Reader>> Gemini::open(const Source& source, fs::HostFiles& files,
                                             const ReadPosition& from) const {
  TRY_ASSIGN(auto file, files.open(source.path));
  if (source.path.ends_with(".json")) return open_document(source.path, *file, files);
  Outline outline;
  LineWindow lines(std::move(file), from);
  TRY(lines.peek(kHeadBytesMax, [&](const Fields& fields) {
    if (fields.find("projectHash") == nullptr) return true;
    see_header(fields, outline);
    return false;
  }));
  if (outline.session.empty()) {
    return Error(Code::kInvalidArgument, source.path + ": no session of gemini-cli");
  }
  find_cwd(source.path, files, outline);
  const std::string directory = parent_of(source.path);
  if (!directory.ends_with("/chats") && parent_of(directory).ends_with("/chats")) {
    outline.spawned_by = directory.substr(directory.rfind('/') + 1);
  }
  return std::unique_ptr<Reader>(
      std::make_unique<LineReader>(std::move(lines), std::move(outline), describe));
}

bool Gemini::leads(std::string_view) const { return true; }

// tmp/<slug>/…
Result<std::string> Gemini::name_on(const Machine& machine, const std::string& name,
                                    const std::string& cwd) const {
  const std::size_t slug = name.find('/') + 1;
  const std::size_t rest = name.find('/', slug);
  if (cwd.empty() || slug == 0 || rest == std::string::npos) return name;
  return name.substr(0, slug) + slug_on(machine, places(machine).front(), cwd) + name.substr(rest);
}

}  // namespace quipu::dialect::gemini
