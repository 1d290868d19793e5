#include "net/http.h"

#include <algorithm>

namespace quipu::net {
namespace {

struct UrlParts {
  std::string_view scheme;  // with ://
  std::string_view user;    // with @
  std::string_view host;    // and port
  std::string_view path;
};

UrlParts parts_of(std::string_view url) {
  UrlParts parts;
  if (const std::size_t colon = url.find("://"); colon != std::string_view::npos) {
    parts.scheme = url.substr(0, colon + 3);
  }
  std::string_view rest = url.substr(parts.scheme.size());
  rest = rest.substr(0, rest.find_first_of("?#"));
  const std::string_view authority = rest.substr(0, rest.find('/'));
  parts.path = rest.substr(authority.size());
  const std::size_t at = authority.rfind('@');
  const std::size_t user = at == std::string_view::npos ? 0 : at + 1;
  parts.user = authority.substr(0, user);
  parts.host = authority.substr(user);
  return parts;
}

}  // namespace

std::optional<std::string_view> HttpAnswer::header(std::string_view name) const {
  const auto found = std::ranges::find(headers, name, &std::pair<std::string, std::string>::first);
  if (found == headers.end()) return std::nullopt;
  return found->second;
}

Result<void> check_url(std::string_view url) {
  const UrlParts parts = parts_of(url);
  const auto refuse = [](const char* why) { return Error(Code::kInvalidArgument, why); };
  if (parts.scheme != "http://" && parts.scheme != "https://") {
    return refuse("the URL does not begin with http:// or https://");
  }
  if (parts.host.empty()) return refuse("the URL names no host");
  if (!parts.user.empty()) return refuse("the URL has a user or a password in it");
  const auto is_odd = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; };
  if (std::ranges::any_of(url, is_odd)) return refuse("the URL has white space in it");
  return {};
}

std::string place_of(std::string_view url) {
  const UrlParts parts = parts_of(url);
  return std::string(parts.scheme) + std::string(parts.host) + std::string(parts.path);
}

}  // namespace quipu::net
