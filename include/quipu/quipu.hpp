// Everything. Reading order: result.h, entry.h, store.h, tree.h, inspect.h.
#pragma once

#include "quipu/compact.h"  // IWYU pragma: export
#include "quipu/context.h"  // IWYU pragma: export
#include "quipu/entry.h"    // IWYU pragma: export
#include "quipu/inspect.h"  // IWYU pragma: export
#include "quipu/limits.h"   // IWYU pragma: export
#include "quipu/message.h"  // IWYU pragma: export
#include "quipu/result.h"   // IWYU pragma: export
#include "quipu/store.h"    // IWYU pragma: export
#include "quipu/tree.h"     // IWYU pragma: export
#include "quipu/version.h"  // IWYU pragma: export
