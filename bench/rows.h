// The rows, by what they measure. Each function checks that its contenders did
// the same work, and throws CheckFailed when they did not.
#pragma once

#include <string>
#include <vector>

#include "fixture.h"
#include "table.h"

namespace quipu::bench {

std::vector<Row> durable_rows(Fixture& fixture);
std::vector<Row> batch_rows(Fixture& fixture);
std::vector<Row> relaxed_rows(Fixture& fixture);
std::vector<Row> growth_rows(Fixture& fixture);
std::vector<Row> open_rows(Fixture& fixture);
std::vector<Row> process_rows(Fixture& fixture);
std::vector<Row> rebuild_rows(Fixture& fixture);
std::vector<Row> foreign_rows(Fixture& fixture);
std::vector<Row> tree_rows(Fixture& fixture);
std::vector<Row> memory_rows(Fixture& fixture);
std::vector<Row> catalogue_rows(Fixture& fixture);
std::vector<Row> listed_append_rows(Fixture& fixture);
std::vector<Row> events_rows(Fixture& fixture);
std::vector<Row> usage_rows(Fixture& fixture);
std::vector<Row> sqlite_rows(Fixture& fixture);
std::vector<Row> postgres_rows(Fixture& fixture);
std::vector<Row> vector_rows(Fixture& fixture);
std::vector<Row> search_rows(Fixture& fixture);
std::vector<Row> followed_append_rows(Fixture& fixture);
std::vector<Row> import_rows(Fixture& fixture);
/// The other side of the last of them: the sources at a place into a new store.
int run_import_probe(const std::string& store, const std::string& place);
/// The most anonymous memory that this takes, in a process of its own.
double memory_of_import(const std::string& store, const std::string& place);

/// Last of all: adds to the sessions that other rows compare.
std::vector<Row> context_rows(Fixture& fixture);

/// The other side of memory_rows, in a process of its own: does one thing with a
/// session and prints the most anonymous memory that it saw, in bytes.
int run_memory_probe(const std::string& operation, const std::string& store,
                     const std::string& session);

}  // namespace quipu::bench
