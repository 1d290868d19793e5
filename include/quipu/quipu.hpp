// Everything. Reading order: result.h, entry.h, store.h, tree.h, message.h, context.h,
// compact.h, writer.h, branch.h, runtime.h, session_facts.h, catalogue.h, project.h,
// agent_sessions.h, attachments.h, inspect.h, import.h, conversation.h, export.h, adopt.h,
// search.h, prices.h, usage.h, copy.h, upgrade.h, events.h, memory.h, knowledge.h, recall.h.
#pragma once

#include "quipu/adopt.h"           // IWYU pragma: export
#include "quipu/agent_sessions.h"  // IWYU pragma: export
#include "quipu/attachments.h"     // IWYU pragma: export
#include "quipu/branch.h"          // IWYU pragma: export
#include "quipu/catalogue.h"       // IWYU pragma: export
#include "quipu/compact.h"         // IWYU pragma: export
#include "quipu/context.h"         // IWYU pragma: export
#include "quipu/conversation.h"    // IWYU pragma: export
#include "quipu/copy.h"            // IWYU pragma: export
#include "quipu/entry.h"           // IWYU pragma: export
#include "quipu/events.h"          // IWYU pragma: export
#include "quipu/export.h"          // IWYU pragma: export
#include "quipu/import.h"          // IWYU pragma: export
#include "quipu/inspect.h"         // IWYU pragma: export
#include "quipu/knowledge.h"       // IWYU pragma: export
#include "quipu/limits.h"          // IWYU pragma: export
#include "quipu/memory.h"          // IWYU pragma: export
#include "quipu/message.h"         // IWYU pragma: export
#include "quipu/page.h"            // IWYU pragma: export
#include "quipu/prices.h"          // IWYU pragma: export
#include "quipu/project.h"         // IWYU pragma: export
#include "quipu/recall.h"          // IWYU pragma: export
#include "quipu/result.h"          // IWYU pragma: export
#include "quipu/runtime.h"         // IWYU pragma: export
#include "quipu/search.h"          // IWYU pragma: export
#include "quipu/session_facts.h"   // IWYU pragma: export
#include "quipu/store.h"           // IWYU pragma: export
#include "quipu/tree.h"            // IWYU pragma: export
#include "quipu/upgrade.h"         // IWYU pragma: export
#include "quipu/usage.h"           // IWYU pragma: export
#include "quipu/version.h"         // IWYU pragma: export
#include "quipu/writer.h"          // IWYU pragma: export
