// HttpClient by libcurl: TLS, proxies (from the environment, as everywhere) and connections
// that are used again are its business.
#pragma once

#include <memory>

#include "net/http.h"

namespace quipu::net {

/// Costs nothing before the first request.
std::unique_ptr<HttpClient> curl_client();

}  // namespace quipu::net
