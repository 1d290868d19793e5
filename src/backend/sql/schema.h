// The schema of a store in a database: what it is made of, and how an older one becomes
// this one. docs/sql.md describes the tables.
#pragma once

#include <span>

#include "sql/upgrade.h"

namespace quipu::sqlstore {

/// The versions of the schema, oldest first. One that was released is never changed.
std::span<const sql::Version> versions();

}  // namespace quipu::sqlstore
