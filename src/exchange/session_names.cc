#include "exchange/session_names.h"

namespace quipu::exchange {

NameClaim SessionNames::claim(std::size_t source, const std::string& session_id,
                              const std::string& file) {
  NameClaim answer = NameClaim::kGranted;
  {
    const MutexLock lock(mutex_);
    ++waiting_;
    while (next_ < source) moved_.wait(mutex_);
    --waiting_;
    const auto [owner, is_first] =
        owners_.try_emplace(session_id, Owner{.source = source, .file = file});
    if (owner->second.source != source) {
      answer = owner->second.file == file ? NameClaim::kShared : NameClaim::kRefused;
    }
  }
  pass(source);
  return answer;
}

void SessionNames::pass(std::size_t source) {
  const MutexLock lock(mutex_);
  passed_[source] = true;
  const std::size_t before = next_;
  while (next_ < passed_.size() && passed_[next_]) ++next_;
  if (next_ != before && waiting_ > 0) moved_.notify_all();
}

}  // namespace quipu::exchange
