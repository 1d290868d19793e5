#include "contract/random_history.h"

#include <algorithm>
#include <deque>
#include <random>

namespace quipu::test {
namespace {

using Words = std::vector<std::string>;

// The choices of one operation.
class Hand {
 public:
  explicit Hand(const RandomOp& op) : engine_(op.seed) {}
  std::uint32_t roll(std::uint32_t sides) {
    return static_cast<std::uint32_t>(engine_() % std::max(1U, sides));
  }
  bool chance(std::uint32_t percent) { return roll(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[roll(static_cast<std::uint32_t>(from.size()))];
  }

 private:
  std::minstd_rand engine_;
};

// Envelopes that the door refuses, one reason each.
const Words kInvalid = {
    R"({"id":"bad","type":"message"})",
    R"({"id":"bad","payload":{}})",
    R"({"id":"bad","type":"message","payload":[]})",
    R"({"id":"bad","type":"message","payload":{},"_x":1})",
    R"({"id":"bad","id":"bad","type":"message","payload":{}})",
    R"({"id":"bad","type":"session_header","payload":{}})",
    R"({"id":"bad","type":"message","payload":{"t":"\ud800"}})",
    R"({"id":"bad","type":"usage","parentId":"a","payload":{}})",
    R"({"id":"bad","type":"message","payload":{}}x)",
    R"({"id":"bad\u0001","type":"message","payload":{}})",
    R"({"id":"bad","type":"message","timestamp":"now","payload":{}})",
    R"({"id":"bad","type":"head","payload":{}})",
    "{\"id\":\"bad\",\n\"type\":\"message\",\"payload\":{}}",
    "not json",
};

class Play {
 public:
  Play(const std::vector<StoreTarget*>& stores, Tally& tally)
      : stores_(stores), tally_(tally), model_(kNow) {}

  std::string all(const std::vector<RandomOp>& ops) {
    for (const auto& op : ops) {
      if (auto failure = one(op); !failure.empty()) return failure + "\n" + script_;
    }
    for (auto* store : stores_) {
      if (auto failure = compare_views(*store); !failure.empty()) return failure + "\n" + script_;
    }
    return {};
  }

 private:
  std::string one(const RandomOp& op) {
    Hand hand(op);
    StoreTarget& store = *hand.pick(stores_);
    store.set_door(hand.chance(50) ? Door::kLines : Door::kEntries);
    const auto sessions = model_.sessions();
    const auto kind = hand.roll(100);
    if (sessions->empty() || kind < 6) return create(hand, store, *sessions);
    if (kind < 18) return fork(hand, store, *sessions);
    if (kind < 24) {
      script_ += "reopen\n";
      store.reopen();
      return compare_views(store);
    }
    return append(hand, store, *sessions);
  }

  std::string create(Hand& hand, StoreTarget& store, const Words& sessions) {
    const bool taken = !sessions.empty() && hand.chance(20);
    const std::string id = taken ? hand.pick(sessions) : "s" + std::to_string(++made_);
    script_ += "create " + id + "\n";
    return compare_made(store, store.create(id), [&] { return model_.create(id); });
  }

  std::string fork(Hand& hand, StoreTarget& store, const Words& sessions) {
    const std::string& from = hand.pick(sessions);
    const auto view = model_.view(from);
    Words nodes;
    for (const auto& row : view->rows) {
      if (!row.fact) nodes.push_back(row.id);
    }
    if (hand.chance(3)) nodes = {view->rows.back().id};  // perhaps a fact
    const bool unknown = nodes.empty() || hand.chance(5);
    const std::string entry = unknown ? "nowhere" : hand.pick(nodes);
    ForkOptions options;
    options.new_id = hand.chance(5) ? hand.pick(sessions) : "f" + std::to_string(++made_);
    options.detach = hand.chance(25);
    if (unknown) options.new_id = "f" + std::to_string(++made_);
    script_ += "fork " + from + " at " + entry + " as " + options.new_id +
               (options.detach ? " detach\n" : "\n");
    return compare_made(store, store.fork(from, entry, options),
                        [&] { return model_.fork(from, entry, options); });
  }

  template <class Make>
  std::string compare_made(StoreTarget& store, const Result<SessionHandle>& actual, Make make) {
    if (actual.ok()) {
      auto view = store.view(actual->session_id);
      if (!view.ok()) return "no view of a new session: " + view.error().message();
      std::deque<std::string> header;
      for (const auto& row : view->rows) {
        if (row.type == "session_header" && !row.inherited) header.push_back(row.id);
      }
      model_.fill_ids_from(header);
    }
    const Result<SessionHandle> expected = make();
    model_.fill_ids_from({});
    ++tally_["make " + describe(expected)];
    if (expected.ok() != actual.ok()) return differs(describe(expected), describe(actual));
    if (expected.ok()) return compare_view(store, expected->session_id);
    if (expected.error().code() == actual.error().code()) return {};
    return differs(describe(expected), describe(actual));
  }

  template <class T>
  static std::string describe(const Result<T>& result) {
    return result.ok() ? "ok" : std::string(name(result.error().code()));
  }

  static std::string differs(const std::string& expected, const std::string& actual) {
    return "expected [" + expected + "], got [" + actual + "]";
  }

  std::string new_node(Hand& hand, const SessionView& view, const Words& batch_ids) {
    std::string line = "{";
    if (!hand.chance(12)) line += "\"id\":\"n" + std::to_string(++made_) + "\",";
    Words parents = batch_ids;
    for (const auto& row : view.rows) {
      if (!row.fact || hand.chance(2)) parents.push_back(row.id);
    }
    const auto how = hand.roll(100);
    if (how < 30 && !parents.empty()) {
      line += "\"parentId\":" + json::quoted(hand.pick(parents)) + ",";
    } else if (how < 36) {
      line += "\"parentId\":null,";
    } else if (how < 39) {
      line += "\"parentId\":\"nowhere\",";
    }
    line += hand.chance(80) ? "\"type\":\"message\"" : "\"type\":\"odd_type\"";
    if (hand.chance(30)) line += ",\"timestamp\":\"2025-01-01T00:00:00.000Z\"";
    if (hand.chance(20)) line += ",\"runId\":\"r1\"";
    line += ",\"payload\":{\"n\":" + std::to_string(made_) + "}";
    if (hand.chance(20)) line += ",\"meta\":{\"m\": 1}";
    return line + "}";
  }

  std::string new_fact(Hand& hand, const SessionView& view, bool& alone) {
    const std::string id = "q" + std::to_string(++made_);
    const auto how = hand.roll(100);
    std::vector<Row> targets;
    for (const auto& row : view.rows) {
      const bool may_be_hidden = row.type != "session_header" && row.type != "redaction";
      const bool is_target = how < 50 ? (!row.fact || hand.chance(2)) : may_be_hidden;
      if (is_target) targets.push_back(row);
    }
    const bool nowhere = targets.empty() || hand.chance(4);
    const Row target = nowhere ? Row{} : hand.pick(targets);
    const std::string to = nowhere ? "\"nowhere\"" : json::quoted(target.id);
    const std::string begin = "{\"id\":\"" + id + "\",\"type\":";
    if (how < 50) return begin + "\"head\",\"payload\":{\"entryId\":" + to + "}}";
    if (how < 75) {
      alone = target.inherited;
      return begin + "\"redaction\",\"payload\":{\"targetEntryId\":" + to + ",\"reason\":\"x\"}}";
    }
    return begin + (hand.chance(50) ? "\"run_start\"" : "\"usage\"") + ",\"payload\":{}}";
  }

  // An entry that is stored already, whole, in part, or with a difference.
  static std::string stored_again(Hand& hand, const Row& row) {
    std::string line = "{\"id\":" + json::quoted(row.id) + ",\"type\":" + json::quoted(row.type);
    const bool differs_now = hand.chance(15);
    if (!row.fact && hand.chance(40)) {
      line += ",\"parentId\":" + (row.parent ? json::quoted(*row.parent) : "null");
    }
    if (hand.chance(40)) line += ",\"timestamp\":" + json::quoted(row.timestamp);
    if (hand.chance(40) && !row.meta.empty()) line += ",\"meta\":" + row.meta;
    if (hand.chance(40) && !row.run_id.empty()) line += ",\"runId\":" + json::quoted(row.run_id);
    if (hand.chance(8)) line += ",\"extra\":1";
    return line + ",\"payload\":" + (differs_now ? "{\"other\":1}" : row.payload) + "}";
  }

  Words make_batch(Hand& hand, const SessionView& view) {
    if (hand.chance(6)) return {hand.pick(kInvalid)};
    Words lines, ids;
    const auto count = 1 + hand.roll(hand.chance(30) ? 4 : 2);
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto how = hand.roll(100);
      const Row& old = hand.pick(view.rows);
      bool alone = false;
      std::string line;
      if (how < 60) {
        line = new_node(hand, view, ids);
      } else if (how < 80) {
        line = new_fact(hand, view, alone);
      } else if (!old.redacted && old.type != "session_header" && old.type != "redaction" &&
                 std::find(ids.begin(), ids.end(), old.id) == ids.end()) {
        line = stored_again(hand, old);
      } else {
        line = new_node(hand, view, ids);
      }
      const auto parsed = read_any_line(line);
      if (!parsed->row.id.empty()) ids.push_back(parsed->row.id);
      lines.push_back(line);
      // Mostly alone: in company it is refused.
      if (alone && i == 0 && hand.chance(80)) return lines;
    }
    if (hand.chance(2)) lines.push_back(lines.front());
    if (hand.chance(2)) {
      lines.insert(lines.begin(),
                   R"({"id":"fwd","type":"message","parentId":"later","payload":{}})");
      lines.push_back(R"({"id":"later","type":"message","payload":{}})");
    }
    if (hand.chance(2)) {
      const bool head = hand.chance(50);
      lines.insert(lines.begin(),
                   head
                       ? R"({"id":"early","type":"head","payload":{"entryId":"last"}})"
                       : R"({"id":"early","type":"redaction","payload":{"targetEntryId":"last"}})");
      lines.push_back(R"({"id":"last","type":"message","payload":{}})");
    }
    return lines;
  }

  std::string append(Hand& hand, StoreTarget& store, const Words& sessions) {
    const std::string session = hand.chance(2) ? "nobody" : hand.pick(sessions);
    const auto view = model_.view(session == "nobody" ? sessions.front() : session);
    const Words lines = make_batch(hand, *view);
    AppendOptions options;
    if (hand.chance(25)) {
      options.expected_tail = hand.chance(60) ? view->tail : hand.pick(view->rows).id;
    }
    if (hand.chance(25)) {
      options.expected_head =
          hand.chance(60) ? view->head.value_or("none") : hand.pick(view->rows).id;
    }
    if (hand.chance(15)) options.fence = hand.chance(30) ? "" : hand.pick(view->rows).id;
    if (hand.chance(20)) options.mode = AppendMode::kMerge;
    if (hand.chance(20)) options.durability = Durability::kRelaxed;
    tell(session, lines, options);
    return compare_appends(store, session, lines, options);
  }

  void tell(const std::string& session, const Words& lines, const AppendOptions& options) {
    script_ += "append " + session;
    if (options.expected_tail) script_ += " expect-tail=" + *options.expected_tail;
    if (options.expected_head) script_ += " expect-head=" + *options.expected_head;
    if (options.fence) script_ += " fence=" + *options.fence;
    if (options.mode == AppendMode::kMerge) script_ += " merge";
    if (options.durability == Durability::kRelaxed) script_ += " relaxed";
    script_ += "\n";
    for (const auto& line : lines) script_ += "  " + line + "\n";
  }

  std::string compare_appends(StoreTarget& store, const std::string& session, const Words& lines,
                              const AppendOptions& options) {
    const auto actual = store.append(session, lines, options);
    const auto& actual_ids = actual.ok() ? actual->entry_ids : actual.error().entry_ids();
    std::deque<std::string> filled;
    for (std::size_t i = 0; i < lines.size() && actual_ids.size() == lines.size(); ++i) {
      const auto line = read_any_line(lines[i]);
      if (line && !line->has("id")) filled.push_back(actual_ids[i]);
    }
    model_.fill_ids_from(filled);
    const auto expected = model_.append(session, lines, options);
    model_.fill_ids_from({});
    ++tally_["append " + describe(expected)];
    if (expected.ok() && expected->session_id != session) ++tally_["append to the owning log"];
    if (expected.ok() && expected->appended_count == 0) ++tally_["append again"];
    if (describe(expected) != describe(actual)) {
      return differs(describe(expected), describe(actual)) +
             (actual.ok() ? "" : ": " + actual.error().message());
    }
    if (!expected.ok()) {
      const auto& wanted = expected.error();
      if (wanted.actual() != actual.error().actual()) {
        return "actual: " + differs(wanted.actual(), actual.error().actual());
      }
      if (!wanted.entry_ids().empty() && wanted.entry_ids() != actual_ids) {
        return "ids: " + differs(join(wanted.entry_ids()), join(actual_ids));
      }
      return session == "nobody" ? "" : compare_view(store, session);
    }
    if (expected->appended_count != actual->appended_count ||
        expected->already_present != actual->already_present ||
        expected->last_appended_entry_id != actual->last_appended_entry_id ||
        expected->entry_ids != actual->entry_ids || expected->session_id != actual->session_id) {
      return "append results differ";
    }
    return compare_view(store, session);
  }

  std::string compare_view(StoreTarget& store, const std::string& session) {
    const auto actual = store.view(session);
    if (!actual.ok()) return "no view of " + session + ": " + actual.error().message();
    const auto difference = test::difference(model_.view(session).value(), *actual);
    return difference.empty() ? "" : session + ": " + difference;
  }

  std::string compare_views(StoreTarget& store) {
    const auto expected = model_.sessions();
    const auto actual = store.sessions();
    if (!actual.ok()) return "no sessions: " + actual.error().message();
    if (*expected != *actual) return "sessions: " + differs(join(*expected), join(*actual));
    for (const auto& session : *expected) {
      if (auto failure = compare_view(store, session); !failure.empty()) return failure;
    }
    return {};
  }

  const std::vector<StoreTarget*>& stores_;
  Tally& tally_;
  ModelStore model_;
  int made_ = 0;
  std::string script_;
};

}  // namespace

std::vector<RandomOp> random_ops(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 engine(seed);
  std::vector<RandomOp> ops(count);
  for (auto& op : ops) op.seed = engine();
  return ops;
}

std::string play(const std::vector<RandomOp>& ops, const std::vector<StoreTarget*>& stores,
                 Tally& tally) {
  return Play(stores, tally).all(ops);
}

RandomStores::RandomStores(Engine engine) : fresh_(engine) {
  const std::size_t count = engine == Engine::kMemory ? 1 : 2;
  for (std::size_t i = 0; i < count; ++i) {
    owned_.push_back(std::make_unique<StoreTarget>(fresh_.url(), Door::kLines));
    handles_.push_back(owned_.back().get());
  }
}

std::vector<RandomOp> shrink(std::vector<RandomOp> ops, Engine engine) {
  const auto fails = [engine](const std::vector<RandomOp>& some) {
    const RandomStores stores(engine);
    Tally tally;
    return !play(some, stores.handles(), tally).empty();
  };
  for (std::size_t i = ops.size(); i-- > 0;) {
    auto fewer = ops;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (fails(fewer)) ops = std::move(fewer);
  }
  return ops;
}

}  // namespace quipu::test
