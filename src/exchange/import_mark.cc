#include "exchange/import_mark.h"

#include <algorithm>

#include "base/crc32c.h"
#include "base/json_write.h"
#include "base/sha256.h"
#include "base/try.h"
#include "dialect/json_members.h"

namespace quipu::exchange {
namespace {

constexpr std::uint64_t kSummedBytes = 4096;

}  // namespace

Result<ImportMark> look_at(const dialect::Source& source, fs::HostFiles& files) {
  TRY_ASSIGN(const fs::HostStat first, files.stat(source.path));
  return look_at(source, first, files);
}

ImportMark look_at(const dialect::Source& source, const fs::HostStat& first, fs::HostFiles& files) {
  ImportMark mark;
  mark.first = first;
  const auto add = [&](const std::string& path) {
    const auto stat = files.stat(path);
    if (!stat.ok()) return;
    mark.others = crc32c_extend(mark.others, path + " " + std::to_string(stat->size) + " " +
                                                 std::to_string(stat->modified_ns) + "\n");
  };
  for (std::size_t i = 1; i < source.files.size(); ++i) {
    if (source.files[i] != source.index) add(source.files[i]);
  }
  if (!source.part.empty()) add(source.path + "-wal");  // what a database is still to take in
  if (!source.index.empty()) {
    mark.others = crc32c_extend(mark.others, source.state);
  } else if (!source.state.empty()) {
    mark.part = sha256_hex(source.state).substr(0, 16);
  }
  return mark;
}

Result<std::uint32_t> sum_before(const std::string& path, std::uint64_t offset,
                                 fs::HostFiles& files) {
  TRY_ASSIGN(const auto file, files.open(path));
  std::string bytes(std::min(offset, kSummedBytes), '\0');
  TRY_ASSIGN(const std::size_t got, file->read_at(std::span(bytes), offset - bytes.size()));
  bytes.resize(got);
  return crc32c(bytes);
}

Result<std::uint32_t> sum_before(const dialect::Reader& reader, const std::string& path,
                                 fs::HostFiles& files) {
  const std::uint64_t offset = reader.position().offset;
  const std::size_t wanted = std::min(offset, kSummedBytes);
  const std::string_view bytes = reader.before_position(wanted);
  return bytes.size() == wanted ? crc32c(bytes) : sum_before(path, offset, files);
}

dialect::ReadPosition position_after(const ImportMark& then, const ImportMark& now,
                                     const dialect::Source& source, fs::HostFiles& files) {
  const bool is_grown = then.first.device == now.first.device &&
                        then.first.inode == now.first.inode && then.offset <= now.first.size;
  if (!is_grown || then.offset == 0) return {};
  const auto sum = sum_before(source.path, then.offset, files);
  if (!sum.ok() || *sum != then.before) return {};
  return {.offset = then.offset};
}

std::string encode_mark(const ImportMark& mark) {
  std::string payload;
  json::Writer out(payload);
  out.begin_object()
      .member("device", mark.first.device)
      .member("inode", mark.first.inode)
      .member("size", mark.first.size)
      .member("modifiedNs", mark.first.modified_ns)
      .member("others", mark.others)
      .member("offset", mark.offset)
      .member("before", mark.before)
      .member("records", mark.records);
  if (mark.beside != 0) out.member("beside", mark.beside);
  if (mark.lost != 0) out.member("lost", mark.lost);
  out.text_member("part", mark.part).text_member("source", mark.source).end_object();
  return payload;
}

// One look at all members: as many marks are read as there are sources.
std::optional<ImportMark> read_mark(std::string_view payload) {
  ImportMark mark;
  mark.first.kind = fs::HostKind::kFile;
  bool has_size = false;
  bool has_time = false;
  json::MemberWalk walk(payload);
  while (const auto member = walk.next()) {
    if (member->kind == json::Kind::kString) {
      if (member->key == "part") mark.part = json::decode_string(member->value);
      if (member->key == "source") mark.source = json::decode_string(member->value);
    }
    const auto number = dialect::number_of(*member);
    if (!number) continue;
    if (member->key == "device") mark.first.device = *number;
    if (member->key == "inode") mark.first.inode = *number;
    if (member->key == "others") mark.others = static_cast<std::uint32_t>(*number);
    if (member->key == "offset") mark.offset = *number;
    if (member->key == "before") mark.before = static_cast<std::uint32_t>(*number);
    if (member->key == "records") mark.records = *number;
    if (member->key == "beside") mark.beside = *number;
    if (member->key == "lost") mark.lost = *number;
    if (member->key == "size") {
      mark.first.size = *number;
      has_size = true;
    }
    if (member->key == "modifiedNs") {
      mark.first.modified_ns = static_cast<std::int64_t>(*number);
      has_time = true;
    }
  }
  return has_size && has_time ? std::optional(mark) : std::nullopt;
}

}  // namespace quipu::exchange
