// The pieces of an append, one by one.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "backend/plan.h"
#include "base/crc32c.h"
#include "base/json_scan.h"
#include "log/index.h"
#include "log/seal.h"
#include "model/door.h"
#include "workload.h"

namespace quipu {
namespace {

constexpr SipKey kKey{.k0 = 1, .k1 = 2};

// An entry whose payload has about `bytes` bytes.
NewEntry entry_of(std::size_t bytes) {
  bench::Workload work(1);
  NewEntry entry = work.next();
  std::string text;
  while (text.size() < bytes) text += work.next().payload.substr(26, 1000);
  // A cut may fall into an escape; only words are wanted here.
  std::erase_if(text, [](char c) { return c == '\\' || c == '"' || (c & 0x80) != 0; });
  entry.payload = R"({"role":"user","content":")" + text.substr(0, bytes) + "\"}";
  return entry;
}

void scan_object(benchmark::State& state) {
  const std::string text = entry_of(static_cast<std::size_t>(state.range(0))).payload;
  std::vector<json::Member> members;
  for (auto _ : state) {
    if (!json::scan_object(text, members).ok()) state.SkipWithError("not an object");
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
BENCHMARK(scan_object)->Arg(1'600)->Arg(55'000)->Arg(1'000'000);

// As agents write it: escapes every few words.
void scan_object_escapes(benchmark::State& state) {
  bench::Workload work(1);
  std::string text;
  while (text.size() < static_cast<std::size_t>(state.range(0))) text = work.next().payload;
  std::vector<json::Member> members;
  for (auto _ : state) {
    if (!json::scan_object(text, members).ok()) state.SkipWithError("not an object");
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
BENCHMARK(scan_object_escapes)->Arg(1'600)->Arg(55'000);

void crc(benchmark::State& state) {
  const std::string text(static_cast<std::size_t>(state.range(0)), 'x');
  for (auto _ : state) benchmark::DoNotOptimize(crc32c(text));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
BENCHMARK(crc)->Arg(28)->Arg(1'600)->Arg(55'000);

void seal(benchmark::State& state) {
  const std::string body = entry_of(static_cast<std::size_t>(state.range(0))).payload;
  std::string line;
  std::uint32_t chain = 0;
  for (auto _ : state) {
    line.clear();
    log::append_unsealed(line, body);
    chain = log::write_seal(line.data(), line.size(), 0, chain);
  }
  benchmark::DoNotOptimize(chain);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * line.size()));
}
BENCHMARK(seal)->Arg(1'600)->Arg(55'000);

std::shared_ptr<log::Index> index_of(const bench::Workload& work, Ordinal count) {
  auto index = log::Index::in_memory(kKey);
  for (Ordinal own = 0; own < count; ++own) {
    log::IndexEntry entry;
    entry.offset = std::uint64_t{own} * 1'600;
    entry.bytes = 1'599;
    entry.id_hash = index->hash(work.id(own));
    entry.place.parent = own == 0 ? kNone : own - 1;
    index->add(own, entry);
  }
  return index;
}

void index_find(benchmark::State& state) {
  const auto count = static_cast<Ordinal>(state.range(0));
  const bool present = state.range(1) != 0;
  const bench::Workload work(1);
  const auto index = index_of(work, count);
  Ordinal at = 0;
  for (auto _ : state) {
    const std::string id = work.id(present ? at : count + at);
    const auto found =
        index->find(index->hash(id), count, [](Ordinal) -> Result<bool> { return true; });
    if (!found.ok() || found->has_value() != present) state.SkipWithError("a wrong answer");
    at = (at + 7919) % count;
  }
}
BENCHMARK(index_find)
    ->ArgNames({"entries", "present"})
    ->ArgsProduct({{100, 1'000, 10'000, 100'000}, {0, 1}});

void index_entry(benchmark::State& state) {
  const auto count = static_cast<Ordinal>(state.range(0));
  const bench::Workload work(1);
  const auto index = index_of(work, count);
  Ordinal at = 0;
  for (auto _ : state) {
    if (!index->entry(at).ok()) state.SkipWithError("a bad record");
    if (++at == count) at = 0;
  }
}
BENCHMARK(index_entry)->Arg(100)->Arg(100'000);

void door(benchmark::State& state) {
  const NewEntry entry = entry_of(static_cast<std::size_t>(state.range(0)));
  const Filler filler{.clock = Clock::system(), .random = Random::system()};
  for (auto _ : state) {
    const auto batch = admit_entries({&entry, 1}, filler);
    if (!batch.ok()) state.SkipWithError("refused");
    benchmark::DoNotOptimize(&batch);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * entry.payload.size()));
}
BENCHMARK(door)->Arg(1'600)->Arg(55'000);

void door_line(benchmark::State& state) {
  const NewEntry entry = entry_of(static_cast<std::size_t>(state.range(0)));
  const std::string json =
      "{\"id\":\"" + entry.id + "\",\"type\":\"message\",\"payload\":" + entry.payload + "}";
  const std::string_view line(json);
  const Filler filler{.clock = Clock::system(), .random = Random::system()};
  for (auto _ : state) {
    const auto batch = admit_lines({&line, 1}, filler);
    if (!batch.ok()) state.SkipWithError("refused");
    benchmark::DoNotOptimize(&batch);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * json.size()));
}
BENCHMARK(door_line)->Arg(1'600)->Arg(55'000);

// A session of one node that takes everything and keeps nothing.
class EmptyTarget : public AppendTarget {
 public:
  EmptyTarget() {
    fold_.count = 1;
    fold_.head = 0;
  }
  const FoldState& fold() const override { return fold_; }
  Result<std::optional<FoundEntry>> find(std::string_view) override {
    return std::optional<FoundEntry>();
  }
  Result<std::string_view> text(Ordinal) override { return std::string_view("{}"); }
  Result<std::string_view> id(Ordinal) override {
    return std::string_view("01890000-0001-7000-8000-000000000001");
  }
  void stage(const Draft& draft, std::string_view parent, const FoldInput&) override {
    benchmark::DoNotOptimize(draft.rest.data());
    benchmark::DoNotOptimize(parent.data());
  }

 private:
  FoldState fold_;
};

void plan(benchmark::State& state) {
  bench::Workload work(1);
  std::vector<NewEntry> entries = work.next(static_cast<std::size_t>(state.range(0)));
  for (NewEntry& entry : entries) entry.parent = Parent::head();
  const Filler filler{.clock = Clock::system(), .random = Random::system()};
  const auto batch = admit_entries(entries, filler);
  if (!batch.ok()) return state.SkipWithError("refused");
  EmptyTarget target;
  for (auto _ : state) {
    const auto planned = plan_append(target, *batch, {});
    if (!planned.ok()) state.SkipWithError("refused");
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(plan)->Arg(1)->Arg(100);

}  // namespace
}  // namespace quipu
