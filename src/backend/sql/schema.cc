#include "backend/sql/schema.h"

namespace quipu::sqlstore {
namespace {

using sql::Text;

// What SQLite has no word for.
constexpr const char* kNothing = "SELECT 1";

constexpr Text kFirst[] = {
    "CREATE TABLE @quipu_store (name {key} NOT NULL PRIMARY KEY, value TEXT NOT NULL)",
    // The truth: one row an entry, in the order of the log.
    {"CREATE TABLE @entries (position INTEGER PRIMARY KEY, session_id {key} NOT NULL,"
     " ordinal BIGINT NOT NULL, id {key} NOT NULL, type TEXT NOT NULL, parent BIGINT,"
     " depth BIGINT NOT NULL, orphan BIGINT NOT NULL, created_at TEXT NOT NULL,"
     " crc BIGINT NOT NULL, role TEXT, token_usage TEXT, is_summary BIGINT NOT NULL DEFAULT 0,"
     " line TEXT NOT NULL)",
     "CREATE TABLE @entries (position BIGINT GENERATED ALWAYS AS IDENTITY,"
     " tx xid8 NOT NULL DEFAULT pg_current_xact_id(), session_id {key} NOT NULL,"
     " ordinal BIGINT NOT NULL, id {key} NOT NULL, type TEXT NOT NULL, parent BIGINT,"
     " depth BIGINT NOT NULL, orphan BIGINT NOT NULL, created_at TEXT NOT NULL,"
     " crc BIGINT NOT NULL, role TEXT, token_usage TEXT, is_summary BIGINT NOT NULL DEFAULT 0,"
     " line TEXT NOT NULL)"},
    "CREATE UNIQUE INDEX entries_ordinal ON @entries (session_id, ordinal)",
    "CREATE UNIQUE INDEX entries_id ON @entries (session_id, id)",
    {kNothing, "CREATE INDEX entries_feed ON @entries (tx, position)"},
    "CREATE TABLE @heads (session_id {key} NOT NULL PRIMARY KEY, number BIGINT NOT NULL,"
    " entries BIGINT NOT NULL, bytes BIGINT NOT NULL, modified_ms BIGINT NOT NULL,"
    " base BIGINT NOT NULL, head BIGINT, head_depth BIGINT NOT NULL, head_id TEXT NOT NULL,"
    " tail_id TEXT NOT NULL, last_facts TEXT NOT NULL){clustered}",
    "CREATE TABLE @lineage (session_id {key} NOT NULL PRIMARY KEY,"
    " parent_session_id TEXT NOT NULL, parent_entry_id TEXT NOT NULL){clustered}",
    "CREATE TABLE @attachments (sha256 {key} NOT NULL PRIMARY KEY, upload TEXT NOT NULL,"
    " bytes BIGINT NOT NULL, modified_ms BIGINT NOT NULL){clustered}",
    "CREATE TABLE @attachment_chunks (upload {key} NOT NULL, seq BIGINT NOT NULL,"
    " bytes {bytes} NOT NULL, PRIMARY KEY (upload, seq))",
    // What is computed from the entries, in the same transaction.
    "CREATE TABLE @projects (id {key} NOT NULL PRIMARY KEY, root_path TEXT NOT NULL,"
    " name TEXT NOT NULL DEFAULT '', created_at TEXT NOT NULL, updated_at TEXT NOT NULL)",
    "CREATE INDEX idx_projects_root_path ON @projects (root_path)",
    "CREATE TABLE @chat_sessions (id {key} NOT NULL PRIMARY KEY, title TEXT NOT NULL DEFAULT '',"
    " created_at TEXT NOT NULL, updated_at TEXT NOT NULL, model TEXT NOT NULL DEFAULT '',"
    " working_directory TEXT NOT NULL DEFAULT '', sdk_session_id TEXT NOT NULL DEFAULT '',"
    " project_id TEXT NOT NULL DEFAULT '', sdk_cwd TEXT NOT NULL DEFAULT '',"
    " is_archived BIGINT NOT NULL DEFAULT 0, parent_session_id TEXT,"
    " summary TEXT NOT NULL DEFAULT '', summary_updated_at TEXT,"
    " status TEXT NOT NULL DEFAULT 'active', agent_id TEXT NOT NULL DEFAULT ''){clustered}",
    "CREATE INDEX idx_chat_sessions_project ON @chat_sessions (project_id, is_archived)",
    "CREATE INDEX idx_chat_sessions_parent ON @chat_sessions (parent_session_id)",
    // A message is an entry, so this has no rows of its own.
    "CREATE VIEW @messages AS SELECT id, session_id, ordinal AS seq, role, created_at,"
    " token_usage, is_summary FROM @entries WHERE role IS NOT NULL",
    "CREATE TABLE @message_parts (id {key} NOT NULL, message_id {key} NOT NULL,"
    " session_id {key} NOT NULL, part_type TEXT NOT NULL, payload TEXT NOT NULL,"
    " seq BIGINT NOT NULL, created_at TEXT NOT NULL)",
    // Its key, too: a part is found by its message, and `id` is made from these.
    "CREATE UNIQUE INDEX idx_message_parts_message_seq ON @message_parts"
    " (message_id, seq, session_id)",
    "CREATE INDEX idx_message_parts_session_created ON @message_parts (session_id, created_at)",
    "CREATE TABLE @session_runtime_state (session_id {key} NOT NULL PRIMARY KEY,"
    " run_id TEXT NOT NULL DEFAULT '', is_processing BIGINT NOT NULL DEFAULT 0,"
    " processing_generation BIGINT NOT NULL DEFAULT 0,"
    " queued_messages TEXT NOT NULL DEFAULT '[]', pending_permissions TEXT NOT NULL DEFAULT '[]',"
    " updated_at TEXT NOT NULL){clustered}",
    {kNothing,
     "COMMENT ON TABLE @entries IS 'The log, and the truth: one row an entry, the stored"
     " line verbatim. Never change it.'"},
    {kNothing,
     "COMMENT ON TABLE @heads IS 'Where each log ends and goes on; appends compare"
     " and set it.'"},
    {kNothing,
     "COMMENT ON TABLE @lineage IS 'Forks: which entry of which session they go on"
     " from.'"},
    {kNothing, "COMMENT ON TABLE @attachments IS 'Large parts of payloads, by SHA-256.'"},
    {kNothing, "COMMENT ON TABLE @attachment_chunks IS 'The bytes of attachments.'"},
    {kNothing, "COMMENT ON TABLE @projects IS 'Computed from the log system/projects.'"},
    {kNothing, "COMMENT ON TABLE @chat_sessions IS 'Computed: one row a session.'"},
    {kNothing, "COMMENT ON VIEW @messages IS 'The entries that are messages; seq is the ordinal.'"},
    {kNothing,
     "COMMENT ON TABLE @message_parts IS 'Computed: the parts of messages; payload is"
     " JSON.'"},
    {kNothing,
     "COMMENT ON TABLE @session_runtime_state IS 'Computed: run, queue and permissions"
     " that wait.'"},
};

// Where the parts of old rows lie in their lines: in the first place that has their bytes. What
// was made from a text that is written otherwise there is left out; `repair` finds it again.
constexpr Text kFindParts{
    "UPDATE entries SET parts = (SELECT json_group_array(CASE WHEN f.whole > 0"
    "   THEN printf('%010d%010d0%s', f.whole - 1, f.bytes, f.part_type)"
    "   ELSE printf('%010d%010d1%s', f.inner - 1, f.bytes - 23, f.part_type) END)"
    "  FROM (SELECT p.part_type, length(CAST(p.payload AS BLOB)) AS bytes,"
    "     instr(CAST(line AS BLOB), CAST(p.payload AS BLOB)) AS whole,"
    "     instr(CAST(line AS BLOB), substr(CAST(p.payload AS BLOB), 23,"
    "       length(CAST(p.payload AS BLOB)) - 23)) AS inner"
    "   FROM message_parts p WHERE p.message_id = entries.id"
    "    AND p.session_id = entries.session_id ORDER BY p.seq) f"
    "  WHERE f.whole > 0 OR f.inner > 0)"
    " WHERE role IS NOT NULL",
    "UPDATE @entries e SET parts = f.parts FROM (SELECT p.session_id, p.message_id,"
    "   json_agg(CASE WHEN p.whole > 0"
    "     THEN lpad((p.whole - 1)::text, 10, '0') || lpad(p.bytes::text, 10, '0') || '0'"
    "     ELSE lpad((p.inner - 1)::text, 10, '0') || lpad((p.bytes - 23)::text, 10, '0') || '1'"
    "     END || p.part_type ORDER BY p.seq)::text AS parts"
    "  FROM (SELECT q.*, octet_length(q.payload) AS bytes,"
    "     position(convert_to(q.payload, 'UTF8') IN convert_to(x.line, 'UTF8')) AS whole,"
    "     position(substring(convert_to(q.payload, 'UTF8') FROM 23"
    "       FOR octet_length(q.payload) - 23) IN convert_to(x.line, 'UTF8')) AS inner"
    "   FROM @message_parts q JOIN @entries x"
    "    ON x.id = q.message_id AND x.session_id = q.session_id) p"
    "  WHERE p.whole > 0 OR p.inner > 0 GROUP BY p.session_id, p.message_id) f"
    " WHERE e.id = f.message_id AND e.session_id = f.session_id"};

// Parts were rows with a copy of their text: half of what an append wrote. `parts` says where
// they lie (MessageColumns::parts), in a form that takes no function of SQLite which a careful
// reader forbids in a view.
constexpr Text kSecond[] = {
    "ALTER TABLE @entries ADD COLUMN parts TEXT",
    kFindParts,
    "DROP TABLE @message_parts",
    // By the id alone, too: it is what a message is known by.
    "DROP INDEX @entries_id",
    "CREATE UNIQUE INDEX entries_id ON @entries (id, session_id)",
    {"CREATE VIEW message_parts AS SELECT e.id || '.' || p.key AS id, e.id AS message_id,"
     " e.session_id, substr(p.value, 22) AS part_type,"
     " CASE substr(p.value, 21, 1) WHEN '1' THEN '{\"type\":\"text\",\"text\":' ELSE '' END"
     " || CAST(substr(CAST(e.line AS BLOB), substr(p.value, 1, 10) + 1,"
     "   substr(p.value, 11, 10) + 0) AS TEXT)"
     " || CASE substr(p.value, 21, 1) WHEN '1' THEN '}' ELSE '' END AS payload,"
     " p.key AS seq, e.created_at FROM entries e JOIN json_each(e.parts) p",
     "CREATE VIEW @message_parts AS SELECT e.id || '.' || (p.number - 1) AS id,"
     " e.id AS message_id, e.session_id, substr(p.value, 22) AS part_type,"
     " CASE substr(p.value, 21, 1) WHEN '1' THEN '{\"type\":\"text\",\"text\":' ELSE '' END"
     " || convert_from(substring(convert_to(e.line, 'UTF8') FROM substr(p.value, 1, 10)::int + 1"
     "   FOR substr(p.value, 11, 10)::int), 'UTF8')"
     " || CASE substr(p.value, 21, 1) WHEN '1' THEN '}' ELSE '' END AS payload,"
     " p.number - 1 AS seq, e.created_at FROM @entries e CROSS JOIN LATERAL"
     " json_array_elements_text(e.parts::json) WITH ORDINALITY AS p (value, number)"},
    {kNothing,
     "COMMENT ON VIEW @message_parts IS 'The parts of messages, cut out of the lines of entries;"
     " payload is JSON.'"},
};

// When a session was last added to changes with every append, the rest of its row hardly ever.
// It stands in `heads`, which an append writes anyway, so that it writes one page less.
constexpr Text kThird[] = {
    "ALTER TABLE @heads ADD COLUMN updated_at TEXT NOT NULL DEFAULT ''",
    "UPDATE @heads SET updated_at = COALESCE((SELECT s.updated_at FROM @chat_sessions s"
    " WHERE s.id = session_id), '')",
    "ALTER TABLE @chat_sessions DROP COLUMN updated_at",
    "ALTER TABLE @chat_sessions RENAME TO sessions",
    "CREATE VIEW @chat_sessions AS SELECT s.id, s.title, s.created_at, h.updated_at, s.model,"
    " s.working_directory, s.sdk_session_id, s.project_id, s.sdk_cwd, s.is_archived,"
    " s.parent_session_id, s.summary, s.summary_updated_at, s.status, s.agent_id"
    " FROM @sessions s JOIN @heads h ON h.session_id = s.id",
    {kNothing, "COMMENT ON TABLE @sessions IS 'Computed: what was said of each session.'"},
    {kNothing,
     "COMMENT ON VIEW @chat_sessions IS 'The sessions, with the time of their last entry.'"},
};

constexpr sql::Version kVersions[] = {
    {.what = "the tables of a store", .statements = kFirst},
    {.what = "parts of messages are a view: their text is stored once", .statements = kSecond},
    {.what = "an append writes no row of its session", .statements = kThird},
};

}  // namespace

std::span<const sql::Version> versions() { return kVersions; }

}  // namespace quipu::sqlstore
