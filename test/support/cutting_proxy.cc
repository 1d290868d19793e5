#include "support/cutting_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <list>
#include <system_error>
#include <utility>
#include <vector>

#include "support/proxied_client.h"

namespace quipu::test {
namespace {

std::size_t index_of(Sender sender) { return sender == Sender::kClient ? 0 : 1; }

}  // namespace

void ProxyLedger::arm(std::optional<ProxyFault> fault) {
  const MutexLock lock(mutex_);
  fault_ = fault;
  fired_ = false;
  for (std::string& types : seen_) types.clear();
}

bool ProxyLedger::fired() const {
  const MutexLock lock(mutex_);
  return fired_;
}

std::string ProxyLedger::seen(Sender sender) const {
  const MutexLock lock(mutex_);
  return seen_[index_of(sender)];
}

void ProxyLedger::wait_until_fired() {
  const MutexLock lock(mutex_);
  while (!fired_) changed_.wait(mutex_);
}

void ProxyLedger::wait_until_settled() {
  const MutexLock lock(mutex_);
  while (unsettled_ > 0) changed_.wait(mutex_);
}

std::optional<ProxyFault> ProxyLedger::enter(Sender sender, char type) {
  const MutexLock lock(mutex_);
  std::string& types = seen_[index_of(sender)];
  types += type;
  if (!fault_ || fault_->sender != sender || fault_->message != types.size()) return std::nullopt;
  fired_ = true;
  ++unsettled_;
  changed_.notify_all();
  return std::exchange(fault_, std::nullopt);
}

void ProxyLedger::settle() {
  const MutexLock lock(mutex_);
  --unsettled_;
  changed_.notify_all();
}

CuttingProxy::CuttingProxy(std::string server, std::size_t sessions_per_client)
    : server_(std::move(server)), sessions_per_client_(sessions_per_client) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  stop_ = ::eventfd(0, EFD_CLOEXEC);
  if (listener_ < 0 || stop_ < 0 || ::bind(listener_, plain, length) != 0 ||
      ::listen(listener_, SOMAXCONN) != 0 || ::getsockname(listener_, plain, &length) != 0) {
    throw std::system_error(errno, std::generic_category(), "a port for the proxy");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

CuttingProxy::~CuttingProxy() {
  ::eventfd_write(stop_, 1);
  thread_.join();
  ::close(listener_);
  ::close(stop_);
}

std::string CuttingProxy::url(std::string_view database) const {
  return "postgres://quipu@127.0.0.1:" + std::to_string(port_) + "/" + std::string(database);
}

void CuttingProxy::run() {
  std::list<ProxiedClient> clients;
  for (;;) {
    std::vector<pollfd> interests{{stop_, POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const ProxiedClient& client : clients) client.add_interests(interests);
    ::poll(interests.data(), interests.size(), -1);
    if (interests[0].revents != 0) return;
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client >= 0) {
      const int on = 1;
      ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      clients.emplace_back(client, server_, sessions_per_client_, ledger_);
    }
    for (ProxiedClient& each : clients) each.work();
    clients.remove_if([](const ProxiedClient& each) { return each.is_gone(); });
  }
}

}  // namespace quipu::test
