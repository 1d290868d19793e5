#include "support/proxied_client.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace quipu::test {
namespace {

constexpr std::uint32_t kSslRequest = 80877103;
constexpr std::uint32_t kGssRequest = 80877104;
constexpr char kTerminate = 'X';

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}

// The first message of `bytes`, empty while it is not whole. Its length, which counts itself, comes
// after the type; a start-up packet has no type.
std::string_view first_message(std::string_view bytes, bool has_type) {
  const std::size_t type = has_type ? 1 : 0;
  if (bytes.size() < type + 4) return {};
  const std::size_t length = type + number_at(bytes, type);
  return bytes.size() < length ? std::string_view{} : bytes.substr(0, length);
}

// -1 when the server is not there.
int connect_to(const std::string& server) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, server.c_str(), sizeof address.sun_path - 1);
  const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(file);
    return -1;
  }
  return file;
}

}  // namespace

ProxySocket::ProxySocket(int file) : file_(file) {
  if (file_ >= 0) ::fcntl(file_, F_SETFL, O_NONBLOCK);
}

ProxySocket::ProxySocket(ProxySocket&& other) noexcept
    : in(std::move(other.in)),
      out(std::move(other.out)),
      file_(std::exchange(other.file_, -1)),
      output_ended_(other.output_ended_) {}

pollfd ProxySocket::interest() const {
  return {file_, static_cast<short>(out.empty() ? POLLIN : POLLIN | POLLOUT), 0};
}

bool ProxySocket::receive() {
  std::array<char, 65536> buffer;
  while (is_open()) {
    const ssize_t got = ::recv(file_, buffer.data(), buffer.size(), 0);
    if (got > 0) {
      in.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      return got < 0 && errno == EAGAIN;
    }
  }
  return false;
}

void ProxySocket::send() {
  while (is_open() && !out.empty()) {
    const ssize_t sent = ::send(file_, out.data(), out.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      out.erase(0, static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      out.clear();  // the other side is gone, which `receive` finds, too
    }
  }
}

void ProxySocket::end_output() {
  if (is_open() && !std::exchange(output_ended_, true)) ::shutdown(file_, SHUT_WR);
}

void ProxySocket::close() {
  if (is_open()) ::close(std::exchange(file_, -1));
}

ProxiedClient::ProxiedClient(int client, const std::string& server, std::size_t sessions,
                             ProxyLedger& ledger)
    : ledger_(ledger), client_(client) {
  for (std::size_t i = 0; i < sessions; ++i) {
    sessions_.push_back({ProxySocket(connect_to(server))});
    if (!sessions_.back().socket.is_open()) state_ = State::kEnding;
  }
}

ProxiedClient::~ProxiedClient() {
  if (is_faulty_) ledger_.settle();
}

void ProxiedClient::add_interests(std::vector<pollfd>& interests) const {
  interests.push_back(client_.interest());
  for (const Session& session : sessions_) interests.push_back(session.socket.interest());
}

bool ProxiedClient::is_gone() const {
  for (const Session& session : sessions_) {
    if (session.socket.is_open()) return false;
  }
  return !client_.is_open();
}

void ProxiedClient::work() {
  const bool client_stays = client_.receive();
  pass_from_client();
  if (!client_stays) client_.close();
  for (Session& session : sessions_) {
    const bool session_stays = session.socket.receive();
    pass_from(session);
    if (session_stays) continue;
    session.socket.close();
    // One who hears nothing does not hear that either.
    if (state_ == State::kOpen) state_ = State::kEnding;
  }
  if (!client_.is_open()) state_ = State::kEnding;
  client_.send();
  for (Session& session : sessions_) session.socket.send();
  if (state_ == State::kEnding) end();
}

void ProxiedClient::end() {
  if (client_.out.empty()) client_.close();
  for (Session& session : sessions_) {
    if (session.socket.out.empty()) session.socket.end_output();
  }
}

bool ProxiedClient::enter(Sender sender, char type) {
  if (sender == Sender::kClient && type == kTerminate) return true;
  const auto fault = ledger_.enter(sender, type);
  if (!fault) return true;
  is_faulty_ = true;
  state_ = fault->hangs ? State::kSilent : State::kEnding;
  return fault->passes;
}

void ProxiedClient::greet(std::string_view packet) {
  const std::uint32_t code = packet.size() < 8 ? 0 : number_at(packet, 4);
  if (code == kSslRequest || code == kGssRequest) {
    client_.out += 'N';
    return;
  }
  is_greeted_ = true;
  questions_ = 1;
  if (!enter(Sender::kClient, '-')) return;
  for (Session& session : sessions_) session.socket.out += packet;
}

void ProxiedClient::pass_from_client() {
  std::string_view rest = client_.in;
  while (state_ == State::kOpen) {
    const std::string_view message = first_message(rest, is_greeted_);
    if (message.empty()) break;
    rest.remove_prefix(message.size());
    if (!is_greeted_) {
      greet(message);
      continue;
    }
    // A query, a function call and a sync are answered with "ready".
    is_asking_ = message[0] != 'Q' && message[0] != 'F' && message[0] != 'S';
    if (!is_asking_) ++questions_;
    if (enter(Sender::kClient, message[0])) sessions_[current_].socket.out += message;
  }
  keep(client_.in, rest);
}

void ProxiedClient::pass_from(Session& session) {
  std::string_view rest = session.socket.in;
  while (state_ == State::kOpen) {
    const std::string_view message = first_message(rest, true);
    if (message.empty()) break;
    rest.remove_prefix(message.size());
    const bool is_ready = message[0] == 'Z';
    // The client has seen the first session start, and believes that this is the only one.
    const bool is_told = session.is_ready || &session == &sessions_.front();
    session.is_ready = session.is_ready || is_ready;
    if (!is_told) continue;
    if (enter(Sender::kServer, message[0])) client_.out += message;
    if (!is_ready) continue;
    --questions_;
    const bool in_transaction = message.back() != 'I';
    if (questions_ == 0 && !is_asking_ && !in_transaction) {
      current_ = (current_ + 1) % sessions_.size();
    }
  }
  keep(session.socket.in, rest);
}

void ProxiedClient::keep(std::string& in, std::string_view rest) const {
  in.erase(0, state_ == State::kOpen ? in.size() - rest.size() : in.size());
}

}  // namespace quipu::test
