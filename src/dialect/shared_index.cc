#include "dialect/shared_index.h"

#include "dialect/document_reader.h"

namespace quipu::dialect {

void add_index(Source& source, const std::string& path, const std::string& session,
               fs::HostFiles& files, SplitIndex split) {
  const auto made = files.made_of(path, kDocumentBytesMax, [&](const std::string& text) {
    auto entries = split(text);
    return entries ? std::make_shared<const IndexEntries>(std::move(*entries)) : nullptr;
  });
  if (made == nullptr) return;
  const auto& entries = *static_cast<const IndexEntries*>(made.get());
  const auto entry = entries.find(session);
  if (entry == entries.end()) return;
  source.files.push_back(path);
  source.index = path;
  source.state = entry->second;
}

}  // namespace quipu::dialect
