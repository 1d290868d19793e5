// What docs/resume.md leaves to its reader: a model that calls a tool once for each
// question, and tools, one of which needs a permission.
#include <string>

#include "quipu/quipu.hpp"

namespace {

std::string last_question(const std::string& request) {
  const auto at = request.rfind("question ");
  return at == std::string::npos ? "none" : request.substr(at + 9, request.find('"', at) - at - 9);
}

}  // namespace

quipu::Message ask_model(const std::string& request) {
  const std::string question = last_question(request);
  const bool has_called = request.find("\"call-" + question + "\"") != std::string::npos;
  quipu::Message message = quipu::Message::assistant("About " + question);
  message.provider = "anthropic";
  message.model = "stub";
  if (has_called) return message;
  const bool is_dangerous = question.ends_with('7');
  message.parts.push_back(quipu::Part::of_tool_use(
      "call-" + question, is_dangerous ? "erase" : "look", R"({"of":")" + question + "\"}"));
  return message;
}

std::string run_tool(const quipu::OpenToolCall& call) {
  return "answer to " + call.tool_use_id.substr(5);
}

bool needs_permission(const quipu::OpenToolCall& call) { return call.tool == "erase"; }
