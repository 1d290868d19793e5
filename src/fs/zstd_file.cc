#include "fs/zstd_file.h"

#include <zstd.h>

#include <algorithm>

#include "base/try.h"

namespace quipu::fs {
namespace {

constexpr std::size_t kChunk = std::size_t{128} << 10;

// Invariants:
//  1. `at_` is where in the decompressed bytes the stream stands.
//  2. `input_` holds what was read of the file and is not yet decompressed; the file
//     goes on at `offset_`.
class ZstdFile final : public HostFile {
 public:
  explicit ZstdFile(std::unique_ptr<HostFile> file)
      : file_(std::move(file)), stream_(ZSTD_createDStream(), ZSTD_freeDStream) {}

  HostStat stat() const override { return file_->stat(); }

  Result<std::size_t> read_at(std::span<char> into, std::uint64_t offset) override {
    if (stream_ == nullptr) return Error(Code::kNoMemory, "zstd: no memory for a stream");
    if (offset < at_) TRY(restart());
    while (at_ < offset) {
      skipped_.resize(std::min<std::uint64_t>(offset - at_, kChunk));
      TRY_ASSIGN(const std::size_t got, read_on(std::span(skipped_)));
      if (got == 0) return std::size_t{0};
    }
    return read_on(into);
  }

 private:
  Result<void> restart() {
    ZSTD_DCtx_reset(stream_.get(), ZSTD_reset_session_only);
    at_ = 0;
    offset_ = 0;
    input_.clear();
    taken_ = 0;
    in_frame_ = false;
    return {};
  }

  // Fewer bytes only at the end.
  Result<std::size_t> read_on(std::span<char> into) {
    ZSTD_outBuffer out{.dst = into.data(), .size = into.size(), .pos = 0};
    while (out.pos < out.size) {
      if (taken_ == input_.size()) {
        input_.resize(kChunk);
        auto got = file_->read_at(std::span(input_), offset_);
        input_.resize(got.ok() ? *got : 0);
        taken_ = 0;
        if (!got.ok()) return std::move(got).error();
        offset_ += *got;
      }
      const bool at_end = input_.empty();
      if (at_end && !in_frame_) break;
      const std::size_t before = out.pos;
      ZSTD_inBuffer in{.src = input_.data(), .size = input_.size(), .pos = taken_};
      const std::size_t hint = ZSTD_decompressStream(stream_.get(), &out, &in);
      taken_ = in.pos;
      at_ += out.pos - before;
      if (ZSTD_isError(hint) != 0) {
        return Error(Code::kCorrupt, std::string("zstd: ") + ZSTD_getErrorName(hint));
      }
      in_frame_ = hint != 0;
      if (at_end && in_frame_ && out.pos == before) {
        return Error(Code::kCorrupt, "zstd: the file is cut off");
      }
    }
    return out.pos;
  }

  std::unique_ptr<HostFile> file_;
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_;
  std::string input_;
  std::size_t taken_ = 0;  // of `input_`
  std::uint64_t offset_ = 0;
  std::uint64_t at_ = 0;
  bool in_frame_ = false;  // the last frame is not at its end
  std::string skipped_;
};

}  // namespace

bool is_compressed(const std::string& path) { return path.ends_with(".zst"); }

std::unique_ptr<HostFile> decompressed(std::unique_ptr<HostFile> file) {
  return std::make_unique<ZstdFile>(std::move(file));
}

Result<std::unique_ptr<HostFile>> open_plain(HostFiles& files, const std::string& path) {
  TRY_ASSIGN(auto file, files.open(path));
  return is_compressed(path) ? decompressed(std::move(file)) : std::move(file);
}

}  // namespace quipu::fs
