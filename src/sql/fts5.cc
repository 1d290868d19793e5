#include "sql/fts5.h"

#include <sqlite3.h>

#include <cstring>
#include <new>

namespace quipu::sql {
namespace {

// ---- the tokenizer

using Shared = std::shared_ptr<const Tokenizer>;

void drop_shared(void* shared) { delete static_cast<Shared*>(shared); }

// One for every table: all are the connection's own.
int make_tokenizer(void* shared, const char** /*arguments*/, int /*count*/, Fts5Tokenizer** made) {
  *made = reinterpret_cast<Fts5Tokenizer*>(shared);
  return SQLITE_OK;
}

void drop_tokenizer(Fts5Tokenizer* /*tokenizer*/) {}

int tokenize(Fts5Tokenizer* made, void* context, int flags, const char* text, int bytes,
             int (*take)(void*, int, const char*, int, int, int)) {
  if (text == nullptr || bytes <= 0) return SQLITE_OK;
  const Shared& tokenizer = *reinterpret_cast<Shared*>(made);
  const bool is_query = (flags & FTS5_TOKENIZE_QUERY) != 0;
  int status = SQLITE_OK;
  try {
    tokenizer->tokenize({text, static_cast<std::size_t>(bytes)}, is_query,
                        [&](const Tokenizer::Word& word) {
                          status = take(context, word.same_place ? FTS5_TOKEN_COLOCATED : 0,
                                        word.text.data(), static_cast<int>(word.text.size()),
                                        static_cast<int>(word.begin), static_cast<int>(word.end));
                          return status == SQLITE_OK;
                        });
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
  return status;
}

// ---- the tally: numbers of 64 bits, then phrases of 3 x 32

struct TallyHead {
  std::int64_t rows;
  std::int64_t words;
  std::int64_t row_words;
};

int count_phrase(const Fts5ExtensionApi* api, Fts5Context* context, int phrase, PhraseTally& into) {
  Fts5PhraseIter places;
  int column = 0;
  int offset = 0;
  const int status = api->xPhraseFirst(context, phrase, &places, &column, &offset);
  if (status != SQLITE_OK) return status;
  into = {.phrase = static_cast<std::uint32_t>(phrase)};
  while (column >= 0) {
    into.first += column == 0 ? 1 : 0;
    into.second += column == 1 ? 1 : 0;
    api->xPhraseNext(context, &places, &column, &offset);
  }
  return SQLITE_OK;
}

// Of the whole table: the same for all rows of a query, and not cheap to ask for.
struct Totals {
  std::int64_t rows = 0;
  std::int64_t words = 0;
};

int totals_of(const Fts5ExtensionApi* api, Fts5Context* context, Totals& totals) {
  if (const void* known = api->xGetAuxdata(context, 0)) {
    totals = *static_cast<const Totals*>(known);
    return SQLITE_OK;
  }
  sqlite3_int64 number = 0;
  int status = api->xRowCount(context, &number);
  totals.rows = number;
  for (int column = 0; column < 2 && status == SQLITE_OK; ++column) {
    status = api->xColumnTotalSize(context, column, &number);
    totals.words += number;
  }
  if (status != SQLITE_OK) return status;
  auto* const kept = new (std::nothrow) Totals(totals);
  if (kept == nullptr) return SQLITE_NOMEM;
  return api->xSetAuxdata(context, kept, [](void* old) { delete static_cast<Totals*>(old); });
}

int measure(const Fts5ExtensionApi* api, Fts5Context* context, TallyHead& head) {
  Totals totals;
  int status = totals_of(api, context, totals);
  head = {.rows = totals.rows, .words = totals.words, .row_words = 0};
  for (int column = 0; column < 2 && status == SQLITE_OK; ++column) {
    int own = 0;
    status = api->xColumnSize(context, column, &own);
    head.row_words += own > 0 ? own : 0;
  }
  return status;
}

void tally(const Fts5ExtensionApi* api, Fts5Context* context, sqlite3_context* answer,
           int /*count*/, sqlite3_value** /*arguments*/) {
  TallyHead head;
  int status = measure(api, context, head);
  const int phrases = api->xPhraseCount(context);
  std::vector<char> bytes;
  try {
    bytes.resize(sizeof head + static_cast<std::size_t>(phrases) * sizeof(PhraseTally));
  } catch (const std::bad_alloc&) {
    return sqlite3_result_error_nomem(answer);
  }
  std::memcpy(bytes.data(), &head, sizeof head);
  std::size_t used = sizeof head;
  for (int i = 0; i < phrases && status == SQLITE_OK; ++i) {
    PhraseTally counted;
    status = count_phrase(api, context, i, counted);
    if (counted.first + counted.second == 0) continue;
    std::memcpy(bytes.data() + used, &counted, sizeof counted);
    used += sizeof counted;
  }
  if (status != SQLITE_OK) return sqlite3_result_error_code(answer, status);
  sqlite3_result_blob(answer, bytes.data(), static_cast<int>(used), SQLITE_TRANSIENT);
}

// The way that SQLite documents: the pointer comes through a parameter.
fts5_api* find_api(sqlite3* database) {
  fts5_api* api = nullptr;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, "SELECT fts5(?1)", -1, &statement, nullptr) == SQLITE_OK) {
    sqlite3_bind_pointer(statement, 1, static_cast<void*>(&api), "fts5_api_ptr", nullptr);
    sqlite3_step(statement);
  }
  sqlite3_finalize(statement);
  return api;
}

}  // namespace

bool read_tally(std::string_view bytes, Tally& tally) {
  TallyHead head;
  if (bytes.size() < sizeof head || (bytes.size() - sizeof head) % sizeof(PhraseTally) != 0) {
    return false;
  }
  std::memcpy(&head, bytes.data(), sizeof head);
  tally.rows = head.rows;
  tally.words = head.words;
  tally.row_words = static_cast<std::uint32_t>(head.row_words);
  bytes.remove_prefix(sizeof head);
  tally.phrases.resize(bytes.size() / sizeof(PhraseTally));
  if (!bytes.empty()) std::memcpy(tally.phrases.data(), bytes.data(), bytes.size());
  return true;
}

Result<void> add_text_search(sqlite3* database, std::shared_ptr<const Tokenizer> tokenizer) {
  fts5_api* const api = find_api(database);
  if (api == nullptr || api->iVersion < 2) {
    return Error(Code::kUnsupported, "this SQLite has no full-text search (FTS5)")
        .with_hint("use an SQLite that is built with SQLITE_ENABLE_FTS5");
  }
  fts5_tokenizer functions{
      .xCreate = make_tokenizer, .xDelete = drop_tokenizer, .xTokenize = tokenize};
  // SQLite owns the copy from here on, also when the call fails.
  auto* const shared = new Shared(std::move(tokenizer));
  if (api->xCreateTokenizer(api, "quipu", shared, &functions, drop_shared) != SQLITE_OK ||
      api->xCreateFunction(api, "tally", nullptr, tally, nullptr) != SQLITE_OK) {
    return Error(Code::kNoMemory, "sqlite: no memory for text search");
  }
  return {};
}

}  // namespace quipu::sql
