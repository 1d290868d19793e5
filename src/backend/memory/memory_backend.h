// The memory: backend: the contract without a disk, for tests and for agents
// that want nothing kept. Nothing here is durable, and appends say so.
#pragma once

#include <memory>

#include "backend/backend.h"

namespace quipu::memory {

std::shared_ptr<Backend> make_backend(Clock& clock, Random& random);

}  // namespace quipu::memory
