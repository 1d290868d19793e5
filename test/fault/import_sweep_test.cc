// Crashes and failed calls under an import.
//
// Whatever happens: what was reported as imported is there, byte for byte; a session
// that was being made is there whole or not at all; importing again makes everything
// whole.
#include <cerrno>
#include <map>

#include "fault/agent_sweep.h"
#include "quipu/export.h"
#include "quipu/import.h"
#include "support/memory_host.h"

namespace quipu::fault {
namespace {

using Texts = std::map<std::string, std::string>;  // by path

const std::string kFirst = "/home/ada/a.jsonl";
const std::string kSecond = "/home/ada/b.jsonl";

std::string header(const std::string& id) {
  return R"({"type":"session","version":3,"id":")" + id +
         R"(","timestamp":"2026-03-01T09:30:00.000Z","cwd":"/data"})" + "\n";
}

std::string message(const std::string& id) {
  return R"({"type":"message","id":")" + id +
         R"(","parentId":null,"timestamp":"2026-03-01T09:30:01.000Z",)"
         R"("message":{"role":"user","content":"hi"}})"
         "\n";
}

// Two sources that are new, then one of them with more.
std::vector<Texts> stages() {
  const std::string first = header("a") + message("m1") + "not JSON\n";
  const std::string second = header("b") + message("m1") + message("m2");
  return {{{kFirst, first}, {kSecond, second}},
          {{kFirst, first + message("m3") + "torn"}, {kSecond, second}}};
}

void import(Store& store, const Texts& texts, Texts& imported) {
  MemoryHost host;
  for (const auto& [path, text] : texts) host.files[path] = text;
  std::vector<ImportSource> sources;
  for (const auto& [path, text] : texts) {
    sources.push_back({.agent = "pi", .path = path, .part = {}, .files = {path}, .session_id = {}});
  }
  const auto done =
      Importer(store, &host)
          .run(sources, {.project_id = {}, .threads = 1}, [&](const ImportReport& report) {
            if (!report.error) imported[report.source] = texts.at(report.source);
            return true;
          });
  static_cast<void>(done);  // `imported` says what was acknowledged
}

Result<std::string> given_back(Store& store, const std::string& path) {
  std::string text;
  const std::string session = path == kFirst ? "pi.a" : "pi.b";
  auto given =
      export_session(store, session, {.to = "pi"}, [&](const std::string&, std::string_view bytes) {
        text += bytes;
        return Result<void>();
      });
  if (!given.ok()) return std::move(given).error();
  return text;
}

void import_stages(Store& store, Texts& imported) {
  for (const Texts& stage : stages()) import(store, stage, imported);
}

void judge_imported(Store& store, const Texts& imported) {
  const Texts last = stages().back();
  for (const auto& [path, text] : last) {
    const auto got = given_back(store, path);
    const auto acknowledged = imported.find(path);
    if (!got.ok()) {
      ASSERT_EQ(Code::kNotFound, got.error().code()) << got.error().message();
      ASSERT_TRUE(acknowledged == imported.end()) << "an imported session is lost";
      continue;
    }
    ASSERT_TRUE(text.starts_with(*got)) << *got;
    const std::string least =
        acknowledged != imported.end() ? acknowledged->second : stages().front().at(path);
    ASSERT_GE(got->size(), least.size()) << "half a session";
  }
  Texts again;
  import(store, last, again);
  ASSERT_EQ(last, again);
  for (const auto& [path, text] : last) ASSERT_EQ(text, given_back(store, path).value());
}

const Sweep<Texts> kSweep{import_stages, judge_imported};

TEST(ImportSweep, SessionsAreWholeOrAbsentAfterACrash) { kSweep.crash_everywhere(); }

TEST(ImportSweep, EveryFailedCallIsReportedAndMadeGoodLater) {
  for (const int error : {ENOSPC, EIO}) kSweep.fail_everywhere(error);
}

}  // namespace
}  // namespace quipu::fault
