// A file in which an agent keeps something of each of its sessions: titles, directories.
//
// Of such a file a source has the entry of its session only, so that it has changed when
// that entry has, and not whenever another session is named. The index is read once for all
// sessions that are found beside it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "dialect/reader.h"

namespace quipu::dialect {

/// By session, each as it stands in the file.
using IndexEntries = std::unordered_map<std::string, std::string>;

/// Nothing when the text is not understood, such as a file that is being written.
using SplitIndex = std::optional<IndexEntries> (*)(std::string_view text);

/// Makes the index at `path` one of the source's files, and its entry of `session` the
/// source's state; nothing when there is no such entry.
void add_index(Source& source, const std::string& path, const std::string& session,
               fs::HostFiles& files, SplitIndex split);

}  // namespace quipu::dialect
