// Tags of a text index (search/text_index.h): what narrows a search.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace quipu::recall {

/// `name=value` without white space, short enough, different for different values.
std::string tag(std::string_view name, std::string_view value);

/// The tags of an object's members: texts, numbers, truth values. Only the first ones of an
/// object with very many.
std::vector<std::string> meta_tags(std::string_view meta);
/// The tag that `meta_tags` gives for such a member.
std::string meta_tag(std::string_view key, std::string_view value);

}  // namespace quipu::recall
