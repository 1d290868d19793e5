// Messages as payloads, for the writer.
#pragma once

#include <string>
#include <vector>

#include "quipu/message.h"

namespace quipu {

/// The payload of a `message` entry: docs/architecture.md, native payloads.
std::string message_payload(const Message& message);

/// Parts as a JSON array: what a delta batch carries.
std::string parts_json(const std::vector<Part>& parts);

}  // namespace quipu
