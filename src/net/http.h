// HttpClient: what is asked of the network, in one call: a request out, an answer or an error back.
//
// The seam at which tests put an endpoint of their own. The one implementation is libcurl
// (curl_client.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "quipu/result.h"

namespace quipu::net {

/// A POST. Nothing of it but `place_of` its URL ever appears in an error.
struct HttpRequest {
  /// http: or https:, without user and password.
  std::string url{};
  /// `Name: value`, without line breaks.
  std::vector<std::string> headers{};
  std::string body{};
  /// For all of it: connecting, sending, waiting, receiving.
  std::chrono::milliseconds timeout{30000};
  /// A longer answer is an error.
  std::size_t answer_bytes_max = std::size_t{64} << 20;
};

struct HttpAnswer {
  int status = 0;
  /// Names in lower case.
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};

  /// The first one of that name.
  std::optional<std::string_view> header(std::string_view name) const;
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;

  /// Any whole answer is one, whatever its status; redirects are not followed, and the other side
  /// of https: is who it says it is. Otherwise: `busy` when the time is over or `stop` was
  /// requested; `io_error` when there was no whole answer; `not_allowed` when the other side could
  /// not be verified; `too_large` for an answer over the limit; `invalid_argument` for a request
  /// that cannot be made; `unsupported` without libcurl.
  ///
  /// Thread-safety: from every thread.
  virtual Result<HttpAnswer> send(const HttpRequest& request, std::stop_token stop = {}) = 0;
};

/// Whether a request can be made to it: http: or https:, a host, no user, no white space. Else
/// `invalid_argument`, which does not repeat it.
Result<void> check_url(std::string_view url);

/// A URL for people: without user, password, query and fragment, where secrets may be.
std::string place_of(std::string_view url);

}  // namespace quipu::net
