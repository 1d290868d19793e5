#include "cli/json_out.h"
#include "cli/summary_json.h"
#include "cli/usage_report.h"

namespace quipu::cli {
namespace {

void write_members(JsonWriter& json, const UsageSum& sum) {
  json.member("requests", sum.requests)
      .member("input", sum.tokens_in)
      .member("output", sum.tokens_out)
      .member("cacheRead", sum.cache_read)
      .member("cacheWrite", sum.cache_write)
      .member("reasoning", sum.reasoning)
      .key("cost")
      .raw(sum.has_cost() ? cost_text(sum.cost_nano_usd()) : "null")
      .member("costRecordedNanoUsd", sum.cost_recorded_nano_usd)
      .member("costComputedNanoUsd", sum.cost_computed_nano_usd)
      .member("unpricedRequests", sum.unpriced)
      .key("latency");
  if (sum.latency.requests == 0) {
    json.raw("null");
    return;
  }
  json.begin_object()
      .member("requests", sum.latency.requests)
      .member("p50Ms", sum.latency.p50_ms)
      .member("p90Ms", sum.latency.p90_ms)
      .member("p99Ms", sum.latency.p99_ms)
      .end_object();
}

void write_groups(JsonWriter& json, const std::vector<UsageGroup>& groups, const std::string& by,
                  const std::string& then_by) {
  json.begin_array();
  for (const UsageGroup& group : groups) {
    json.begin_object().optional_member(by, group.name);
    write_members(json, group.sum);
    if (!then_by.empty()) {
      json.key("parts");
      write_groups(json, group.parts, then_by, {});
    }
    json.end_object();
  }
  json.end_array();
}

std::string csv_line(const std::vector<std::string>& names, const UsageSum& sum) {
  std::string line;
  for (const std::string& name : names) line += csv_field(name) + ",";
  for (const std::uint64_t count : {sum.requests, sum.tokens_in, sum.tokens_out, sum.cache_read,
                                    sum.cache_write, sum.reasoning}) {
    line += std::to_string(count) + ",";
  }
  if (sum.has_cost()) line += cost_text(sum.cost_nano_usd());
  line += "," + std::to_string(sum.cost_recorded_nano_usd) + "," +
          std::to_string(sum.cost_computed_nano_usd) + "," + std::to_string(sum.unpriced) + "," +
          std::to_string(sum.latency.requests);
  for (const std::uint64_t ms : {sum.latency.p50_ms, sum.latency.p90_ms, sum.latency.p99_ms}) {
    line += sum.latency.requests > 0 ? "," + std::to_string(ms) : ",";
  }
  return line;
}

}  // namespace

std::string usage_json(const ShownUsage& usage) {
  JsonWriter json;
  json.begin_object().member("by", usage.by).member("timeZone", usage.time_zone).key("prices");
  if (usage.prices) {
    json.begin_object()
        .member("file", usage.prices->path)
        .member("updated", usage.prices->list.updated())
        .end_object();
  } else {
    json.raw("null");
  }
  json.key("rows");
  write_groups(json, usage.report.groups, usage.by, usage.then_by);
  json.key("total").begin_object();
  write_members(json, usage.report.total);
  json.end_object().key("unpriced");
  write_groups(json, usage.report.unpriced, "model", {});
  return json.end_object().text();
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) field.append(c == '"' ? 2 : 1, c);
  return field + "\"";
}

std::vector<std::string> usage_csv(const ShownUsage& usage) {
  std::vector<std::string> lines = {
      usage.by + (usage.then_by.empty() ? "" : "," + usage.then_by) +
      ",requests,input,output,cacheRead,cacheWrite,reasoning,costUsd,costRecordedNanoUsd,"
      "costComputedNanoUsd,unpricedRequests,latencyRequests,latencyP50Ms,latencyP90Ms,"
      "latencyP99Ms"};
  for (const UsageGroup& group : usage.report.groups) {
    if (usage.then_by.empty()) lines.push_back(csv_line({group.name}, group.sum));
    for (const UsageGroup& part : group.parts) {
      lines.push_back(csv_line({group.name, part.name}, part.sum));
    }
  }
  return lines;
}

}  // namespace quipu::cli
