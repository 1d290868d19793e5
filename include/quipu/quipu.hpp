// Everything. Reading order: result.h, entry.h, store.h, tree.h, catalogue.h,
// project.h, agent_sessions.h, inspect.h.
#pragma once

#include "quipu/agent_sessions.h"  // IWYU pragma: export
#include "quipu/catalogue.h"       // IWYU pragma: export
#include "quipu/entry.h"           // IWYU pragma: export
#include "quipu/inspect.h"         // IWYU pragma: export
#include "quipu/limits.h"          // IWYU pragma: export
#include "quipu/message.h"         // IWYU pragma: export
#include "quipu/page.h"            // IWYU pragma: export
#include "quipu/project.h"         // IWYU pragma: export
#include "quipu/result.h"          // IWYU pragma: export
#include "quipu/store.h"           // IWYU pragma: export
#include "quipu/tree.h"            // IWYU pragma: export
#include "quipu/version.h"         // IWYU pragma: export
