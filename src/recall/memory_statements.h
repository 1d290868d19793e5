// The SQL of MemoryTables. See sql/engine.h for how it is written.
#pragma once

#include <vector>

#include "sql/engine.h"

namespace quipu::recall::memory {

using sql::Text;

inline const std::vector<Text> kCreate{
    "CREATE TABLE @memory_cursor (emptied BIGINT NOT NULL PRIMARY KEY, entries BIGINT NOT NULL,"
    " head_crc BIGINT NOT NULL, tail_crc BIGINT NOT NULL)",
    // Tables that were made anew are not the same as those that were there.
    {"INSERT INTO @memory_cursor (emptied, entries, head_crc, tail_crc) VALUES (random(), 0, 0, 0)",
     "INSERT INTO @memory_cursor (emptied, entries, head_crc, tail_crc)"
     " VALUES ((random() * 9e18)::bigint, 0, 0, 0)"},
    // What lists look through comes first: long texts are left out then.
    "CREATE TABLE @memory_nodes (ordinal BIGINT NOT NULL PRIMARY KEY, kind BIGINT NOT NULL,"
    " importance BIGINT NOT NULL, pinned BIGINT NOT NULL, expires_ms BIGINT,"
    " created_ms BIGINT NOT NULL, updated_ms BIGINT NOT NULL, hits BIGINT NOT NULL,"
    " used_ms BIGINT NOT NULL, id {key} NOT NULL, agent_id TEXT NOT NULL,"
    " project_id TEXT NOT NULL, content TEXT NOT NULL, embed_hash {key} NOT NULL,"
    " sources TEXT NOT NULL, meta TEXT NOT NULL, text TEXT NOT NULL, context TEXT NOT NULL)",
    "CREATE UNIQUE INDEX memory_nodes_id ON @memory_nodes (id)",
    "CREATE INDEX memory_nodes_expires ON @memory_nodes (expires_ms)",
    "CREATE INDEX memory_nodes_updated ON @memory_nodes (updated_ms)",
    // A search by vectors looks through one scope of all nodes.
    "CREATE INDEX memory_nodes_scope ON @memory_nodes (agent_id, project_id, kind, ordinal)",
    "CREATE INDEX memory_nodes_embed ON @memory_nodes (embed_hash)",
    "CREATE TABLE @memory_bands (band BIGINT NOT NULL, ordinal BIGINT NOT NULL,"
    " PRIMARY KEY (band, ordinal)){clustered}",
    "CREATE TABLE @memory_vectors (ordinal BIGINT NOT NULL PRIMARY KEY, vector {bytes} NOT NULL)",
    "CREATE TABLE @memory_queued (fingerprint {key} NOT NULL PRIMARY KEY, mark BIGINT NOT NULL)",
    "CREATE TABLE @memory_suspects (hash {key} NOT NULL PRIMARY KEY){clustered}",
};

inline const std::vector<Text> kDrop{
    "DROP TABLE IF EXISTS @memory_cursor", "DROP TABLE IF EXISTS @memory_nodes",
    "DROP TABLE IF EXISTS @memory_bands",  "DROP TABLE IF EXISTS @memory_vectors",
    "DROP TABLE IF EXISTS @memory_queued", "DROP TABLE IF EXISTS @memory_suspects"};

inline constexpr Text kAddNodes{
    "INSERT INTO @memory_nodes (ordinal, kind, importance, pinned, expires_ms, created_ms,"
    " updated_ms, hits, used_ms, id, agent_id, project_id, content, embed_hash,"
    " sources, meta, text, context)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)",
    "INSERT INTO @memory_nodes (ordinal, kind, importance, pinned, expires_ms, created_ms,"
    " updated_ms, hits, used_ms, id, agent_id, project_id, content, embed_hash,"
    " sources, meta, text, context)"
    " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],"
    " $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::text[], $11::text[],"
    " $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[],"
    " $18::text[])",
    "iiiiiiiiittttttttt"};

inline constexpr Text kAddBands{
    "INSERT INTO @memory_bands (band, ordinal) VALUES ($1, $2)",
    "INSERT INTO @memory_bands (band, ordinal) SELECT * FROM unnest($1::bigint[], $2::bigint[])",
    "ii"};
inline constexpr Text kRemoveBands{
    "DELETE FROM @memory_bands WHERE band = $1 AND ordinal = $2",
    "DELETE FROM @memory_bands b USING unnest($1::bigint[], $2::bigint[]) AS gone(band, ordinal)"
    " WHERE b.band = gone.band AND b.ordinal = gone.ordinal",
    "ii"};
inline constexpr Text kRemoveNodes{"DELETE FROM @memory_nodes WHERE ordinal = $1",
                                   "DELETE FROM @memory_nodes WHERE ordinal = ANY ($1::bigint[])",
                                   "i"};
inline constexpr Text kRemoveVectors{
    "DELETE FROM @memory_vectors WHERE ordinal = $1",
    "DELETE FROM @memory_vectors WHERE ordinal = ANY ($1::bigint[])", "i"};
inline constexpr Text kAddVectors{
    "INSERT INTO @memory_vectors (ordinal, vector) VALUES ($1, $2)",
    "INSERT INTO @memory_vectors (ordinal, vector) SELECT * FROM unnest($1::bigint[], $2::bytea[])",
    "ib"};

inline constexpr Text kReadCursor =
    "SELECT entries, head_crc, tail_crc, emptied FROM @memory_cursor";
inline constexpr Text kCountEmptied = "UPDATE @memory_cursor SET emptied = emptied + 1";
inline constexpr Text kMoveCursor =
    "UPDATE @memory_cursor SET head_crc = $1, tail_crc = $2,"
    " entries = CASE WHEN entries = $3 AND emptied = $4 THEN $5 END";

#define QUIPU_MEMORY_COLUMNS                                                              \
  "SELECT ordinal, kind, importance, pinned, expires_ms, created_ms, updated_ms, hits,"   \
  " used_ms, id, agent_id, project_id, content, embed_hash, sources, meta, text, context" \
  " FROM @memory_nodes "
#define QUIPU_MEMORY_SCOPE                                                       \
  " agent_id = COALESCE($1, agent_id) AND project_id = COALESCE($2, project_id)" \
  " AND (kind & $3) <> 0 "

inline constexpr Text kOfIds{QUIPU_MEMORY_COLUMNS "WHERE id IN (SELECT value FROM json_each($1))",
                             QUIPU_MEMORY_COLUMNS
                             "WHERE id = ANY (ARRAY(SELECT jsonb_array_elements_text($1::jsonb)))"};
inline constexpr Text kOfOrdinals{
    QUIPU_MEMORY_COLUMNS "WHERE ordinal IN (SELECT value FROM json_each($1))", QUIPU_MEMORY_COLUMNS
    "WHERE ordinal = ANY (ARRAY(SELECT jsonb_array_elements_text($1::jsonb)::bigint))"};
inline constexpr Text kPage = QUIPU_MEMORY_COLUMNS
    "WHERE" QUIPU_MEMORY_SCOPE "AND ordinal < $4 ORDER BY ordinal DESC LIMIT $5";
inline constexpr Text kCount = "SELECT COUNT(*) FROM @memory_nodes WHERE" QUIPU_MEMORY_SCOPE;
inline constexpr Text kKept =
    "SELECT ordinal, kind, importance, pinned, expires_ms, updated_ms, hits, used_ms"
    " FROM @memory_nodes WHERE" QUIPU_MEMORY_SCOPE "ORDER BY ordinal";
/// The limit is each band's, and no more of it is read.
inline constexpr Text kSharing{
    "SELECT m.band, m.ordinal FROM (SELECT DISTINCT value AS band FROM json_each($1)) w"
    " CROSS JOIN @memory_bands m ON m.band = w.band AND m.ordinal >= COALESCE((SELECT n.ordinal"
    " FROM @memory_bands n WHERE n.band = w.band ORDER BY n.ordinal DESC LIMIT 1 OFFSET $2 - 1), "
    "0)",
    "SELECT w.band, m.ordinal"
    " FROM (SELECT DISTINCT jsonb_array_elements_text($1::jsonb)::bigint AS band) w"
    " CROSS JOIN LATERAL (SELECT n.ordinal FROM @memory_bands n WHERE n.band = w.band"
    " ORDER BY n.ordinal DESC LIMIT $2) m"};
inline constexpr Text kHidden =
    "SELECT ordinal FROM @memory_nodes WHERE expires_ms <= $1"
    " UNION ALL SELECT ordinal FROM @memory_nodes WHERE updated_ms < $2";
inline constexpr Text kVectorBytes{
    "SELECT length(v.vector) FROM @memory_vectors v JOIN @memory_nodes n ON n.ordinal = v.ordinal"
    " WHERE n.id NOT IN (SELECT value FROM json_each($1)) LIMIT 1",
    "SELECT length(v.vector)::bigint FROM @memory_vectors v"
    " JOIN @memory_nodes n ON n.ordinal = v.ordinal"
    " WHERE n.id NOT IN (SELECT jsonb_array_elements_text($1::jsonb)) LIMIT 1"};
inline constexpr Text kVectorRows =
    "SELECT n.ordinal, n.embed_hash, v.vector FROM @memory_nodes n"
    " LEFT JOIN @memory_vectors v ON v.ordinal = n.ordinal"
    " WHERE n.ordinal > $1 ORDER BY n.ordinal LIMIT $2";
inline constexpr Text kTextRows =
    "SELECT ordinal, embed_hash, text, context FROM @memory_nodes"
    " WHERE ordinal > $1 AND embed_hash <> '' ORDER BY ordinal LIMIT $2";
inline constexpr Text kExisting{
    "SELECT ordinal FROM @memory_nodes WHERE ordinal IN (SELECT value FROM json_each($1))",
    "SELECT ordinal FROM @memory_nodes"
    " WHERE ordinal = ANY (ARRAY(SELECT jsonb_array_elements_text($1::jsonb)::bigint))"};
inline constexpr Text kInScope = "SELECT ordinal FROM @memory_nodes WHERE" QUIPU_MEMORY_SCOPE;
inline constexpr Text kOfAgent =
    "SELECT ordinal FROM @memory_nodes WHERE agent_id = $1"
    " AND project_id = COALESCE($2, project_id) AND (kind & $3) <> 0";
inline constexpr Text kReadMark = "SELECT mark FROM @memory_queued WHERE fingerprint = $1";
inline constexpr Text kSetMark =
    "INSERT INTO @memory_queued (fingerprint, mark) VALUES ($1, $2)"
    " ON CONFLICT (fingerprint) DO UPDATE SET mark = excluded.mark";
/// After the nodes were removed: texts that no other node has are not to be sent any more.
inline constexpr Text kForgetTexts{
    "DELETE FROM @embed_queue WHERE hash IN (SELECT value FROM json_each($1))"
    " AND NOT EXISTS (SELECT 1 FROM @memory_nodes n WHERE n.embed_hash = hash)",
    "DELETE FROM @embed_queue q WHERE hash IN (SELECT jsonb_array_elements_text($1::jsonb))"
    " AND NOT EXISTS (SELECT 1 FROM @memory_nodes n WHERE n.embed_hash = q.hash)"};
inline constexpr Text kForgetAllTexts =
    "DELETE FROM @embed_queue WHERE hash IN (SELECT embed_hash FROM @memory_nodes)";
/// Of those that have vectors.
inline constexpr Text kSuspect =
    "INSERT INTO @memory_suspects (hash) SELECT DISTINCT t.embed_hash FROM @memory_nodes t"
    " WHERE t.embed_hash IN (SELECT c.hash FROM @embed_cache c) ON CONFLICT DO NOTHING";
inline constexpr Text kCountSuspects = "SELECT COUNT(*) FROM @memory_suspects";
inline constexpr Text kForgetSuspects =
    "DELETE FROM @embed_cache WHERE hash IN (SELECT s.hash FROM @memory_suspects s)"
    " AND hash NOT IN (SELECT t.embed_hash FROM @memory_nodes t)";
inline constexpr Text kForgetMade{
    "DELETE FROM @embed_cache WHERE hash IN (SELECT value FROM json_each($1))"
    " AND NOT EXISTS (SELECT 1 FROM @memory_nodes n WHERE n.embed_hash = hash)",
    "DELETE FROM @embed_cache c WHERE hash IN (SELECT jsonb_array_elements_text($1::jsonb))"
    " AND NOT EXISTS (SELECT 1 FROM @memory_nodes n WHERE n.embed_hash = c.hash)"};
inline constexpr Text kVector = "SELECT vector FROM @memory_vectors WHERE ordinal = $1";
inline constexpr Text kNoteUse{
    "UPDATE @memory_nodes SET hits = hits + $1, used_ms = $2 WHERE ordinal = $3",
    "UPDATE @memory_nodes n SET hits = n.hits + u.hits, used_ms = u.used_ms"
    " FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS u(hits, used_ms, ordinal)"
    " WHERE n.ordinal = u.ordinal",
    "iii"};

#undef QUIPU_MEMORY_COLUMNS
#undef QUIPU_MEMORY_SCOPE

}  // namespace quipu::recall::memory
