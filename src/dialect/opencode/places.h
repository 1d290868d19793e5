// The three forms in which opencode's sessions lie on a machine.
#pragma once

#include "dialect/reader.h"

namespace quipu::dialect::opencode {

inline constexpr std::string_view kAgent = "opencode";

/// The sessions of a database.
Result<std::vector<Source>> database_sources(const std::string& path, fs::HostFiles& files);
Result<std::unique_ptr<Reader>> open_database(const Source& source, fs::HostFiles& files);

/// Whether a path is that of a session among the files of a storage.
bool is_storage_path(const std::string& path);
Result<std::vector<Source>> storage_sources(const std::string& path, fs::HostFiles& files);
Result<std::unique_ptr<Reader>> open_storage(const Source& source, fs::HostFiles& files);

/// What `opencode export` writes.
bool is_document(std::string_view head);
Result<std::unique_ptr<Reader>> open_document(const Source& source, fs::HostFiles& files);

/// The kind of a record from its table or folder: of a message whether it leads, and
/// when it was made. `last`: the message that the session goes on from; empty: none.
void describe_message(std::string_view record_bytes, const std::string& last, Record& record);

}  // namespace quipu::dialect::opencode
