// The SQL of KnowledgeTables. See sql/engine.h for how it is written.
#pragma once

#include <vector>

#include "sql/engine.h"

namespace quipu::recall::knowledge {

using sql::Text;

inline const std::vector<Text> kCreate{
    "CREATE TABLE @knowledge_cursor (emptied BIGINT NOT NULL PRIMARY KEY, entries BIGINT NOT NULL,"
    " head_crc BIGINT NOT NULL, tail_crc BIGINT NOT NULL)",
    // Tables that were made anew are not the same as those that were there.
    {"INSERT INTO @knowledge_cursor (emptied, entries, head_crc, tail_crc) VALUES (random(), 0, 0, "
     "0)",
     "INSERT INTO @knowledge_cursor (emptied, entries, head_crc, tail_crc)"
     " VALUES ((random() * 9e18)::bigint, 0, 0, 0)"},
    "CREATE TABLE @knowledge_documents (ordinal BIGINT NOT NULL PRIMARY KEY,"
    " bytes BIGINT NOT NULL, chunks BIGINT NOT NULL, created_ms BIGINT NOT NULL,"
    " updated_ms BIGINT NOT NULL, id {key} NOT NULL, content TEXT NOT NULL,"
    " title TEXT NOT NULL, meta TEXT NOT NULL)",
    "CREATE UNIQUE INDEX knowledge_documents_id ON @knowledge_documents (id)",
    "CREATE TABLE @knowledge_chunks (chunk BIGINT NOT NULL PRIMARY KEY, begin_at BIGINT NOT NULL,"
    " end_at BIGINT NOT NULL, embed_hash {key} NOT NULL, headings TEXT NOT NULL,"
    " text TEXT NOT NULL)",
    "CREATE INDEX knowledge_chunks_embed ON @knowledge_chunks (embed_hash)",
    "CREATE TABLE @knowledge_vectors (chunk BIGINT NOT NULL PRIMARY KEY,"
    " vector {bytes} NOT NULL)",
    "CREATE TABLE @knowledge_queued (fingerprint {key} NOT NULL PRIMARY KEY,"
    " mark BIGINT NOT NULL)",
    "CREATE TABLE @knowledge_suspects (hash {key} NOT NULL PRIMARY KEY){clustered}",
};

inline const std::vector<Text> kDrop{
    "DROP TABLE IF EXISTS @knowledge_cursor", "DROP TABLE IF EXISTS @knowledge_documents",
    "DROP TABLE IF EXISTS @knowledge_chunks", "DROP TABLE IF EXISTS @knowledge_vectors",
    "DROP TABLE IF EXISTS @knowledge_queued", "DROP TABLE IF EXISTS @knowledge_suspects"};

inline constexpr Text kReadCursor =
    "SELECT entries, head_crc, tail_crc, emptied FROM @knowledge_cursor";
inline constexpr Text kCountEmptied = "UPDATE @knowledge_cursor SET emptied = emptied + 1";
inline constexpr Text kMoveCursor =
    "UPDATE @knowledge_cursor SET head_crc = $1, tail_crc = $2,"
    " entries = CASE WHEN entries = $3 AND emptied = $4 THEN $5 END";

inline constexpr Text kAddDocuments{
    "INSERT INTO @knowledge_documents (ordinal, bytes, chunks, created_ms, updated_ms, id, content,"
    " title, meta) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    "INSERT INTO @knowledge_documents (ordinal, bytes, chunks, created_ms, updated_ms, id, content,"
    " title, meta) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[],"
    " $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[])",
    "iiiiitttt"};
inline constexpr Text kRemoveDocuments{
    "DELETE FROM @knowledge_documents WHERE ordinal = $1",
    "DELETE FROM @knowledge_documents WHERE ordinal = ANY ($1::bigint[])", "i"};

inline constexpr Text kAddChunks{
    "INSERT INTO @knowledge_chunks (chunk, begin_at, end_at, embed_hash, headings, text)"
    " VALUES ($1, $2, $3, $4, $5, $6)",
    "INSERT INTO @knowledge_chunks (chunk, begin_at, end_at, embed_hash, headings, text)"
    " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[],"
    " $6::text[])",
    "iiittt"};
inline constexpr Text kRemoveChunks{
    "DELETE FROM @knowledge_chunks WHERE chunk = $1",
    "DELETE FROM @knowledge_chunks WHERE chunk = ANY ($1::bigint[])", "i"};
inline constexpr Text kAddVectors{"INSERT INTO @knowledge_vectors (chunk, vector) VALUES ($1, $2)",
                                  "INSERT INTO @knowledge_vectors (chunk, vector)"
                                  " SELECT * FROM unnest($1::bigint[], $2::bytea[])",
                                  "ib"};
inline constexpr Text kRemoveVectors{
    "DELETE FROM @knowledge_vectors WHERE chunk = $1",
    "DELETE FROM @knowledge_vectors WHERE chunk = ANY ($1::bigint[])", "i"};

#define QUIPU_DOCUMENT_COLUMNS                                                      \
  "SELECT ordinal, bytes, chunks, created_ms, updated_ms, id, content, title, meta" \
  " FROM @knowledge_documents "
#define QUIPU_CHUNK_COLUMNS \
  "SELECT chunk, begin_at, end_at, embed_hash, headings, text FROM @knowledge_chunks "

inline constexpr Text kOfIds{QUIPU_DOCUMENT_COLUMNS "WHERE id IN (SELECT value FROM json_each($1))",
                             QUIPU_DOCUMENT_COLUMNS
                             "WHERE id = ANY (ARRAY(SELECT jsonb_array_elements_text($1::jsonb)))"};
inline constexpr Text kOfOrdinals{
    QUIPU_DOCUMENT_COLUMNS "WHERE ordinal IN (SELECT value FROM json_each($1))",
    QUIPU_DOCUMENT_COLUMNS
    "WHERE ordinal = ANY (ARRAY(SELECT jsonb_array_elements_text($1::jsonb)::bigint))"};
inline constexpr Text kPage =
    QUIPU_DOCUMENT_COLUMNS "WHERE ordinal < $1 ORDER BY ordinal DESC LIMIT $2";
inline constexpr Text kCount = "SELECT COUNT(*) FROM @knowledge_documents";

inline constexpr Text kChunks{
    QUIPU_CHUNK_COLUMNS "WHERE chunk IN (SELECT value FROM json_each($1))", QUIPU_CHUNK_COLUMNS
    "WHERE chunk = ANY (ARRAY(SELECT jsonb_array_elements_text($1::jsonb)::bigint))"};
inline constexpr Text kChunksBetween =
    QUIPU_CHUNK_COLUMNS "WHERE chunk >= $1 AND chunk < $2 ORDER BY chunk";

inline constexpr Text kVectorBytes{
    "SELECT length(v.vector) FROM @knowledge_vectors v JOIN @knowledge_documents d"
    " ON d.ordinal = v.chunk >> 20"
    " WHERE d.id NOT IN (SELECT value FROM json_each($1)) LIMIT 1",
    "SELECT length(v.vector)::bigint FROM @knowledge_vectors v JOIN @knowledge_documents d"
    " ON d.ordinal = v.chunk >> 20"
    " WHERE d.id NOT IN (SELECT jsonb_array_elements_text($1::jsonb)) LIMIT 1"};

inline constexpr Text kMeta = "SELECT ordinal, meta FROM @knowledge_documents";
inline constexpr Text kVectorRows =
    "SELECT c.chunk, c.embed_hash, v.vector FROM @knowledge_chunks c"
    " LEFT JOIN @knowledge_vectors v ON v.chunk = c.chunk"
    " WHERE c.chunk > $1 ORDER BY c.chunk LIMIT $2";
inline constexpr Text kTextRows =
    "SELECT c.chunk, c.embed_hash, c.text, c.headings, d.title FROM @knowledge_chunks c"
    " JOIN @knowledge_documents d ON d.ordinal = c.chunk >> 20"
    " WHERE c.chunk > $1 AND c.embed_hash <> '' ORDER BY c.chunk LIMIT $2";
inline constexpr Text kExisting{
    "SELECT chunk FROM @knowledge_chunks WHERE chunk IN (SELECT value FROM json_each($1))",
    "SELECT chunk FROM @knowledge_chunks"
    " WHERE chunk = ANY (ARRAY(SELECT jsonb_array_elements_text($1::jsonb)::bigint))"};
inline constexpr Text kReadMark = "SELECT mark FROM @knowledge_queued WHERE fingerprint = $1";
inline constexpr Text kSetMark =
    "INSERT INTO @knowledge_queued (fingerprint, mark) VALUES ($1, $2)"
    " ON CONFLICT (fingerprint) DO UPDATE SET mark = excluded.mark";
/// After the chunks were removed: texts that no other chunk has are not to be sent any more.
inline constexpr Text kForgetTexts{
    "DELETE FROM @embed_queue WHERE hash IN (SELECT value FROM json_each($1))"
    " AND NOT EXISTS (SELECT 1 FROM @knowledge_chunks n WHERE n.embed_hash = hash)",
    "DELETE FROM @embed_queue q WHERE hash IN (SELECT jsonb_array_elements_text($1::jsonb))"
    " AND NOT EXISTS (SELECT 1 FROM @knowledge_chunks n WHERE n.embed_hash = q.hash)"};
inline constexpr Text kForgetAllTexts =
    "DELETE FROM @embed_queue WHERE hash IN (SELECT embed_hash FROM @knowledge_chunks)";
/// Of those that have vectors.
inline constexpr Text kSuspect =
    "INSERT INTO @knowledge_suspects (hash) SELECT DISTINCT t.embed_hash FROM @knowledge_chunks t"
    " WHERE t.embed_hash IN (SELECT c.hash FROM @embed_cache c) ON CONFLICT DO NOTHING";
inline constexpr Text kCountSuspects = "SELECT COUNT(*) FROM @knowledge_suspects";
inline constexpr Text kForgetSuspects =
    "DELETE FROM @embed_cache WHERE hash IN (SELECT s.hash FROM @knowledge_suspects s)"
    " AND hash NOT IN (SELECT t.embed_hash FROM @knowledge_chunks t)";
inline constexpr Text kForgetMade{
    "DELETE FROM @embed_cache WHERE hash IN (SELECT value FROM json_each($1))"
    " AND NOT EXISTS (SELECT 1 FROM @knowledge_chunks n WHERE n.embed_hash = hash)",
    "DELETE FROM @embed_cache c WHERE hash IN (SELECT jsonb_array_elements_text($1::jsonb))"
    " AND NOT EXISTS (SELECT 1 FROM @knowledge_chunks n WHERE n.embed_hash = c.hash)"};

#undef QUIPU_DOCUMENT_COLUMNS
#undef QUIPU_CHUNK_COLUMNS

}  // namespace quipu::recall::knowledge
