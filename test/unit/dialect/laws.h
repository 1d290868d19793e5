// The laws of import and export on one session, whatever its dialect.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "support/import_machine.h"

namespace quipu {

/// Files as they lie on a machine, and those of the one session among them as an export
/// names them.
struct Session {
  std::string agent;
  std::string main;  // the path of the file that is written
  ImportMachine::Files there;
  ImportMachine::Files given;
};

/// Everything that is found on the machine is one source of the agent; imports it.
inline ImportReport import_found(ImportMachine& machine, const std::string& agent) {
  const FoundSources found = machine.find({.agents = {}, .paths = {"/home/ada"}, .since_ms = 0});
  EXPECT_EQ(found.sources.size(), 1u);
  if (found.sources.size() != 1) return {};
  EXPECT_EQ(found.sources[0].agent, agent);
  const ImportReport report = machine.import_all(found.sources).at(0);
  EXPECT_FALSE(report.error) << report.error->message();
  return report;
}

inline void expect_lossless_and_idempotent(const Session& session) {
  ImportMachine machine;
  machine.host.files = session.there;
  const ImportReport first = import_found(machine, session.agent);
  EXPECT_EQ(machine.give(first.session_id, session.agent), session.given);
  const auto before = machine.store.sessions().session_ends(first.session_id);
  EXPECT_EQ(import_found(machine, session.agent).added, 0u);
  EXPECT_EQ(machine.store.sessions().session_ends(first.session_id)->entries, before->entries);
}

/// The main file is read when it is cut at every byte from `from` on, then whole.
inline void expect_grows(const Session& session, std::size_t from) {
  const std::string& whole = session.there.at(session.main);
  ImportMachine once;
  once.host.files = session.there;
  const std::string id = import_found(once, session.agent).session_id;
  for (std::size_t cut = from; cut <= whole.size(); ++cut) {
    SCOPED_TRACE(cut);
    ImportMachine machine;
    machine.host.files = session.there;
    machine.host.files[session.main] = whole.substr(0, cut);
    EXPECT_EQ(import_found(machine, session.agent).session_id, id);
    machine.host.files[session.main] = whole;
    import_found(machine, session.agent);
    EXPECT_EQ(machine.give(id, session.agent), session.given);
    EXPECT_EQ(machine.said(id), once.said(id));
    EXPECT_EQ(import_found(machine, session.agent).added, 0u);
  }
}

}  // namespace quipu
