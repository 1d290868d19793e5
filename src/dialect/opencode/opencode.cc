#include "dialect/opencode/opencode.h"

#include "base/time_text.h"
#include "dialect/database.h"
#include "dialect/opencode/places.h"
#include "dialect/opencode/shape.h"

namespace quipu::dialect::opencode {
namespace {

std::string_view name_in(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// opencode.db, and opencode-<channel>.db of other channels.
bool is_database_name(std::string_view name) {
  return name.starts_with(kAgent) && name.ends_with(".db");
}

bool is_database(const std::string& path, std::string_view head) {
  if (head.starts_with(kDatabaseMagic)) {
    return is_database_name(name_in(path)) ||
           head.find("CREATE TABLE `session_message`") != std::string_view::npos ||
           head.find("CREATE TABLE `part`") != std::string_view::npos;
  }
  // One that was made and never written.
  return head.empty() && is_database_name(name_in(path));
}

}  // namespace

std::vector<std::string> Opencode::places(const Machine& machine) const {
  std::string data = machine.variable("XDG_DATA_HOME");
  if (data.empty()) data = machine.home + "/.local/share";
  data += "/opencode";
  // Not all of it: snapshots of whole projects lie there, too.
  std::vector<std::string> places{data + "/storage/session", data + "/project"};
  if (const auto names = machine.files.list(data); names.ok()) {
    for (const fs::HostName& name : *names) {
      if (is_database_name(name.name)) places.push_back(data + "/" + name.name);
    }
  } else if (names.error().code() != Code::kNotFound) {
    places.push_back(data);
  }
  const std::string own = machine.variable("OPENCODE_DB");
  if (!own.empty() && own != ":memory:") {
    places.push_back(own.starts_with('/') ? own : data + "/" + own);
  }
  return places;
}

bool Opencode::recognises(const std::string& path, std::string_view head) const {
  return is_database(path, head) || is_storage_path(path) ||
         (path.ends_with(".json") && is_document(head));
}

Result<std::vector<Source>> Opencode::sources(const std::string& path, fs::HostFiles& files) const {
  const auto head = files.read(path, kDatabaseMagic.size());
  if (!head.ok()) return head.error();
  if (*head == kDatabaseMagic || head->empty()) return database_sources(path, files);
  if (is_storage_path(path)) return storage_sources(path, files);
  return Dialect::sources(path, files);
}

Result<std::unique_ptr<Reader>> Opencode::open(const Source& source, fs::HostFiles& files,
                                               const ReadPosition&) const {
  if (!source.part.empty()) return open_database(source, files);
  if (is_storage_path(source.path)) return open_storage(source, files);
  return open_document(source, files);
}

bool Opencode::leads(std::string_view kind) const {
  return kind == "message" || kind == "session_message";
}

void describe_message(std::string_view record_bytes, const std::string& last, Record& record) {
  record.is_fact = false;
  record.leads = last.empty() ? Record::Leads::kNot : Record::Leads::kThere;
  record.leads_to = last;
  if (const auto created = created_of(record_bytes)) {
    record.timestamp = format_timestamp(
        static_cast<std::int64_t>(std::min<std::uint64_t>(*created, std::uint64_t{INT64_MAX})));
  }
}

}  // namespace quipu::dialect::opencode
