#include "support/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <list>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace quipu::test {
namespace {

// A whole request at the beginning of `bytes`, which it is taken from.
std::optional<HttpSeen> take_request(std::string& bytes) {
  const std::size_t head_end = bytes.find("\r\n\r\n");
  if (head_end == std::string::npos) return std::nullopt;
  std::size_t length = 0;
  constexpr std::string_view kLength = "Content-Length: ";
  if (const std::size_t at = bytes.find(kLength); at < head_end) {
    length = std::strtoull(bytes.c_str() + at + kLength.size(), nullptr, 10);
  }
  if (bytes.size() < head_end + 4 + length) return std::nullopt;
  const std::size_t target = bytes.find(' ') + 1;
  HttpSeen request{bytes.substr(target, bytes.find(' ', target) - target),
                   bytes.substr(0, head_end), bytes.substr(head_end + 4, length)};
  bytes.erase(0, head_end + 4 + length);
  return request;
}

std::string text_of(const HttpReply& reply) {
  std::string text = "HTTP/1.1 " + std::to_string(reply.status) + " So\r\n";
  for (const std::string& line : reply.headers) text += line + "\r\n";
  return text + "Content-Length: " + std::to_string(reply.body.size()) + "\r\n\r\n" + reply.body;
}

}  // namespace

struct HttpServer::Connection {
  explicit Connection(int socket) : fd(socket) {}
  ~Connection() { ::close(fd); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent < 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  const int fd;
  std::string received{};
};

HttpServer::HttpServer(Handler handler) : handler_(std::move(handler)) {
  // Whatever stands between this machine and others, it does not stand here.
  ::setenv("no_proxy", "*", 1);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  stop_ = ::eventfd(0, EFD_CLOEXEC);
  if (listener_ < 0 || stop_ < 0 || ::bind(listener_, plain, length) != 0 ||
      ::listen(listener_, SOMAXCONN) != 0 || ::getsockname(listener_, plain, &length) != 0) {
    throw std::system_error(errno, std::generic_category(), "a port for the server");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

HttpServer::~HttpServer() {
  ::eventfd_write(stop_, 1);
  thread_.join();
  ::close(listener_);
  ::close(stop_);
}

std::string HttpServer::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

std::vector<HttpSeen> HttpServer::seen() const {
  const MutexLock lock(mutex_);
  return seen_;
}

std::size_t HttpServer::connections() const {
  const MutexLock lock(mutex_);
  return connections_;
}

bool HttpServer::serve(Connection& connection) {
  std::array<char, 65536> bytes;
  const ssize_t got = ::recv(connection.fd, bytes.data(), bytes.size(), 0);
  if (got <= 0) return false;
  connection.received.append(bytes.data(), static_cast<std::size_t>(got));
  while (auto request = take_request(connection.received)) {
    {
      const MutexLock lock(mutex_);
      seen_.push_back(*request);
    }
    const HttpReply reply = handler_(*request);
    const std::string text = text_of(reply);
    if (reply.end == HttpReply::End::kSilent) continue;
    if (reply.end == HttpReply::End::kCut) {
      connection.send(std::string_view(text).substr(0, text.size() - reply.body.size() / 2));
      return false;
    }
    if (!connection.send(text)) return false;
  }
  return true;
}

void HttpServer::run() {
  std::list<Connection> connections;
  for (;;) {
    std::vector<pollfd> interests{{stop_, POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const Connection& one : connections) interests.push_back({one.fd, POLLIN, 0});
    ::poll(interests.data(), interests.size(), -1);
    if (interests[0].revents != 0) return;
    std::size_t i = 2;
    for (auto one = connections.begin(); one != connections.end(); ++i) {
      const bool stays = interests[i].revents == 0 || serve(*one);
      one = stays ? std::next(one) : connections.erase(one);
    }
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    connections.emplace_back(socket);
    const MutexLock lock(mutex_);
    ++connections_;
  }
}

}  // namespace quipu::test
