#include "dialect/line_window.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/try.h"

namespace quipu::dialect {
namespace {

// Most files are read at once; a large one in pieces.
constexpr std::size_t kChunkMin = std::size_t{16} << 10;
constexpr std::size_t kChunkMax = std::size_t{1} << 20;
// What was looked at and is larger is read again, in pieces.
constexpr std::size_t kKeptMax = std::size_t{4} << 20;

}  // namespace

// How much is read at a time. What a compressed file says of its size is too little.
std::size_t LineWindow::first_chunk() const {
  const std::uint64_t size = file_->stat().size;
  const std::uint64_t rest = size > offset_ ? size - offset_ : 0;
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(rest + 1, kChunkMin, kChunkMax));
}

Result<std::size_t> LineWindow::fill() {
  if (at_end_) return std::size_t{0};
  if (chunk_ == 0) chunk_ = first_chunk();
  const std::string_view kept = rest();
  if (capacity_ - kept.size() < chunk_) {
    // Its bytes are written before they are read: no need to set them.
    const std::size_t wanted = std::max(kept.size() + chunk_, 2 * capacity_);
    auto larger = std::make_unique_for_overwrite<char[]>(wanted);
    kept.copy(larger.get(), kept.size());
    buffer_ = std::move(larger);
    capacity_ = wanted;
  } else if (from_ != 0) {
    std::memmove(buffer_.get(), kept.data(), kept.size());
  }
  from_ = 0;
  to_ = kept.size();
  TRY_ASSIGN(const std::size_t got, file_->read_at({buffer_.get() + to_, chunk_}, offset_));
  to_ += got;
  offset_ += got;
  at_end_ = got < chunk_;
  chunk_ = std::min(2 * chunk_, kChunkMax);
  return got;
}

std::string_view LineWindow::before(std::uint64_t offset, std::size_t bytes) const {
  const std::uint64_t start = offset_ - to_;  // of the buffer
  if (offset < start + bytes || offset > offset_) return {};
  return {buffer_.get() + (offset - bytes - start), bytes};
}

Result<void> LineWindow::peek(std::size_t bytes_max,
                              const std::function<bool(const Fields&)>& see) {
  // Little of a file that is read from further on.
  if (begin_ != 0) chunk_ = kChunkMin;
  offset_ = 0;
  std::vector<json::Member> members;
  members.reserve(kUsualMembers);
  bool wants_more = true;
  std::size_t looked = 0;  // no line ends between `seen` and here
  for (std::size_t seen = 0; wants_more;) {
    TRY_ASSIGN(const std::size_t got, fill());
    const std::string_view text = rest().substr(0, bytes_max);
    const bool is_all = got == 0 || at_end_ || text.size() >= bytes_max;
    wants_more = !is_all;
    while (seen < text.size()) {
      const std::size_t end = text.find('\n', std::max(seen, looked));
      looked = text.size();
      if (end == std::string_view::npos && !is_all) break;
      looked = end;
      std::string_view line = text.substr(seen, end - seen);
      const bool is_first = seen == 0;
      seen += line.size() + 1;
      if (is_first && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
      if (const std::string_view object = first_object(line); !object.empty()) line = object;
      if (!json::scan_object(line, members).ok() || see(Fields(members))) continue;
      wants_more = false;
      break;
    }
  }
  if (begin_ != 0 || capacity_ > kKeptMax) go_to_begin();
  return {};
}

void LineWindow::go_to_begin() {
  if (capacity_ > kKeptMax) {
    buffer_.reset();
    capacity_ = 0;
  }
  from_ = to_ = chunk_ = 0;
  offset_ = begin_;
  at_end_ = false;
}

std::string_view first_object(std::string_view text) {
  if (!text.starts_with('{')) return {};
  json::Cursor cursor(text);
  const std::string_view object = cursor.take();
  return object.size() < text.size() && json::is_object(object) ? object : std::string_view();
}

}  // namespace quipu::dialect
