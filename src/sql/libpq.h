// libpq, found when a store on PostgreSQL is opened and not before: with all it
// brings along it takes longer to load than most commands take to run, and whoever
// has no PostgreSQL need not have it.
#pragma once

#include <libpq-fe.h>

#include "quipu/result.h"

namespace quipu::sql {

/// Its functions under their own names, without the prefix.
struct Libpq {
// One a line: clang-format has no lasting opinion otherwise.
#define QUIPU_LIBPQ_FUNCTIONS(X) \
  X(connectdbParams)             \
  X(status)                      \
  X(errorMessage)                \
  X(finish)                      \
  X(socket)                      \
  X(setnonblocking)              \
  X(setNoticeReceiver)           \
  X(enterPipelineMode)           \
  X(pipelineSync)                \
  X(sendPrepare)                 \
  X(sendQueryPrepared)           \
  X(sendQueryParams)             \
  X(flush)                       \
  X(consumeInput)                \
  X(isBusy)                      \
  X(getResult)                   \
  X(resultStatus)                \
  X(resultErrorField)            \
  X(resultErrorMessage)          \
  X(clear)                       \
  X(ntuples)                     \
  X(getvalue)                    \
  X(getlength)                   \
  X(getisnull)                   \
  X(getCancel)                   \
  X(cancel)                      \
  X(freeCancel)
#define QUIPU_LIBPQ_MEMBER(name) decltype(&::PQ##name) name;
  QUIPU_LIBPQ_FUNCTIONS(QUIPU_LIBPQ_MEMBER)
#undef QUIPU_LIBPQ_MEMBER
};

/// Loaded once; stays for the life of the process. `unsupported` when there is none.
Result<const Libpq*> libpq();

}  // namespace quipu::sql
