// All SQL of the store, but for its schema (schema.cc). See sql/engine.h for how it is
// written: parameters stand in the order of their numbers.
#pragma once

#include "sql/engine.h"

namespace quipu::sqlstore {

using sql::Text;

// --- the log ---------------------------------------------------------------------------

/// With the runtime state, so that an append needs no second question.
inline constexpr Text kReadHead =
    "SELECT h.number, h.entries, h.bytes, h.modified_ms, h.base, h.head, h.head_depth, h.head_id,"
    " h.tail_id, h.last_facts, r.run_id, r.is_processing, r.processing_generation,"
    " r.queued_messages, r.pending_permissions"
    " FROM @heads h LEFT JOIN @session_runtime_state r ON r.session_id = h.session_id"
    " WHERE h.session_id = $1";

inline constexpr Text kSurvey =
    "SELECT session_id, number, bytes, modified_ms, entries FROM @heads"
    " WHERE session_id < 'system/' OR session_id >= 'system0' ORDER BY session_id";

inline constexpr Text kListSystem =
    "SELECT session_id FROM @heads WHERE session_id >= 'system/' AND session_id < 'system0'"
    " ORDER BY session_id";

/// Its head first: an append that holds it ends before the entries are looked for.
inline constexpr Text kDropHead = "DELETE FROM @heads WHERE session_id = $1";
inline constexpr Text kDropEntries = "DELETE FROM @entries WHERE session_id = $1";

/// Refuses a commit to a log that was dropped, by a key that is taken: without it the
/// entries of one who has not heard of that would find their places free.
inline constexpr Text kRequireHead =
    "INSERT INTO @quipu_store (name, value) SELECT 'store_id', ''"
    " WHERE NOT EXISTS (SELECT 1 FROM @heads WHERE session_id = $1)";

inline constexpr Text kMakeHead =
    "INSERT INTO @heads (session_id, number, entries, bytes, modified_ms, base, head, head_depth,"
    " head_id, tail_id, last_facts, updated_at)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

/// The compare-and-set on the tail: when others were faster it changes nothing, and the
/// entries that follow in the same commit are refused by their key.
inline constexpr Text kMoveHead =
    "UPDATE @heads SET entries = $1, bytes = $2, modified_ms = $3, head = $4, head_depth = $5,"
    " head_id = $6, tail_id = $7, last_facts = $8, updated_at = $9"
    " WHERE session_id = $10 AND entries = $11";

inline constexpr Text kAddEntries{
    "INSERT INTO @entries (session_id, ordinal, id, type, parent, depth, orphan, created_at, crc,"
    " role, token_usage, is_summary, line, parts)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
    "INSERT INTO @entries (session_id, ordinal, id, type, parent, depth, orphan, created_at, crc,"
    " role, token_usage, is_summary, line, parts) SELECT * FROM unnest($1::text[], $2::bigint[],"
    " $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[], $9::bigint[],"
    " $10::text[], $11::text[], $12::bigint[], $13::text[], $14::text[])",
    "tittiiitittitt"};

inline constexpr Text kReadEntries =
    "SELECT type, parent, depth, orphan, line, crc, id, created_at FROM @entries"
    " WHERE session_id = $1 AND ordinal >= $2 AND ordinal < $3 ORDER BY ordinal";

inline constexpr Text kReadPlaces =
    "SELECT type, parent, depth, orphan FROM @entries"
    " WHERE session_id = $1 AND ordinal < $2 ORDER BY ordinal";

inline constexpr Text kFindEntry =
    "SELECT ordinal, type, depth FROM @entries WHERE session_id = $1 AND id = $2";

inline constexpr Text kReadId = "SELECT id FROM @entries WHERE session_id = $1 AND ordinal = $2";

inline constexpr Text kReadChecked =
    "SELECT id, type, parent, depth, orphan, line, ordinal, crc FROM @entries"
    " WHERE session_id = $1 AND ordinal >= $2 ORDER BY ordinal LIMIT $3";

/// Another text after every commit that added entries. SQLite: one writer at a time, and the
/// last entry of all is never removed. PostgreSQL gives out positions before it commits, so
/// the highest says nothing; which transactions have ended does.
inline constexpr Text kStamp{"SELECT CAST(MAX(position) AS TEXT) FROM @entries",
                             "SELECT pg_current_snapshot()::text"};

/// What was committed before, in whatever way, is on the disk when this is.
inline constexpr Text kSettle{"UPDATE @quipu_store SET value = value + 1 WHERE name = 'settled'",
                              "SELECT pg_logical_emit_message(true, 'quipu', 'settled')"};

/// Entries of all sessions in an order in which none appears later before one that was
/// given out. PostgreSQL gives out positions before it commits, so only transactions are
/// read that all older ones have ended before.
inline constexpr Text kReadFeed{
    "SELECT '0', position, session_id, ordinal, id FROM @entries WHERE $1 IS NOT NULL"
    " AND position > $2 ORDER BY position LIMIT $3",
    "SELECT e.tx::text, e.position, e.session_id, e.ordinal, e.id FROM @entries e"
    " WHERE (e.tx, e.position) > ($1::text::xid8, $2)"
    " AND e.tx < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY e.tx, e.position LIMIT $3"};

// --- what others read --------------------------------------------------------------------

inline constexpr Text kMakeLineage =
    "INSERT INTO @lineage (session_id, parent_session_id, parent_entry_id) VALUES ($1, $2, $3)";

inline constexpr Text kMakeSession =
    "INSERT INTO @sessions (id, title, created_at, working_directory, sdk_cwd, project_id,"
    " agent_id, parent_session_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

/// Null leaves a column as it is.
inline constexpr Text kChangeSession =
    "UPDATE @sessions SET title = COALESCE($1, title), model = COALESCE($2, model),"
    " working_directory = COALESCE($3, working_directory), sdk_cwd = COALESCE($4, sdk_cwd),"
    " sdk_session_id = COALESCE($5, sdk_session_id), project_id = COALESCE($6, project_id),"
    " status = COALESCE($7, status), is_archived = COALESCE($8, is_archived),"
    " summary = COALESCE($9, summary), summary_updated_at = COALESCE($10, summary_updated_at)"
    " WHERE id = $11";

/// What the views `messages` and `message_parts` show of an entry, made anew.
inline constexpr Text kShowMessages{
    "UPDATE @entries SET role = $1, token_usage = $2, is_summary = $3, parts = $4"
    " WHERE session_id = $5 AND ordinal = $6",
    "UPDATE @entries e SET role = n.role, token_usage = n.usage, is_summary = n.is_summary,"
    " parts = n.parts FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[],"
    " $6::bigint[]) AS n (role, usage, is_summary, parts, session_id, ordinal)"
    " WHERE e.session_id = n.session_id AND e.ordinal = n.ordinal",
    "ttitti"};

inline constexpr Text kSetRuntime =
    "INSERT INTO @session_runtime_state (session_id, run_id, is_processing,"
    " processing_generation, queued_messages, pending_permissions, updated_at)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (session_id) DO UPDATE SET"
    " run_id = excluded.run_id, is_processing = excluded.is_processing,"
    " processing_generation = excluded.processing_generation,"
    " queued_messages = excluded.queued_messages,"
    " pending_permissions = excluded.pending_permissions, updated_at = excluded.updated_at";

inline constexpr Text kSetProject =
    "INSERT INTO @projects (id, root_path, name, created_at, updated_at)"
    " VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO UPDATE SET"
    " root_path = excluded.root_path, name = excluded.name, updated_at = excluded.updated_at";

/// A redacted entry keeps its row and loses what it said.
inline constexpr Text kHideParts =
    "UPDATE @entries SET parts = NULL WHERE session_id = $1 AND id = $2";

}  // namespace quipu::sqlstore
