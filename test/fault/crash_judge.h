// Performs calls of a workload, and judges what a crash has left of it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fault/crash_oracle.h"
#include "fault/fixed_world.h"
#include "fault/observed_fs.h"
#include "fs/sim_fs.h"

namespace quipu::fault {

/// What is wrong; nothing when all is well.
using Complaint = std::optional<std::string>;

/// One call through the public API. `oracle` is true at every moment in
/// between. Not for kClose.
Complaint perform(Handle& handle, Oracle& oracle, Op op, const std::string& key);

/// Forks from the newest entry there is, reported or not. Success promises the
/// whole path.
Complaint branch_newest(Handle& handle, Oracle& oracle, const std::string& key);

/// The logs of a disk, to see later that no byte of them vanished.
using Keepsakes = std::vector<std::pair<std::string, std::string>>;
Keepsakes keep_logs(const fs::SimDisk& disk, const Oracle& oracle);
/// P8: each log begins with what it held, or what was cut off is in quarantine,
/// or the whole of it in trash.
Complaint check_kept(const fs::SimDisk& disk, const Keepsakes& keepsakes);

/// Recovers the store on `disk`, which is a crash image: opens it, reads
/// everything, repeats the call that was running, appends one more batch; then
/// verifies, and looks again without the indexes. `observer`, when there is
/// one, sees the calls up to that batch and may look at `oracle` meanwhile.
Complaint recover_and_judge(fs::SimDisk& disk, Oracle& oracle, int level, CallObserver* observer);

/// P4: repeating the call that was running is safe, and then it is done. `is_made`: if it was
/// making a session, that session is there.
Complaint repeat(Handle& handle, Oracle& oracle, bool is_made);

/// What the store says about every session must agree with the oracle, which
/// forgets the batches that are not there.
Complaint settle(SessionStore& sessions, Oracle& oracle);

/// A session whose making was never reported may be gone, with what was about
/// to be appended to it.
void forget_lost_session(const fs::SimDisk& disk, Oracle& oracle);

}  // namespace quipu::fault
