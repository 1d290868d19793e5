#include "net/curl_client.h"

#include <algorithm>
#include <array>

#include "base/fork_count.h"
#include "base/mutex.h"
#include "base/try.h"
#include "net/libcurl.h"

namespace quipu::net {
namespace {

/// Answers with more are nobody's we ask.
constexpr std::size_t kHeadersMax = 200;
/// Only a bound: whatever is to be noticed wakes the wait up.
constexpr int kPollMs = 60 * 1000;

Error failure(Code code, const HttpRequest& request, const std::string& what) {
  return Error(code, place_of(request.url) + ": " + what)
      .with_hint("see whether the endpoint is running and can be reached");
}

class HeaderList {
 public:
  explicit HeaderList(const Libcurl& curl) : curl_(curl) {}
  ~HeaderList() { curl_.slist_free_all(list_); }
  HeaderList(const HeaderList&) = delete;
  HeaderList& operator=(const HeaderList&) = delete;

  void add(const std::string& line) {
    if (curl_slist* longer = curl_.slist_append(list_, line.c_str())) list_ = longer;
  }
  curl_slist* get() const { return list_; }

 private:
  const Libcurl& curl_;
  curl_slist* list_ = nullptr;
};

// What libcurl needs for one request at a time; its connections stay open in between.
class Session {
 public:
  explicit Session(const Libcurl& curl)
      : curl_(curl), easy_(curl.easy_init()), multi_(curl.multi_init()) {}
  ~Session() {
    if (easy_ != nullptr) curl_.easy_cleanup(easy_);
    if (multi_ != nullptr) curl_.multi_cleanup(multi_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool is_made() const { return easy_ != nullptr && multi_ != nullptr; }
  Result<HttpAnswer> send(const HttpRequest& request, const std::stop_token& stop);

 private:
  // What the callbacks of one request fill in.
  struct Receiver {
    std::size_t bytes_max;
    HttpAnswer answer{};
    bool is_too_large = false;
  };
  static std::size_t take_body(char* bytes, std::size_t size, std::size_t count, void* receiver);
  static std::size_t take_header(char* bytes, std::size_t size, std::size_t count, void* receiver);

  template <class Value>
  void set(CURLoption option, Value value) {
    if (curl_.easy_setopt(easy_, option, value) != CURLE_OK) is_refused_ = true;
  }
  void configure(const HttpRequest& request, curl_slist* headers, Receiver& receiver);
  /// Until the request has ended, one way or another.
  Result<CURLcode> run(const HttpRequest& request, const std::stop_token& stop);
  Error trouble(CURLcode ended, const HttpRequest& request) const;

  const Libcurl& curl_;
  CURL* easy_;
  CURLM* multi_;
  bool is_refused_ = false;  // an option was
  std::array<char, CURL_ERROR_SIZE> message_{};
};

std::size_t Session::take_body(char* bytes, std::size_t size, std::size_t count, void* receiver) {
  auto& into = *static_cast<Receiver*>(receiver);
  const std::size_t more = size * count;
  if (more > into.bytes_max - into.answer.body.size()) {
    into.is_too_large = true;
    return 0;  // ends the request
  }
  into.answer.body.append(bytes, more);
  return more;
}

std::size_t Session::take_header(char* bytes, std::size_t size, std::size_t count, void* receiver) {
  auto& headers = static_cast<Receiver*>(receiver)->answer.headers;
  const std::string_view line(bytes, size * count);
  // A status line begins the next answer: what came before was an interim one, or a proxy's.
  if (line.starts_with("HTTP/")) headers.clear();
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || headers.size() == kHeadersMax) return line.size();
  std::string name(line.substr(0, colon));
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  std::string_view value = line.substr(colon + 1);
  constexpr std::string_view kSpace = " \t\r\n";
  value.remove_prefix(std::min(value.find_first_not_of(kSpace), value.size()));
  value = value.substr(0, value.find_last_not_of(kSpace) + 1);
  headers.emplace_back(std::move(name), value);
  return line.size();
}

void Session::configure(const HttpRequest& request, curl_slist* headers, Receiver& receiver) {
  curl_.easy_reset(easy_);
  is_refused_ = false;
  message_[0] = '\0';
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_POST, 1L);
  set(CURLOPT_POSTFIELDS, request.body.data());
  set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  set(CURLOPT_HTTPHEADER, headers);
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(std::max(request.timeout.count(), std::int64_t{1})));
  set(CURLOPT_NOSIGNAL, 1L);  // other threads have their own
  set(CURLOPT_ERRORBUFFER, message_.data());
  set(CURLOPT_WRITEFUNCTION, &take_body);
  set(CURLOPT_WRITEDATA, &receiver);
  set(CURLOPT_HEADERFUNCTION, &take_header);
  set(CURLOPT_HEADERDATA, &receiver);
}

Result<CURLcode> Session::run(const HttpRequest& request, const std::stop_token& stop) {
  CURLMcode trouble = curl_.multi_add_handle(multi_, easy_);
  if (trouble != CURLM_OK) return failure(Code::kIoError, request, curl_.multi_strerror(trouble));
  CURLcode ended = CURLE_OK;
  {
    const std::stop_callback wake(stop, [this] { curl_.multi_wakeup(multi_); });
    int running = 1;
    while (trouble == CURLM_OK && running != 0 && !stop.stop_requested()) {
      trouble = curl_.multi_perform(multi_, &running);
      if (trouble != CURLM_OK || running == 0) break;
      trouble = curl_.multi_poll(multi_, nullptr, 0, kPollMs, nullptr);
    }
    int left = 0;
    const CURLMsg* message = curl_.multi_info_read(multi_, &left);
    if (message != nullptr) {
      ended = message->data.result;
    } else if (trouble == CURLM_OK) {
      ended = CURLE_ABORTED_BY_CALLBACK;
    }
  }
  curl_.multi_remove_handle(multi_, easy_);
  if (trouble != CURLM_OK) return failure(Code::kIoError, request, curl_.multi_strerror(trouble));
  return ended;
}

Error Session::trouble(CURLcode ended, const HttpRequest& request) const {
  const char* const because = message_[0] != '\0' ? message_.data() : curl_.easy_strerror(ended);
  switch (ended) {
    case CURLE_OPERATION_TIMEDOUT:
      return failure(Code::kBusy, request,
                     "no answer within " + std::to_string(request.timeout.count()) + " ms");
    case CURLE_ABORTED_BY_CALLBACK:
      return failure(Code::kBusy, request, "the request was cancelled");
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return failure(Code::kNotAllowed, request, because);
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return failure(Code::kInvalidArgument, request, because);
    case CURLE_OUT_OF_MEMORY:
      return failure(Code::kNoMemory, request, because);
    default:
      return failure(Code::kIoError, request, because);
  }
}

Result<HttpAnswer> Session::send(const HttpRequest& request, const std::stop_token& stop) {
  HeaderList headers(curl_);
  // Without it, a long body waits for the other side's leave, which few give.
  headers.add("Expect:");
  for (const std::string& line : request.headers) headers.add(line);
  Receiver receiver{request.answer_bytes_max};
  configure(request, headers.get(), receiver);
  if (is_refused_) return failure(Code::kInvalidArgument, request, "no request can be made to it");
  TRY_ASSIGN(const CURLcode ended, run(request, stop));
  if (receiver.is_too_large) {
    return failure(
        Code::kTooLarge, request,
        "the answer is longer than " + std::to_string(request.answer_bytes_max) + " bytes");
  }
  if (ended != CURLE_OK) return trouble(ended, request);
  long status = 0;
  curl_.easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  receiver.answer.status = static_cast<int>(status);
  return std::move(receiver.answer);
}

class CurlClient final : public HttpClient {
 public:
  Result<HttpAnswer> send(const HttpRequest& request, std::stop_token stop) override {
    TRY(check_url(request.url));
    for (const std::string& line : request.headers) {
      if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
        return Error(Code::kInvalidArgument, "a header has a line break in it");
      }
    }
    TRY_ASSIGN(const Libcurl* curl, libcurl());
    std::unique_ptr<Session> session = take(*curl);
    if (!session->is_made()) return Error(Code::kNoMemory, "no memory for a connection");
    auto answer = session->send(request, stop);
    give_back(std::move(session));
    return answer;
  }

 private:
  std::unique_ptr<Session> take(const Libcurl& curl) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (forks_ != fork_count()) {
      // Their connections are the parent's: closing them here would end them there.
      for (auto& session : idle_) session.release();
      idle_.clear();
      forks_ = fork_count();
    }
    if (idle_.empty()) return std::make_unique<Session>(curl);
    std::unique_ptr<Session> session = std::move(idle_.back());
    idle_.pop_back();
    return session;
  }
  void give_back(std::unique_ptr<Session> session) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    idle_.push_back(std::move(session));
  }

  Mutex mutex_;
  std::vector<std::unique_ptr<Session>> idle_ GUARDED_BY(mutex_);
  std::uint64_t forks_ GUARDED_BY(mutex_) = fork_count();
};

}  // namespace

std::unique_ptr<HttpClient> curl_client() { return std::make_unique<CurlClient>(); }

}  // namespace quipu::net
