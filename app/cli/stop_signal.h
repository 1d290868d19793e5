// Ctrl-C ends what goes on for ever, in good order.
#pragma once

namespace quipu::cli {

/// From now on SIGINT, SIGTERM and SIGHUP are noted instead of ending the program.
void note_stop_signals();
bool stop_wanted();

}  // namespace quipu::cli
