// Opening and making a file store: quipu.json and the directories beside it.
#include <algorithm>
#include <array>
#include <charconv>

#include "backend/file/file_backend.h"
#include "base/json_scan.h"
#include "base/try.h"
#include "base/uuid.h"

namespace quipu::file {
namespace {

constexpr std::string_view kStoreFile = "quipu.json";
constexpr std::size_t kStoreFileBytesMax = 64 << 10;

struct StoreFile {
  int format = 0;
  std::string id;
};

Error damaged(std::string_view what) {
  return Error(Code::kCorrupt, std::string(what))
      .with_hint("Move quipu.json away; `quipu init` makes a new one, and the sessions stay.");
}

Result<StoreFile> read_store_file(fs::Fs& fs) {
  TRY_ASSIGN(const auto file, fs.open(std::string(kStoreFile), fs::OpenMode::kRead));
  TRY_ASSIGN(const fs::Stat stat, file->stat());
  if (stat.size > kStoreFileBytesMax) return damaged("quipu.json is too long");
  TRY_ASSIGN(const std::string text,
             fs::read_exactly(*file, 0, static_cast<std::size_t>(stat.size)));
  std::vector<json::Member> members;
  if (!json::scan_object(text, members).ok()) return damaged("quipu.json is not a JSON object");
  StoreFile store;
  for (const auto& member : members) {
    if (json::key_equals(member.key, "format") && member.kind == json::Kind::kNumber) {
      std::from_chars(member.value.data(), member.value.data() + member.value.size(), store.format);
    }
    if (json::key_equals(member.key, "storeId") && member.kind == json::Kind::kString) {
      store.id = json::decode_string(member.value);
    }
  }
  if (store.format <= 0) return damaged("quipu.json names no format");
  if (store.format > kStoreFormat) {
    return Error(Code::kUnsupported, "the store has format " + std::to_string(store.format) +
                                         ", this version knows " + std::to_string(kStoreFormat))
        .with_hint("use a newer version of quipu");
  }
  return store;
}

// What a power cut may leave of a store that was being made, or a mishap of one.
bool is_own_name(const std::string& name) {
  constexpr std::array<std::string_view, 6> kNames{"sessions", "system",     "attachments",
                                                   "trash",    "quarantine", "store.lck"};
  constexpr std::array<std::string_view, 3> kDatabases{"views.db", "usage.db", "index.db"};
  return std::count(kNames.begin(), kNames.end(), name) > 0 ||
         std::any_of(kDatabases.begin(), kDatabases.end(),
                     [&](std::string_view database) { return name.starts_with(database); });
}

Result<void> make_store_file(fs::Fs& fs, Clock& clock, Random& random) {
  TRY_ASSIGN(const auto names, fs.list(""));
  // Somebody else may be making the store at this moment.
  if (std::find(names.begin(), names.end(), kStoreFile) != names.end()) return {};
  if (!std::all_of(names.begin(), names.end(), is_own_name)) {
    return Error(Code::kInvalidArgument, "the directory is not empty and no store")
        .with_hint("choose an empty or a new directory");
  }
  TRY_ASSIGN(auto file, fs.create_unnamed(""));
  const std::int64_t now = clock.unix_ms();
  const std::string text = "{\"format\":" + std::to_string(kStoreFormat) + ",\"storeId\":\"" +
                           uuid_v7(now, random) + "\",\"incarnation\":\"" + uuid_v7(now, random) +
                           "\"}\n";
  TRY(fs::append_all(*file, text));
  TRY(file->sync());
  auto linked = fs.link(*file, std::string(kStoreFile));
  if (!linked.ok() && linked.error().code() != Code::kIdConflict) return linked;
  return {};
}

// Readers need neither locks nor directories: a backup on a read-only medium can be
// read. Whoever writes is told when they try.
bool is_read_only(const Error& error) {
  return error.code() == Code::kStorageGone || error.code() == Code::kNotAllowed;
}

// Missing directories are made on every open: whoever made the store may have been
// killed anywhere on the way.
Result<void> make_directories(fs::Fs& fs) {
  for (const char* name : {"sessions", "quarantine", "trash"}) {
    auto there = fs.stat(name);
    if (there.ok()) continue;
    if (there.error().code() != Code::kNotFound) return std::move(there).error();
    TRY(fs.make_dir(name));
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<Backend>> FileBackend::open(std::unique_ptr<fs::Fs> fs, Clock& clock,
                                                   Random& random,
                                                   const FileBackendOptions& options) {
  std::shared_ptr<FileBackend> backend(new FileBackend(std::move(fs), clock, random));
  TRY(backend->load(options));
  return std::shared_ptr<Backend>(std::move(backend));
}

Result<void> FileBackend::settle_names() {
  if (names_settled_.load(std::memory_order_acquire)) return {};
  TRY(fs_->sync_dir(""));
  names_settled_.store(true, std::memory_order_release);
  return {};
}

Result<void> FileBackend::load(const FileBackendOptions& options) {
  auto store = read_store_file(*fs_);
  if (!store.ok() && store.error().code() == Code::kNotFound) {
    if (!options.create) {
      TRY_ASSIGN(const auto names, fs_->list(""));
      if (!names.empty() && std::all_of(names.begin(), names.end(), is_own_name)) {
        return Error(Code::kInvalidArgument, "the store has no quipu.json")
            .with_hint("`quipu init` makes a new one, and the sessions stay.");
      }
      if (!names.empty()) return Error(Code::kInvalidArgument, "the directory is no store");
      return Error(Code::kNotFound, "there is no store").with_hint("make one with `quipu init`");
    }
    TRY(make_store_file(*fs_, clock_, random_));
    store = read_store_file(*fs_);
  }
  if (!store.ok()) return std::move(store).error();
  store_id_ = std::move(store->id);
  if (auto made = make_directories(*fs_); !made.ok() && !is_read_only(made.error())) return made;
  if (options.create) TRY(settle_names());
  auto lock_file = fs_->open("store.lck", fs::OpenMode::kCreate);
  if (!lock_file.ok() && !is_read_only(lock_file.error())) return std::move(lock_file).error();
  locks_ = std::make_unique<log::LockFile>(std::move(lock_file), clock_, options.lock_wait);
  std::array<std::uint64_t, 2> key{};
  random_.fill(std::as_writable_bytes(std::span(key)));
  key_ = {.k0 = key[0], .k1 = key[1]};
  return {};
}

}  // namespace quipu::file
