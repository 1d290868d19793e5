// What a crash may leave behind: the policies of the simulated disk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quipu::fs {

/// What becomes of bytes that were written and not synced. Bytes that were
/// synced stay, whatever the policy.
enum class DataLoss : std::uint8_t {
  kKilled,           // only the processes died: the page cache survives whole
  kNothing,          // nothing unsynced survives
  kPrefix,           // a prefix of the unsynced operations of a file, cut at any byte
  kBlocks512Zero,    // some 512-byte blocks; missing ones read as zero,
  kBlocks512Stale,   // ... as what was there before, or as an earlier block of the file,
  kBlocks512Random,  // ... as garbage
  kBlocks4096Zero,
  kBlocks4096Stale,
  kBlocks4096Random,
  kSizeWithoutData,  // the new size, zero where data should be
  kDataWithoutSize,  // the old size; overwritten bytes are new
  kEverything,
};

/// What becomes of names that were made, moved or removed and not synced: it
/// depends on nothing else. A rename happens or does not. Of the operations on
/// one name, a prefix survives.
enum class NameLoss : std::uint8_t { kNone, kAll, kSome };

/// `names` says which operations on names are lost; for kKilled, none is.
struct CrashPolicy {
  DataLoss data = DataLoss::kNothing;
  NameLoss names = NameLoss::kAll;
};

/// Such as "blocks512-stale/names-some".
std::string name(CrashPolicy policy);

/// Every combination that can differ, kKilled first.
const std::vector<CrashPolicy>& all_crash_policies();

namespace sim {

/// The decisions of one crash: drawn at random from a seed, or, for exhaustive
/// tests, read off the digits of a number (then `variants` says how many
/// numbers there are, provided that how often and among how many is chosen never
/// depends on earlier choices).
class Chooser {
 public:
  static Chooser random(std::uint64_t seed) { return Chooser(seed, false); }
  static Chooser numbered(std::uint64_t number) { return Chooser(number, true); }

  /// A number below `count`, which is not 0.
  std::uint64_t choose(std::uint64_t count);
  /// Garbage; the same for the same seed.
  std::uint64_t noise();
  /// How many different series of choices there were up to here; saturates.
  std::uint64_t variants() const { return variants_; }

 private:
  Chooser(std::uint64_t seed, bool numbered) : state_(seed), noise_(seed), numbered_(numbered) {}

  std::uint64_t state_;
  std::uint64_t noise_;
  std::uint64_t variants_ = 1;
  bool numbered_;
};

}  // namespace sim
}  // namespace quipu::fs
