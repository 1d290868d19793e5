#include "log/session_lock.h"

#include <algorithm>

#include "base/fork_count.h"
#include "base/siphash.h"
#include "base/try.h"

namespace quipu::log {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

LockFile::LockFile(Result<std::unique_ptr<fs::File>> file, Clock& clock,
                   std::chrono::milliseconds wait)
    : opened_(std::move(file)), clock_(clock), wait_(wait), forks_(fork_count()) {}

LockFile::Held::~Held() {
  if (file_ != nullptr) ignore(file_->unlock(byte_), "closing the file frees it as well");
}

Result<LockFile::Held> LockFile::acquire(std::string_view session_id) {
  // After fork() parent and child share the open file and with it every lock.
  if (fork_count() != forks_) {
    return Error(Code::kUnsupported, "the store was opened before fork()")
        .with_hint("open the store again in the child process");
  }
  if (!opened_.ok()) return opened_.error();
  fs::File* const file = opened_->get();
  const std::uint64_t byte = lock_byte(session_id);
  TRY_ASSIGN(bool locked, file->try_lock(byte));
  if (locked) return Held(file, byte);
  const nanoseconds deadline = clock_.monotonic() + wait_;
  nanoseconds pause = microseconds(50);
  while (clock_.monotonic() < deadline) {
    clock_.sleep(pause);
    pause = std::min<nanoseconds>(pause * 2, microseconds(2000));
    TRY_ASSIGN(locked, file->try_lock(byte));
    if (locked) return Held(file, byte);
  }
  return Error(Code::kBusy, "another process is writing to session " + std::string(session_id));
}

std::uint64_t lock_byte(std::string_view session_id) {
  constexpr std::uint64_t kFirst = std::uint64_t{1} << 32;
  constexpr std::uint64_t kSpan = std::uint64_t{1} << 61;
  return kFirst + siphash({}, session_id) % kSpan;
}

}  // namespace quipu::log
