// std::mutex with the annotations that Clang's thread-safety analysis needs.
#pragma once

#include <mutex>

#if defined(__clang__)
#define QUIPU_TSA(x) __attribute__((x))
#else
#define QUIPU_TSA(x)
#endif

#define GUARDED_BY(mutex) QUIPU_TSA(guarded_by(mutex))
#define REQUIRES(...) QUIPU_TSA(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) QUIPU_TSA(locks_excluded(__VA_ARGS__))

namespace quipu {

class QUIPU_TSA(capability("mutex")) Mutex {
 public:
  void lock() QUIPU_TSA(acquire_capability()) { mutex_.lock(); }
  void unlock() QUIPU_TSA(release_capability()) { mutex_.unlock(); }
  std::mutex& native() { return mutex_; }

 private:
  std::mutex mutex_;
};

class QUIPU_TSA(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) QUIPU_TSA(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() QUIPU_TSA(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace quipu
