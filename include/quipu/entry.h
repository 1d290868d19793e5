// Entries: what a session is made of.
//
// An entry is never changed and never removed. It is either a *node* of the
// session's tree (a message, a summary, any type Quipu does not know) or a
// *fact* beside the tree (`session_header`, `head`, `label`, `session_info`,
// `redaction`, `usage`, `run_start`, `run_end`, `queue_add`, `queue_remove`,
// `permission_request`, `permission_resolve`, and everything that begins with `fact.`).
// Facts have no parent.
//
// Payload and meta are JSON objects carried as bytes: what is stored is what
// was given, to the last space and digit.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace quipu {

/// Where a new node hangs in the tree.
class Parent {
 public:
  /// On the session's head as it is when the entry is stored; the entries of
  /// one batch chain. The default. In JSON: no `parentId`.
  static Parent head() { return Parent(Kind::kHead, {}); }
  /// On nothing: the entry is a root. In JSON: `"parentId":null`.
  static Parent root() { return Parent(Kind::kRoot, {}); }
  /// On this entry, which must be a node that the session can see, stored
  /// already or earlier in the batch.
  static Parent of(std::string id) { return Parent(Kind::kEntry, std::move(id)); }

  Parent() = default;
  bool is_head() const { return kind_ == Kind::kHead; }
  bool is_root() const { return kind_ == Kind::kRoot; }
  /// Empty unless made by `of`.
  const std::string& id() const { return id_; }

 private:
  enum class Kind : unsigned char { kHead, kRoot, kEntry };
  Parent(Kind kind, std::string id) : kind_(kind), id_(std::move(id)) {}

  Kind kind_ = Kind::kHead;
  std::string id_;
};

/// An entry to append.
struct NewEntry {
  /// At most kEntryIdBytesMax bytes of UTF-8 without control characters. Empty:
  /// a UUIDv7 is filled in.
  std::string id{};
  /// Facts have no parent: leave the default.
  Parent parent{};
  /// Required, such as "message".
  std::string type{};
  /// RFC 3339, UTC. Empty: now.
  std::string timestamp{};
  /// Empty: absent.
  std::string run_id{};
  /// A JSON object.
  std::string payload = "{}";
  /// A JSON object. Empty: absent.
  std::string meta{};
};

/// An entry as stored. The views belong to whoever handed it out: see there.
struct EntryView {
  std::string_view id;
  /// The resolved parent; nothing for roots and facts.
  std::optional<std::string_view> parent_id;
  std::string_view type;
  std::string_view timestamp;
  std::string_view run_id;  // empty: absent
  /// The JSON object as given. A redacted entry shows `{"redacted":true}`.
  std::string_view payload;
  std::string_view meta;  // empty: absent
  /// The whole entry as one JSON object, without the store's seal.
  std::string_view json;
  bool is_fact = false;
  /// Seen through the lineage: the entry lives in the log that this session was
  /// forked from.
  bool inherited = false;
  /// Written into the log by another program, without a seal.
  bool adopted = false;
  bool redacted = false;
};

/// The same, owning its bytes.
struct Entry {
  explicit Entry(const EntryView& view)
      : id(view.id),
        parent_id(view.parent_id),
        type(view.type),
        timestamp(view.timestamp),
        run_id(view.run_id),
        payload(view.payload),
        meta(view.meta),
        json(view.json),
        is_fact(view.is_fact),
        inherited(view.inherited),
        adopted(view.adopted),
        redacted(view.redacted) {}

  std::string id;
  std::optional<std::string> parent_id;
  std::string type;
  std::string timestamp;
  std::string run_id;
  std::string payload;
  std::string meta;
  std::string json;
  bool is_fact = false;
  bool inherited = false;
  bool adopted = false;
  bool redacted = false;
};

/// Whether entries of this type are facts; every unknown type is a node.
bool is_fact_type(std::string_view type);

/// Whether `id` may name a session: `[A-Za-z0-9._-]{1,64}`, beginning and
/// ending with a letter or digit, no "..", no device name of another system.
bool is_session_id(std::string_view id);

}  // namespace quipu
