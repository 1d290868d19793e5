// Stands between libpq and a PostgreSQL server, and breaks the connection at a message of choice.
//
// It knows where messages begin and end, and little of what they say: a fault is before or after
// a message and never inside, and it is the same one in every run, whatever the sockets put
// together. What a message is: one of the PostgreSQL protocol, version 3. The start-up packet is
// one, too; questions for encryption are answered here, with no. A client's "terminate" passes and
// does not count: it changes nothing, and closing a connection must not use up a fault.
//
// With several connections it is a transaction pooler: each client has so many sessions at the
// server, and every transaction is given to the next one of them. What a client leaves in a session
// (SET, named prepared statements, temporary tables, advisory locks) is not there in its next
// transaction. A cancel request reaches the first session only.
//
// Thread-safety: all functions may be called from any thread. The proxy's own thread ends in the
// destructor; clients that are still connected are cut.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/mutex.h"

namespace quipu::test {

enum class Sender { kClient, kServer };

/// From the message on, nothing is passed on in either direction.
struct ProxyFault {
  Sender sender = Sender::kClient;
  /// Counted from 1, over all connections, beginning when the fault is armed.
  std::size_t message = 1;
  /// Whether this message still gets through, as the last one.
  bool passes = false;
  /// The connections stay open and silent until the client closes its end. Otherwise the client's
  /// is closed at once, and the server finds an end after what it was sent.
  bool hangs = false;
};

/// What the clients of one proxy have said and heard, and what is to happen to them.
class ProxyLedger {
 public:
  void arm(std::optional<ProxyFault> fault) EXCLUDES(mutex_);
  bool fired() const EXCLUDES(mutex_);
  std::string seen(Sender sender) const EXCLUDES(mutex_);
  void wait_until_fired() EXCLUDES(mutex_);
  void wait_until_settled() EXCLUDES(mutex_);

  /// Enters a message; gives the fault if it happens at this one.
  std::optional<ProxyFault> enter(Sender sender, char type) EXCLUDES(mutex_);
  /// A client whom a fault met is gone, and so are its sessions at the server.
  void settle() EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<ProxyFault> fault_ GUARDED_BY(mutex_);
  std::string seen_[2] GUARDED_BY(mutex_);
  bool fired_ GUARDED_BY(mutex_) = false;
  std::size_t unsettled_ GUARDED_BY(mutex_) = 0;
};

class CuttingProxy {
 public:
  /// `server` is the file of the server's socket.
  explicit CuttingProxy(std::string server, std::size_t sessions_per_client = 1);
  ~CuttingProxy();
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;

  /// For libpq; a TCP port of this machine that the system has chosen.
  std::string url(std::string_view database = "postgres") const;

  /// The next fault, once; replaces one that has not happened. Counts begin anew.
  void arm(const ProxyFault& fault) { ledger_.arm(fault); }
  /// No fault; counts begin anew.
  void disarm() { ledger_.arm(std::nullopt); }
  /// Whether the fault that was armed last has happened.
  bool fired() const { return ledger_.fired(); }
  /// Returns when it has. Only a fault that hangs needs this: of others the client hears.
  void wait_until_fired() { ledger_.wait_until_fired(); }
  /// The types of the messages since `arm` or `disarm`, a letter each; '-' for a start-up packet.
  std::string seen(Sender sender) const { return ledger_.seen(sender); }
  /// Returns when the server has ended all sessions that a fault met: what they did is done, and
  /// what they did not do never will be. The clients of faults that hang must have closed their
  /// ends.
  void wait_until_settled() { ledger_.wait_until_settled(); }

 private:
  void run();

  const std::string server_;
  const std::size_t sessions_per_client_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  int stop_ = -1;  // an eventfd, readable when the thread is to end
  ProxyLedger ledger_;
  std::thread thread_;
};

}  // namespace quipu::test
