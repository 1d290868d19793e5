// Looking into payloads: enough JSON reading to show a conversation.
//
// For text that the store has accepted as JSON. Total all the same: on anything
// else the answers are "not there", never out of bounds.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quipu::cli {

/// A value by its text, without white space around it; empty: not there.
class JsonView {
 public:
  JsonView() = default;
  explicit JsonView(std::string_view text);

  std::string_view raw() const { return text_; }
  bool exists() const { return !text_.empty(); }
  bool is_string() const { return text_.starts_with('"'); }
  bool is_object() const { return text_.starts_with('{'); }
  bool is_array() const { return text_.starts_with('['); }

  /// The member of this name, the first when there are several.
  JsonView member(std::string_view name) const;
  /// The values of an array; empty for everything else.
  std::vector<JsonView> elements() const;
  /// A string with its escapes resolved (a lone surrogate becomes U+FFFD);
  /// empty for everything else.
  std::string string() const;

 private:
  std::string_view text_;
};

}  // namespace quipu::cli
