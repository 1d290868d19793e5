// Version 4, of pi's embedding API: every line is a transaction, one write or a list
// of them:
//
//   {"kind":"entry", id, parentId, seq, timestamp, type, …}   a node of the tree
//   {"kind":"usage" | "value" | "list", …}                    state beside it
//
// A line with entries is a node of kind `transaction`; its messages are its entries.
// Named branches are values: `pi.branch.tip/<name>` is an entry's id.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/dialect.h"
#include "dialect/line_reader.h"

namespace quipu::dialect::pi {

inline constexpr std::string_view kTransaction = "transaction";

/// False when the record is none of version 4.
bool describe_transaction(const Fields& fields, Record& record);

/// At least one message for every entry, also for those that say nothing; a
/// compaction has what it retained behind it.
void lift_transaction(std::string_view payload, Lifted& into);
void note_transaction(std::string_view payload, Note& into);

std::vector<Pick> harness_conversation(std::span<const StoredRecord> records, std::uint32_t at);

}  // namespace quipu::dialect::pi
