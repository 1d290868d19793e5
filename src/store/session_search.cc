#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <unordered_map>

#include "base/try.h"
#include "quipu/project.h"
#include "quipu/search.h"
#include "search/snippet.h"
#include "store/guarded.h"
#include "store/search_fields.h"
#include "store/seen_entries.h"
#include "view/neighbours.h"
#include "view/said.h"
#include "view/session_index.h"

namespace quipu {
namespace {

constexpr std::size_t kRanked = 1000;
const search::Query kNoWords{};

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

/// A place in a ranking: the score of the last hit of a page, and its key.
struct Rank {
  double score = 0;
  std::int64_t key = 0;

  bool operator==(const Rank&) const = default;
};

bool comes_before(const Rank& a, const Rank& b) {
  return a.score != b.score ? a.score > b.score : a.key > b.key;
}

// "<bits of the score>.<key>", the first in hexadecimal digits.
std::string cursor_text(const Rank& rank) {
  char bits[16];
  const auto end =
      std::to_chars(bits, bits + sizeof bits, std::bit_cast<std::uint64_t>(rank.score), 16);
  return std::string(bits, end.ptr) + '.' + std::to_string(rank.key);
}

Result<Rank> read_cursor(std::string_view text) {
  std::uint64_t bits = 0;
  Rank rank;
  const char* end = text.data() + text.size();
  const auto score = std::from_chars(text.data(), end, bits, 16);
  rank.score = std::bit_cast<double>(bits);
  bool good = score.ec == std::errc() && score.ptr != end && *score.ptr == '.' &&
              rank.score == rank.score;  // a number
  if (good) {
    const auto key = std::from_chars(score.ptr + 1, end, rank.key);
    good = key.ec == std::errc() && key.ptr == end;
  }
  if (good) return rank;
  return Error(Code::kInvalidArgument, "not a cursor of a search")
      .with_hint("pass `next` of the page before as it came, or nothing for the first page");
}

template <class T>
bool is_one_of(const std::vector<T>& values, const T& value) {
  return values.empty() || std::find(values.begin(), values.end(), value) != values.end();
}

std::vector<std::string> tags_of(const std::vector<std::string>& values,
                                 std::string (*tag)(std::string_view)) {
  std::vector<std::string> tags;
  for (const std::string& value : values) tags.push_back(tag(value));
  return tags;
}

bool lets_all_through(const SessionFilter& filter) {
  // Only the scope of all admits two.
  const bool all_projects = filter.project.admits("") && filter.project.admits("-");
  return all_projects && !filter.agent && !filter.archived && !filter.parent &&
         filter.title_contains.empty() && !filter.since_ms && !filter.until_ms && !filter.status &&
         !filter.tag && !filter.whole_only;
}

/// One search.
class Searching {
 public:
  Searching(Store& store, view::SessionIndex& index, SessionQuery query,
            const SearchOptions& options)
      : store_(store),
        index_(index),
        query_(std::move(query)),
        options_(options),
        seen_(*store.backend()) {}

  Result<SearchPage> run(const PageRequest& page) {
    std::optional<Rank> after;
    if (!page.after.empty()) {
      TRY_ASSIGN(after, read_cursor(page.after));
    }
    if (query_.words.is_empty()) return empty_page();
    if (options_.refresh) {
      const auto fresh = index_.refresh();
      // Others write it for long: what is indexed is an answer.
      if (!fresh.ok() && fresh.error().code() != Code::kBusy) return Error(fresh.error());
    }
    if (needs_list()) TRY(list_sessions());
    TRY_ASSIGN(view::Narrowing where, narrowing());
    TRY_ASSIGN(std::vector<view::Found> found, index_.match(query_.words, where));
    count_neighbours(found, where);
    return show(found, after, page.limit);
  }

 private:
  void count_neighbours(std::vector<view::Found>& found, const view::Narrowing& where) {
    std::vector<view::Found> joining;
    if (options_.joined_weight > 0 && query_.words.is_question) {
      joining = view::neighbours_of_best(found, options_.joined_weight,
                                         [&](const std::string& session_id, Ordinal own) {
                                           return may_join(session_id, own, where);
                                         });
    }
    view::lift_by_neighbours(found, options_.neighbour_weight);
    view::join(found, std::move(joining));
    if (found.size() > kRanked) found.resize(kRanked);
  }

  // What the index would have said of it, had it the words. Its log is one that is searched, since
  // a hit is there. One that cannot be read is not asked for, and no error.
  bool may_join(const std::string& session_id, Ordinal own, const view::Narrowing& where) {
    const auto lineage = seen_.lineage(session_id);
    if (!lineage.ok() || own >= (*lineage)->own().fold().count) return false;
    const Ordinal visible = (*lineage)->base() + own;
    if ((*lineage)->is_redacted(visible)) return false;
    const bool is_any_time = !where.from_ms && !where.to_ms;
    if (!where.admits(session_id, own, is_any_time)) return false;
    const auto stored = (*lineage)->entry(visible);
    // A title or a label is said of something else.
    if (!stored.ok() || is_fact(stored->place.type)) return false;
    view::Said said;
    if (!view::SaidReader(*lineage).read(own, said).ok() || said.text.empty()) return false;
    const std::vector<std::string> tags = view::tags_of(said);
    return std::all_of(where.tags.begin(), where.tags.end(), [&](const auto& group) {
      return std::find_first_of(tags.begin(), tags.end(), group.begin(), group.end()) != tags.end();
    });
  }

  SearchPage empty_page() const {
    SearchPage page;
    page.query_is_cut = query_.words.is_cut;
    return page;
  }

  // Where everything is searched nobody needs to know all there is.
  bool needs_list() const {
    return !lets_all_through(options_.sessions) || !query_.projects.empty() ||
           !query_.agents.empty();
  }

  // The sessions that the options and the fields let through.
  Result<void> list_sessions() {
    TRY_ASSIGN(auto page, store_.sessions().list_sessions(
                              options_.sessions,
                              {.after = {}, .limit = std::numeric_limits<std::size_t>::max()}));
    std::vector<std::string> projects;
    if (!query_.projects.empty()) {
      TRY_ASSIGN(projects, project_ids());
    }
    for (SessionSummary& session : page.items) {
      if (!query_.projects.empty() && !is_one_of(projects, session.project_id)) continue;
      if (!is_one_of(query_.agents, session.agent_id)) continue;
      sessions_.emplace(session.session_id, std::move(session));
    }
    return {};
  }

  // By id or by name; of a name nobody knows there is none, and an id of none is no project's.
  Result<std::vector<std::string>> project_ids() {
    TRY_ASSIGN(const std::vector<Project> known, Projects(store_).list());
    std::vector<std::string> ids;
    for (const std::string& wanted : query_.projects) {
      ids.push_back(wanted);
      for (const Project& project : known) {
        if (lower(project.name) == lower(wanted)) ids.push_back(project.id);
      }
    }
    return ids;
  }

  Result<view::Narrowing> narrowing() {
    view::Narrowing where;
    where.limit = kRanked;
    if (options_.role) where.tags.push_back({view::role_tag(lower(*options_.role))});
    if (options_.tool) where.tags.push_back({view::tool_tag(lower(*options_.tool))});
    if (!query_.roles.empty()) where.tags.push_back(tags_of(query_.roles, view::role_tag));
    if (!query_.tools.empty()) where.tags.push_back(tags_of(query_.tools, view::tool_tag));
    where.from_ms = std::max(options_.from_ms, query_.from_ms);  // absent ones are less
    where.to_ms = options_.to_ms && query_.to_ms ? std::min(options_.to_ms, query_.to_ms)
                                                 : std::max(options_.to_ms, query_.to_ms);
    TRY(see_sessions());
    if (needs_list() || options_.session || !query_.sessions.empty()) where.sessions = &logs_;
    where.admits = [this, from = where.from_ms, to = where.to_ms](const std::string& session_id,
                                                                  Ordinal own, bool in_time) {
      return seen_.contains(session_id, own) && (in_time || is_in_time(session_id, own, from, to));
    };
    return where;
  }

  Result<void> see_sessions() {
    const std::optional<std::string>& branch = options_.branch ? options_.branch : query_.branch;
    if (!options_.session && query_.sessions.empty()) {
      for (const auto& [id, session] : sessions_) logs_.insert(id);
      if (branch && *branch == "head") seen_.only_heads();
      if (!branch || *branch == "head") return {};
      return Error(Code::kInvalidArgument, "a branch to an entry, and no session")
          .with_hint("say of which session it is, or ask for the branch `head`");
    }
    TRY_ASSIGN(const std::vector<std::string> ids, named_sessions());
    for (const std::string& id : ids) {
      const auto seen = seen_.add_session(id, branch);
      // One that cannot be read is not indexed either.
      if (!seen.ok() && seen.error().code() == Code::kNoMemory) return Error(seen.error());
    }
    logs_ = seen_.logs();
    return {};
  }

  Result<std::vector<std::string>> named_sessions() {
    std::vector<std::string> ids;
    if (options_.session) {
      ids.push_back(*options_.session);
    } else {
      TRY_ASSIGN(ids, store_.sessions().session_ids());
    }
    std::erase_if(ids, [&](const std::string& id) {
      const auto begins_so = [&](const std::string& prefix) { return id.starts_with(prefix); };
      const auto& names = query_.sessions;
      const bool is_named = names.empty() || std::any_of(names.begin(), names.end(), begins_so);
      return !is_named || (needs_list() && !sessions_.contains(id));
    });
    return ids;
  }

  bool is_in_time(const std::string& session_id, Ordinal own,
                  const std::optional<std::int64_t>& from, const std::optional<std::int64_t>& to) {
    const auto lineage = seen_.lineage(session_id);
    if (!lineage.ok()) return false;
    const auto time = view::time_of((*lineage)->own(), own);
    if (!time.ok() || !*time) return false;
    return (!from || **time >= *from) && (!to || **time < *to);
  }

  Result<SearchPage> show(const std::vector<view::Found>& found, const std::optional<Rank>& after,
                          std::size_t limit) {
    SearchPage page = empty_page();
    page.total = found.size();
    Rank last;
    for (const view::Found& one : found) {
      const Rank rank{.score = one.score, .key = one.key};
      if (after && !comes_before(*after, rank)) continue;
      if (page.items.size() == limit) {
        if (limit > 0) page.next = cursor_text(last);
        break;
      }
      SearchHit hit;
      TRY_ASSIGN(const bool is_shown, fill(hit, one));
      if (!is_shown) continue;
      page.items.push_back(std::move(hit));
      last = rank;
    }
    return page;
  }

  // False: there is nothing to be seen there any more.
  Result<bool> fill(SearchHit& hit, const view::Found& found) {
    const auto lineage = seen_.lineage(found.session_id);
    if (!lineage.ok()) return false;
    const Lineage& session = **lineage;
    const Ordinal visible = session.base() + found.own;
    if (found.own >= session.own().fold().count || session.is_redacted(visible)) return false;
    view::Said said;
    TRY(view::SaidReader(*lineage).read(found.own, said));
    if (said.text.empty()) return false;
    hit.session_id = found.session_id;
    hit.ordinal = visible;
    hit.score = found.score;
    hit.neighbour = found.is_neighbour;
    TRY_ASSIGN(hit.entry_id, session.id(visible));
    TRY_ASSIGN(const StoredEntry stored, session.entry(visible));
    hit.type = said.type;
    hit.roles.assign(said.roles.begin(), said.roles.end());
    hit.tools = std::move(said.tools);
    hit.timestamp = std::move(said.timestamp);
    add_session(hit);
    search::Snippet snippet = search::make_snippet(
        said.text, found.is_neighbour ? kNoWords : query_.words, options_.snippet_bytes);
    hit.snippet = std::move(snippet.text);
    hit.marks = std::move(snippet.marks);
    hit.cut_before = snippet.cut_before;
    hit.cut_after = snippet.cut_after;
    if (options_.paths && !is_fact(stored.place.type)) {
      TRY_ASSIGN(const std::vector<Ordinal> path, path_to(session, visible));
      for (const Ordinal node : path) {
        TRY_ASSIGN(std::string id, session.id(node));
        hit.path.push_back(std::move(id));
      }
    }
    return true;
  }

  void add_session(SearchHit& hit) {
    auto session = sessions_.find(hit.session_id);
    if (session == sessions_.end()) {
      auto summary = store_.sessions().describe_session(hit.session_id);
      if (!summary.ok()) return;
      session = sessions_.emplace(hit.session_id, std::move(summary).value()).first;
    }
    hit.project_id = session->second.project_id;
    hit.agent_id = session->second.agent_id;
    hit.title = session->second.title;
  }

  Store& store_;
  view::SessionIndex& index_;
  const SessionQuery query_;
  const SearchOptions& options_;
  SeenEntries seen_;
  std::unordered_map<std::string, SessionSummary> sessions_;
  std::set<std::string> logs_;
};

}  // namespace

struct SessionSearch::State {
  explicit State(Store& of) : store(of), index(of.backend(), of.indexes()) {}

  Store& store;
  view::SessionIndex index;
};

SessionSearch::SessionSearch(Store& store) : state_(std::make_unique<State>(store)) {}
SessionSearch::~SessionSearch() = default;
SessionSearch::SessionSearch(SessionSearch&&) noexcept = default;
SessionSearch& SessionSearch::operator=(SessionSearch&&) noexcept = default;

Result<SearchPage> SessionSearch::search(std::string_view query, const SearchOptions& options,
                                         const PageRequest& page) {
  return guarded([&]() -> Result<SearchPage> {
    TRY(state_->store.sessions().check_open());
    if (options.role && !is_search_role(lower(*options.role))) {
      return Error(Code::kInvalidArgument, "no role: " + *options.role)
          .with_hint("user, assistant, system, tool, summary, title or label");
    }
    if (options.session) {
      TRY_ASSIGN(const std::string id, checked_session_id(*options.session));
      TRY(state_->store.backend()->survey(id));
    }
    return Searching(state_->store, state_->index,
                     read_session_query(query, options.session.has_value()), options)
        .run(page);
  });
}

Result<IndexReport> SessionSearch::refresh(const IndexProgress& progress) {
  return guarded([&]() -> Result<IndexReport> {
    TRY(state_->store.sessions().check_open());
    return state_->index.refresh(progress);
  });
}

Result<IndexReport> SessionSearch::refresh_if_made(const IndexProgress& progress) {
  return guarded([&]() -> Result<IndexReport> {
    TRY(state_->store.sessions().check_open());
    TRY_ASSIGN(const bool is_made, state_->index.is_made());
    return is_made ? state_->index.refresh(progress) : IndexReport();
  });
}

Result<IndexReport> SessionSearch::rebuild(const IndexProgress& progress) {
  return guarded([&]() -> Result<IndexReport> {
    TRY(state_->store.sessions().check_open());
    return state_->index.rebuild(progress);
  });
}

IndexReport& IndexReport::operator+=(const IndexReport& more) {
  sessions += more.sessions;
  entries += more.entries;
  text_bytes += more.text_bytes;
  removed += more.removed;
  problems.insert(problems.end(), more.problems.begin(), more.problems.end());
  return *this;
}

}  // namespace quipu
