// A small HTTP server on a port of this machine that the system has chosen, for tests: it answers
// what it is told to, also badly.
//
// Thread-safety: all functions may be called from any thread. The server's own thread, in which the
// handler runs, ends in the destructor; connections that are still open are cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace quipu::test {

struct HttpSeen {
  std::string target;  // as in the request line
  std::string head;    // all header lines
  std::string body;
};

struct HttpReply {
  int status = 200;
  std::string body{};
  std::vector<std::string> headers{};
  enum class End {
    kWhole,
    kCut,     // the connection is closed in the middle of the body
    kSilent,  // nothing is said, and the connection stays open
  };
  End end = End::kWhole;
};

class HttpServer {
 public:
  using Handler = std::function<HttpReply(const HttpSeen&)>;

  explicit HttpServer(Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// http://127.0.0.1:PORT and `path`.
  std::string url(const std::string& path = "") const;
  std::vector<HttpSeen> seen() const EXCLUDES(mutex_);
  std::size_t connections() const EXCLUDES(mutex_);

 private:
  struct Connection;
  void run();
  /// False: it is to be closed.
  bool serve(Connection& connection);

  const Handler handler_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  int stop_ = -1;  // an eventfd, readable when the thread is to end
  mutable Mutex mutex_;
  std::vector<HttpSeen> seen_ GUARDED_BY(mutex_);
  std::size_t connections_ GUARDED_BY(mutex_) = 0;
  std::thread thread_;
};

}  // namespace quipu::test
