// What MemoryStore (memory.h) and KnowledgeIndex (knowledge.h) have in common: how their
// searches rank, where vectors come from, and what a hit says of itself.
//
// Both rank by words (BM25; the query language of search.h). With vectors, they rank
// by meaning, too, and fuse the two lists. Vectors are given by the caller, or made by an
// endpoint that speaks OpenAI's `/v1/embeddings`. Those that the caller gives and those
// that the endpoint makes are compared with each other: whoever uses both must make them
// with the same model.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quipu {

/// Where vectors are made. Without a URL there is none, and everything works by words.
struct EmbeddingEndpoint {
  /// Up to and without `/embeddings`: "http://localhost:11434/v1".
  std::string url{};
  std::string model{};
  /// Sent as a bearer token; empty: none.
  std::string key{};
  /// Asked for when not 0.
  std::size_t dimensions = 0;
  /// Put before texts that are looked for, and before those that are looked through: some
  /// models want that.
  std::string query_prefix{};
  std::string document_prefix{};
  /// For one request.
  std::chrono::milliseconds timeout{30000};

  /// As the environment says: QUIPU_EMBED_URL, QUIPU_EMBED_MODEL, QUIPU_EMBED_KEY,
  /// QUIPU_EMBED_DIMENSIONS, QUIPU_EMBED_QUERY_PREFIX, QUIPU_EMBED_DOCUMENT_PREFIX, and
  /// QUIPU_EMBED_TIMEOUT, in seconds. A number that is none is told by whoever uses the endpoint,
  /// as `invalid_argument` or in a note.
  static EmbeddingEndpoint from_environment();
};

struct RecallOptions {
  EmbeddingEndpoint endpoint{};
  /// With an endpoint: a thread of its own sends it what waits for a vector, as long as the
  /// store that got these options lives. Otherwise somebody calls `embed`.
  bool background = false;
  /// Memory for vectors, in bytes, three a component and some more: with more of them each hybrid
  /// search reads them from the index, which takes longer and finds the same.
  std::size_t vector_bytes_max = std::size_t{512} << 20;
};

/// Texts that wait for the endpoint. They are found by their words meanwhile.
struct EmbeddingStatus {
  std::size_t waiting = 0;
  /// Refused for good, or tried too often while others went well; `reindex` has them tried again.
  std::size_t given_up = 0;
  /// What went wrong last; empty when all is well.
  std::string reason{};
};

enum class Fusion : unsigned char {
  /// Scores of each list between 0 and 1, weighted and added.
  kMinMax,
  /// 1 / (60 + rank), weighted and added.
  kReciprocalRank,
};

/// How a search ranks.
struct Ranking {
  /// By words and by vectors. Where there are no vectors, or none can be made of the query,
  /// the answer is by words alone, and says why (`Hits::note`).
  bool hybrid = false;
  Fusion fusion = Fusion::kMinMax;
  double lexical_weight = 2;
  double vector_weight = 1;
  /// The query as a vector, made by whoever made those of the texts; empty: the endpoint
  /// makes it.
  std::vector<float> embedding{};
};

/// A piece of a text that shows why it was found.
struct Excerpt {
  std::string text{};  // one line
  /// Bytes of `text` that matched, as (begin, end), in order.
  std::vector<std::pair<std::size_t, std::size_t>> marks{};
  bool cut_before = false;
  bool cut_after = false;
};

/// Why a hit is where it is. Ranks count from 1; 0: not in that list.
struct RankReason {
  std::size_t lexical_rank = 0;
  std::size_t vector_rank = 0;
  double lexical_score = 0;  // BM25
  double vector_score = 0;   // cosine
};

template <class T>
struct Hits {
  std::vector<T> items{};  // best first
  /// Whether vectors took part.
  bool is_hybrid = false;
  /// Hybrid was asked for and is not the answer, or not of all texts: why.
  std::string note{};
  /// The query had more than 64 terms or 64 KiB: what is beyond was not looked for by words.
  bool query_is_cut = false;
};

}  // namespace quipu
