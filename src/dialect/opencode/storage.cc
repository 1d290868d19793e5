// Sessions as files: a JSON file for the session, for every message and for every part.
//
//   storage/session/<project>/<session>.json       storage/session/info/<session>.json
//   storage/message/<session>/<message>.json       storage/session/message/<session>/<message>.json
//   storage/part/<message>/<part>.json             storage/session/part/<session>/<message>/…
//
// The left is the newer one; the right lies below project/<slug>/. Names of files count:
// what they say of themselves may be older than a move.
#include "base/time_text.h"
#include "base/try.h"
#include "dialect/json_members.h"
#include "dialect/opencode/places.h"
#include "dialect/opencode/shape.h"

namespace quipu::dialect::opencode {
namespace {

constexpr std::size_t kHeadBytes = std::size_t{1} << 20;

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string stem_of(const std::string& path) {
  std::string name = name_of(path);
  if (name.ends_with(".json")) name.resize(name.size() - 5);
  return name;
}

struct Layout {
  std::string root;  // that has storage/, or is it
  std::string message;
  std::string part;  // of a message, its id behind it
  bool is_old = false;
};

Layout layout_of(const std::string& path) {
  const std::string session = stem_of(path);
  const std::string folder = parent_of(path);  // …/session/<project>, …/session/info
  const std::string sessions = parent_of(folder);
  Layout layout;
  layout.root = parent_of(sessions);
  layout.is_old = name_of(folder) == "info";
  const std::string& base = layout.is_old ? sessions : layout.root;
  layout.message = base + "/message/" + session;
  layout.part = base + "/part/" + (layout.is_old ? session + "/" : "");
  return layout;
}

// JSON files of a folder, by name; none when it is not there.
Result<std::vector<std::string>> files_in(const std::string& folder, fs::HostFiles& files) {
  std::vector<std::string> paths;
  const auto names = files.list(folder);
  if (!names.ok()) {
    if (names.error().code() == Code::kNotFound) return paths;
    return names.error();
  }
  for (const fs::HostName& name : *names) {
    if (name.kind == fs::HostKind::kFile && name.name.ends_with(".json")) {
      paths.push_back(folder + "/" + name.name);
    }
  }
  return paths;
}

class StorageReader final : public Reader {
 public:
  StorageReader(const Source& source, fs::HostFiles& files, Outline outline, std::string last)
      : source_(source), files_(files), outline_(std::move(outline)), last_(std::move(last)) {}

  const Outline& outline() const override { return outline_; }
  ReadPosition position() const override { return {}; }
  bool is_whole() const override { return true; }

  Result<bool> next(Record& record) override {
    if (at_ >= source_.files.size()) return false;
    record = Record();
    record.file = at_;
    record.end = {};
    const std::string& path = source_.files[at_++];
    TRY_ASSIGN(const auto file, files_.open(path));
    const fs::HostStat stat = file->stat();
    if (stat.size > kRecordBytesMax / 2) {  // as text it may be twice as long
      record.large_size = stat.size;
      text_.clear();
    } else {
      text_.resize(stat.size);
      TRY_ASSIGN(const std::size_t got, file->read_at(std::span(text_), 0));
      text_.resize(got);
    }
    record.bytes = text_;
    record.is_line = json::scan_line(text_, members_).ok();
    if (!record.is_line && record.large_size == 0 && !json::validate(text_).ok()) {
      record.problem = "not_json";
    }
    describe(path, record);
    return true;
  }

 private:
  void describe(const std::string& path, Record& record) {
    record.is_fact = true;
    if (record.file == 0) {
      record.kind = "session";
      record.id = outline_.session;
      return;
    }
    record.kind = kind_of(path);
    record.id = stem_of(path);
    if (record.kind == "message") {
      describe_message(record.problem.empty() ? record.bytes : std::string_view("{}"), last_,
                       record);
    } else if (record.kind != "part") {
      record.id = record.kind + ":" + record.id;
    }
  }

  // The folder below the storage, or below its `session`.
  std::string kind_of(const std::string& path) const {
    const Layout layout = layout_of(source_.path);
    if (parent_of(path) == layout.message) return "message";
    if (path.starts_with(layout.part)) return "part";
    return name_of(parent_of(path));
  }

  const Source& source_;
  fs::HostFiles& files_;
  Outline outline_;
  std::string last_;
  std::uint32_t at_ = 0;
  std::string text_;
  std::vector<json::Member> members_;
};

}  // namespace

bool is_storage_path(const std::string& path) {
  if (!path.ends_with(".json")) return false;
  const std::string sessions = parent_of(parent_of(path));
  return name_of(sessions) == "session" && name_of(parent_of(sessions)) == "storage" &&
         name_of(path).starts_with("ses") && name_of(parent_of(path)) != "share";
}

Result<std::vector<Source>> storage_sources(const std::string& path, fs::HostFiles& files) {
  const Layout layout = layout_of(path);
  Source source{.agent = "opencode",
                .path = path,
                .part = {},
                .files = {path},
                .root = parent_of(layout.root)};
  const auto add_if_there = [&](const std::string& file) {
    if (files.exists(file)) source.files.push_back(file);
  };
  const std::string name = name_of(path);
  add_if_there(layout.root + "/project/" + name_of(parent_of(path)) + ".json");
  TRY_ASSIGN(const auto messages, files_in(layout.message, files));
  for (const std::string& message : messages) {
    source.files.push_back(message);
    TRY_ASSIGN(const auto parts, files_in(layout.part + stem_of(message), files));
    source.files.insert(source.files.end(), parts.begin(), parts.end());
  }
  for (const char* folder : {"todo", "session_share", "session_diff", "session/share"}) {
    add_if_there(layout.root + "/" + folder + "/" + name);
  }
  std::vector<Source> sources;
  sources.push_back(std::move(source));
  return sources;
}

Result<std::unique_ptr<Reader>> open_storage(const Source& source, fs::HostFiles& files) {
  TRY_ASSIGN(std::string session, files.read(source.path, kHeadBytes));
  if (!json::validate(session).ok()) session = "{}";
  Outline outline;
  outline.session = stem_of(source.path);
  outline.cwd = text_in(session, "directory");
  outline.spawned_by = text_in(session, "parentID");
  if (const auto created = created_of(session)) {
    outline.created = format_timestamp(static_cast<std::int64_t>(*created));
  }
  const Revert revert = revert_of(session);
  const std::string folder = layout_of(source.path).message;
  std::string last;
  for (const std::string& file : source.files) {
    const std::string id = stem_of(file);
    if (parent_of(file) == folder && !revert.hides(id)) last = id;
  }
  return std::unique_ptr<Reader>(
      std::make_unique<StorageReader>(source, files, std::move(outline), std::move(last)));
}

}  // namespace quipu::dialect::opencode
