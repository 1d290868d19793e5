// One client of a CuttingProxy and its sessions at the server.
#pragma once

#include <poll.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/cutting_proxy.h"

namespace quipu::test {

/// A connected socket with what was received and not looked at, and what is still to be sent.
/// Nothing here waits.
class ProxySocket {
 public:
  explicit ProxySocket(int file);
  ~ProxySocket() { close(); }
  ProxySocket(ProxySocket&& other) noexcept;
  ProxySocket& operator=(ProxySocket&&) = delete;

  std::string in, out;

  bool is_open() const { return file_ >= 0; }
  pollfd interest() const;
  /// Takes what has come. False when nothing will come any more.
  bool receive();
  void send();
  /// The other side finds an end after what it was sent.
  void end_output();
  void close();

 private:
  int file_;
  bool output_ended_ = false;
};

class ProxiedClient {
 public:
  /// `server` is the file of the server's socket.
  ProxiedClient(int client, const std::string& server, std::size_t sessions, ProxyLedger& ledger);
  ~ProxiedClient();
  ProxiedClient(const ProxiedClient&) = delete;
  ProxiedClient& operator=(const ProxiedClient&) = delete;

  void add_interests(std::vector<pollfd>& interests) const;
  /// Does all that can be done without waiting.
  void work();
  bool is_gone() const;

 private:
  enum class State {
    kOpen,
    kSilent,  // a fault that hangs: what comes is thrown away
    kEnding,  // what was passed on is still sent, then both sides are closed
  };
  struct Session {
    ProxySocket socket;
    bool is_ready = false;  // has answered to the start-up packet
  };

  void pass_from_client();
  void pass_from(Session& session);
  void greet(std::string_view packet);
  /// What is not whole yet waits for more; what will not be passed on is thrown away.
  void keep(std::string& in, std::string_view rest) const;
  /// True when the message gets through.
  bool enter(Sender sender, char type);
  void end();

  ProxyLedger& ledger_;
  State state_ = State::kOpen;
  bool is_faulty_ = false;
  bool is_greeted_ = false;
  ProxySocket client_;
  std::vector<Session> sessions_;
  std::size_t current_ = 0;
  // The transaction pooler: questions that `current_` has not answered yet, and whether the
  // client is in the middle of one.
  std::size_t questions_ = 0;
  bool is_asking_ = false;
};

}  // namespace quipu::test
