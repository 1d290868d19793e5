#include "cli/import_json.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "cli/json_out.h"
#include "cli/times.h"

namespace quipu::cli {

FindOptions find_options(const std::vector<std::string>& words) {
  FindOptions options;
  const std::vector<std::string> agents = known_agents();
  for (const std::string& word : words) {
    const bool is_agent = std::find(agents.begin(), agents.end(), word) != agents.end();
    (is_agent ? options.agents : options.paths).push_back(word);
  }
  return options;
}

std::string import_report_json(const ImportReport& report) {
  JsonWriter json;
  json.begin_object()
      .member("source", report.source)
      .member("agent", report.agent)
      .optional_member("session", report.session_id)
      .member("added", report.added)
      .member("total", report.total)
      .key("problems")
      .begin_array();
  for (const ImportProblem& problem : report.problems) {
    json.begin_object().member("what", problem.what).member("count", problem.count).end_object();
  }
  if (report.error) {
    json.begin_object()
        .member("what", report.error->message())
        .member("code", name(report.error->code()))
        .member("count", 1)
        .end_object();
  }
  return json.end_array().end_object().text();
}

std::string import_source_json(const ImportSource& source) {
  JsonWriter json;
  json.begin_object()
      .member("agent", source.agent)
      .member("path", source.path)
      .optional_member("part", source.part)
      .member("bytes", source.bytes)
      .member("modified", utc_text(source.modified_ms))
      .optional_member("session", source.session_id)
      .member("current", source.is_current);
  return json.end_object().text();
}

std::string export_report_json(const ExportReport& report, const std::vector<std::string>& files) {
  JsonWriter json;
  json.begin_object().member("session", report.session_id).member("to", report.to);
  json.optional_member("agentSession", report.agent_session);
  json.member("files", files).key("lost").begin_array();
  for (const ExportLoss& loss : report.lost) {
    json.begin_object()
        .optional_member("entry", loss.entry_id)
        .member("what", loss.what)
        .member("why", loss.why)
        .end_object();
  }
  return json.end_array().end_object().text();
}

void note_found(const Context& context, const FoundSources& found) {
  struct Sum {
    std::size_t count = 0;
    std::size_t imported = 0;
    std::uint64_t bytes = 0;
  };
  std::map<std::string, Sum> sums;
  for (const ImportSource& source : found.sources) {
    Sum& sum = sums[source.agent];
    ++sum.count;
    sum.imported += source.is_current ? 1 : 0;
    sum.bytes += source.bytes;
  }
  for (const auto& [agent, sum] : sums) {
    const std::string imported =
        sum.imported > 0 ? fmt::format(", {} imported", sum.imported) : std::string();
    context.note(fmt::format("{}: {}, {}{}", agent, counted(sum.count, "session", "sessions"),
                             bytes_text(sum.bytes), imported));
  }
}

}  // namespace quipu::cli
