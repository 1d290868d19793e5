// What an OpenAI-compatible embeddings endpoint says, read strictly: it comes from the network, and
// a vector under the wrong text is worse than none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/result.h"

namespace quipu::recall {

/// The vectors of `{"data": [{"index": 0, "embedding": …}, …]}`, by index: exactly `count` of them,
/// each index once, as arrays of numbers or as base64 of little-endian floats, of equal dimensions,
/// each fit for a search (check_vector). `io_error` otherwise, which says what is wrong. Other
/// members are nobody's business here.
Result<std::vector<std::vector<float>>> read_embeddings(std::string_view answer, std::size_t count);

/// What an answer with an error status says about it, if it says anything: the `message` of
/// `error`, or the text itself. One line, for people, of at most 300 bytes.
std::string read_complaint(std::string_view answer);

}  // namespace quipu::recall
