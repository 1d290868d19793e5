#include "net/http.h"

#include <gtest/gtest.h>

namespace quipu::net {
namespace {

TEST(Http, OnlyUrlsThatCanBeAskedPass) {
  EXPECT_TRUE(check_url("http://localhost").ok());
  EXPECT_TRUE(check_url("https://api.example.com:8443/v1/x?version=2#top").ok());
  EXPECT_TRUE(check_url("http://[::1]:80/").ok());
  EXPECT_TRUE(check_url("http://host/path@home").ok());
  for (const char* url : {"", "localhost:80", "file:///etc/passwd", "ftp://host/", "HTTP//host",
                          "http://", "http:///path", "http://?host", "http://user:word@host/",
                          "http://host/a b", "http://host/\r\nX: y", "dict://host/d"}) {
    const auto checked = check_url(url);
    ASSERT_FALSE(checked.ok()) << url;
    EXPECT_EQ(checked.error().code(), Code::kInvalidArgument);
  }
  EXPECT_EQ(check_url("http://user:sesame@host/").error().message().find("sesame"),
            std::string::npos);
}

TEST(Http, PlacesHaveNoSecrets) {
  EXPECT_EQ(place_of("https://user:word@host:81/a/b?key=secret#part"), "https://host:81/a/b");
  EXPECT_EQ(place_of("http://host"), "http://host");
  EXPECT_EQ(place_of("http://host?key=a/b"), "http://host");
  EXPECT_EQ(place_of(""), "");
}

TEST(Http, HeadersAreFoundByName) {
  const HttpAnswer answer{.headers = {{"retry-after", "3"}, {"x", "1"}, {"x", "2"}}};
  EXPECT_EQ(answer.header("retry-after"), "3");
  EXPECT_EQ(answer.header("x"), "1");
  EXPECT_FALSE(answer.header("y").has_value());
}

}  // namespace
}  // namespace quipu::net
