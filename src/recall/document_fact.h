// Entries of the log `system/knowledge`.
//
//   fact.quipu.document   a document, in the form of knowledge_document_json
//   fact.quipu.remove     {ids: [id…]}
#pragma once

#include <string_view>

#include "quipu/knowledge.h"
#include "quipu/result.h"

namespace quipu::recall {

inline constexpr std::string_view kDocumentType = "fact.quipu.document";
inline constexpr std::string_view kRemoveType = "fact.quipu.remove";

/// `invalid_argument` unless the document can be stored.
Result<void> check(const KnowledgeDocument& document);

}  // namespace quipu::recall
