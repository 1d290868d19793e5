#include "support/provider_rules.h"

#include <simdjson.h>

#include <algorithm>
#include <set>
#include <vector>

namespace quipu {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

struct Objection {
  std::string what;
};

void require(bool holds, const std::string& what) {
  if (!holds) throw Objection{what};
}

bool has(element value, const char* key) { return value[key].error() == simdjson::SUCCESS; }

element at(element value, const char* key) {
  require(value.is_object() && has(value, key), std::string("no member ") + key);
  return value[key].value();
}

std::string text(element value, const char* key) {
  const element found = at(value, key);
  require(found.is_string(), std::string(key) + " is no string");
  return std::string(found.get_string().value());
}

array items(element value) {
  array found;
  require(value.get(found) == simdjson::SUCCESS, "no array");
  return found;
}

array list(element value, const char* key) { return items(at(value, key)); }

void only(element value, const std::set<std::string>& keys) {
  object members;
  require(value.get(members) == simdjson::SUCCESS, "no object");
  for (const auto& field : members) {
    require(keys.contains(std::string(field.key)), "unknown member " + std::string(field.key));
  }
}

bool is_blank(const std::string& said) {
  return said.find_first_not_of(" \t\n\r\f\v\b") == std::string::npos;
}

void speaks(const std::string& said) { require(!is_blank(said), "blank text"); }

void is_name(const std::string& name, std::size_t most) {
  require(!name.empty() && name.size() <= most, "a name of bad length: " + name);
  require(std::all_of(name.begin(), name.end(),
                      [](unsigned char c) {
                        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                               (c >= '0' && c <= '9') || c == '_' || c == '-';
                      }),
          "a name of bad characters: " + name);
}

void is_base64(const std::string& data) {
  require(!data.empty() && data.size() % 4 == 0, "no base64");
}

// ---- Anthropic Messages

class Anthropic {
 public:
  void check(element request) {
    only(request, {"system", "messages"});
    if (has(request, "system")) speaks(text(request, "system"));
    std::string last;
    for (const element message : list(request, "messages")) {
      only(message, {"role", "content"});
      const std::string role = text(message, "role");
      require(role == "user" || role == "assistant", "role " + role);
      require(role != last, "roles do not take turns");
      if (last.empty()) require(role == "user", "the assistant speaks first");
      role == "user" ? user(list(message, "content")) : assistant(list(message, "content"));
      last = role;
      last_text_ = last_text(list(message, "content"));
    }
    require(calls_.empty(), "calls without results at the end");
    if (last == "assistant") {
      require(last_text_.empty() || !std::isspace(static_cast<unsigned char>(last_text_.back())),
              "the last answer ends in white space");
    }
  }

 private:
  static std::string last_text(array content) {
    std::string said;
    for (const element block : content) {
      said = text(block, "type") == "text" ? text(block, "text") : "";
    }
    return said;
  }

  void user(array content) {
    std::vector<std::string> answered;
    bool said = false;
    require(content.size() > 0, "empty content");
    for (const element block : content) {
      const std::string type = text(block, "type");
      if (type == "tool_result") {
        require(!said, "a result behind other content");
        only(block, {"type", "tool_use_id", "content", "is_error"});
        answered.push_back(text(block, "tool_use_id"));
        output(at(block, "content"));
        continue;
      }
      said = true;
      plain_block(block, type);
    }
    require(answered == calls_, "results do not answer the calls before them");
    calls_.clear();
  }

  static void plain_block(element block, const std::string& type) {
    if (type == "text") {
      only(block, {"type", "text"});
      return speaks(text(block, "text"));
    }
    require(type == "image" || type == "document", "a user block of type " + type);
    const element source = at(block, "source");
    require(text(source, "type") == "base64", "source");
    const std::string media = text(source, "media_type");
    const std::set<std::string> images = {"image/jpeg", "image/png", "image/gif", "image/webp"};
    require(type == "image" ? images.contains(media) : media == "application/pdf", media);
    is_base64(text(source, "data"));
  }

  static void output(element content) {
    if (content.is_string()) return;
    require(content.is_array(), "a result of another kind");
    for (const element block : items(content)) plain_block(block, text(block, "type"));
  }

  void assistant(array content) {
    require(calls_.empty(), "calls were not answered");
    require(content.size() > 0, "empty content");
    std::string type;
    for (const element block : content) {
      type = text(block, "type");
      if (type == "text") {
        speaks(text(block, "text"));
      } else if (type == "tool_use") {
        only(block, {"type", "id", "name", "input"});
        is_name(text(block, "name"), 128);
        is_name(text(block, "id"), 64);
        require(at(block, "input").is_object(), "input is no object");
        require(ids_.insert(text(block, "id")).second, "an id twice");
        calls_.push_back(text(block, "id"));
      } else if (type == "thinking") {
        require(!text(block, "signature").empty(), "unsigned thinking");
        text(block, "thinking");
      } else {
        require(type == "redacted_thinking", "an assistant block of type " + type);
        require(!text(block, "data").empty(), "empty data");
      }
    }
    require(!type.ends_with("thinking"), "the last block is thinking");
  }

  std::vector<std::string> calls_;  // not yet answered
  std::set<std::string> ids_;
  std::string last_text_;
};

// ---- OpenAI Chat Completions

class OpenAiChat {
 public:
  void check(element request) {
    only(request, {"messages"});
    bool first = true;
    for (const element message : list(request, "messages")) {
      const std::string role = text(message, "role");
      if (role == "tool") {
        result(message);
      } else {
        require(calls_.empty(), "calls were not answered");
        if (role == "assistant") assistant(message);
        if (role == "user") user(at(message, "content"));
        if (role == "system") {
          require(first, "a system message in the middle");
          speaks(text(message, "content"));
        }
        require(role == "assistant" || role == "user" || role == "system", "role " + role);
      }
      first = false;
    }
    require(calls_.empty(), "calls without results at the end");
  }

 private:
  static void user(element content) {
    if (content.is_string()) return speaks(std::string(content.get_string().value()));
    require(content.is_array() && items(content).size() > 0, "empty content");
    for (const element part : items(content)) {
      const std::string type = text(part, "type");
      if (type == "text") {
        speaks(text(part, "text"));
      } else if (type == "image_url") {
        require(text(at(part, "image_url"), "url").starts_with("data:image/"), "url");
      } else if (type == "file") {
        text(at(part, "file"), "filename");
        require(text(at(part, "file"), "file_data").starts_with("data:application/pdf"), "file");
      } else {
        require(type == "input_audio", "a part of type " + type);
        is_base64(text(at(part, "input_audio"), "data"));
      }
    }
  }

  void assistant(element message) {
    only(message, {"role", "content", "tool_calls"});
    const element content = at(message, "content");
    const bool has_calls = has(message, "tool_calls");
    if (content.is_string()) speaks(std::string(content.get_string().value()));
    require(content.is_string() || (content.is_null() && has_calls), "an empty answer");
    if (!has_calls) return;
    require(list(message, "tool_calls").size() > 0, "an empty list of calls");
    for (const element call : list(message, "tool_calls")) {
      require(text(call, "type") == "function", "type");
      is_name(text(at(call, "function"), "name"), 64);
      simdjson::dom::parser parser;
      const std::string arguments = text(at(call, "function"), "arguments");
      require(parser.parse(arguments).is_object(), "arguments are no object");
      const std::string id = text(call, "id");
      require(!id.empty() && id.size() <= 40, "an id of bad length");
      require(ids_.insert(id).second, "an id twice");
      calls_.insert(id);
    }
  }

  void result(element message) {
    only(message, {"role", "tool_call_id", "content"});
    speaks(text(message, "content"));
    require(calls_.erase(text(message, "tool_call_id")) == 1, "a result without its call");
  }

  std::set<std::string> calls_;
  std::set<std::string> ids_;
};

// ---- OpenAI Responses

class OpenAiResponses {
 public:
  void check(element request) {
    only(request, {"instructions", "input"});
    if (has(request, "instructions")) speaks(text(request, "instructions"));
    for (const element item : list(request, "input")) {
      const std::string type = text(item, "type");
      if (reasoned_) {
        require(type == "function_call" || type == "reasoning" ||
                    (type == "message" && text(item, "role") == "assistant"),
                "reasoning without what it led to");
      }
      reasoned_ = type == "reasoning";
      if (type == "message") {
        message(item);
      } else if (type == "function_call") {
        call(item);
      } else if (type == "function_call_output") {
        speaks(text(item, "output"));
        require(calls_.erase(text(item, "call_id")) == 1, "an output without its call");
      } else {
        require(type == "reasoning", "an item of type " + type);
        require(!text(item, "encrypted_content").empty(), "unsigned reasoning");
        list(item, "summary");
      }
    }
    require(!reasoned_, "reasoning at the end");
    require(calls_.empty(), "calls without outputs");
  }

 private:
  void message(element item) {
    const std::string role = text(item, "role");
    // An answer may come in any number of items, calls among them.
    require(role == "assistant" || calls_.empty(), "calls were not answered");
    require(list(item, "content").size() > 0, "empty content");
    for (const element part : list(item, "content")) {
      const std::string type = text(part, "type");
      if (role == "assistant") {
        require(type == "output_text", type);
        speaks(text(part, "text"));
      } else if (type == "input_text") {
        speaks(text(part, "text"));
      } else if (type == "input_image") {
        require(text(part, "image_url").starts_with("data:image/"), "url");
      } else {
        require(type == "input_file", "a part of type " + type);
        text(part, "filename");
      }
    }
  }

  void call(element item) {
    is_name(text(item, "name"), 64);
    const std::string id = text(item, "call_id");
    require(!id.empty() && id.size() <= 64, "an id of bad length");
    require(ids_.insert(id).second, "an id twice");
    simdjson::dom::parser parser;
    const std::string arguments = text(item, "arguments");
    require(parser.parse(arguments).is_object(), "arguments are no object");
    calls_.insert(id);
  }

  bool reasoned_ = false;
  std::set<std::string> calls_;
  std::set<std::string> ids_;
};

// ---- Gemini

class Gemini {
 public:
  void check(element request) {
    only(request, {"systemInstruction", "contents"});
    if (has(request, "systemInstruction")) {
      for (const element part : list(at(request, "systemInstruction"), "parts")) {
        speaks(text(part, "text"));
      }
    }
    std::string last;
    bool first = true;
    for (const element content : list(request, "contents")) {
      const std::string role = text(content, "role");
      require(role == "user" || role == "model", "role " + role);
      if (first) require(role == "user", "the model speaks first");
      require(role == "user" || last != "model", "two contents of the model");
      require(list(content, "parts").size() > 0, "no parts");
      role == "user" ? user(list(content, "parts")) : model(list(content, "parts"));
      last = role;
      first = false;
    }
    require(first || last == "user", "the model speaks last");
    require(calls_.empty(), "calls without responses");
  }

 private:
  void user(array parts) {
    std::vector<std::string> responses;
    for (const element part : parts) {
      if (has(part, "functionResponse")) {
        const element response = at(part, "functionResponse");
        responses.push_back(text(response, "name"));
        require(at(response, "response").is_object(), "the response is no object");
      } else if (has(part, "text")) {
        speaks(text(part, "text"));
      } else {
        is_base64(text(at(part, "inlineData"), "data"));
        require(!text(at(part, "inlineData"), "mimeType").empty(), "mimeType");
      }
    }
    require(responses == calls_, "responses do not answer the calls right before them");
    require(responses.empty() || responses.size() == parts.size(), "responses among other parts");
    calls_.clear();
  }

  void model(array parts) {
    require(calls_.empty(), "calls were not answered");
    for (const element part : parts) {
      if (has(part, "functionCall")) {
        const element call = at(part, "functionCall");
        is_name(text(call, "name"), 64);
        require(at(call, "args").is_object(), "args are no object");
        calls_.push_back(text(call, "name"));
      } else {
        speaks(text(part, "text"));
      }
    }
  }

  std::vector<std::string> calls_;
};

// ---- Quipu

class Canonical {
 public:
  void check(element request) {
    only(request, {"system", "messages"});
    std::string last;
    for (const element message : list(request, "messages")) {
      const std::string role = text(message, "role");
      require(list(message, "content").size() > 0, "empty content");
      if (role == "tool") {
        std::vector<std::string> answered;
        for (const element part : list(message, "content")) {
          require(!has(part, "details"), "details are for a screen");
          answered.push_back(text(part, "toolUseId"));
        }
        require(answered == calls_, "results do not answer the calls before them");
        calls_.clear();
      } else {
        require(calls_.empty(), "calls were not answered");
        for (const element part : list(message, "content")) part_of(role, part);
      }
    }
    require(calls_.empty(), "calls without results at the end");
  }

 private:
  void part_of(const std::string& role, element part) {
    const std::string type = text(part, "type");
    if (type == "text") speaks(text(part, "text"));
    require(type != "status", "a status");
    if (type != "tool_use") return;
    require(role == "assistant", "a call of the user");
    require(ids_.insert(text(part, "id")).second, "an id twice");
    calls_.push_back(text(part, "id"));
  }

  std::vector<std::string> calls_;
  std::set<std::string> ids_;
};

}  // namespace

std::string objection(Provider provider, std::string_view request) {
  simdjson::dom::parser parser;
  element parsed;
  if (const auto error = parser.parse(simdjson::padded_string(request)).get(parsed)) {
    return std::string("no JSON: ") + simdjson::error_message(error);
  }
  try {
    switch (provider) {
      case Provider::kQuipu:
        Canonical().check(parsed);
        break;
      case Provider::kAnthropic:
        Anthropic().check(parsed);
        break;
      case Provider::kOpenAiChat:
        OpenAiChat().check(parsed);
        break;
      case Provider::kOpenAiResponses:
        OpenAiResponses().check(parsed);
        break;
      case Provider::kGemini:
        Gemini().check(parsed);
        break;
    }
  } catch (const Objection& objection) {
    return objection.what;
  } catch (const simdjson::simdjson_error& error) {
    return error.what();
  }
  return {};
}

}  // namespace quipu
