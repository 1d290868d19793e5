// Imports and their sources: words that name them, what there is of them, and JSON.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "quipu/export.h"
#include "quipu/import.h"

namespace quipu::cli {

/// Words that are agents, and paths.
FindOptions find_options(const std::vector<std::string>& words);

std::string import_report_json(const ImportReport& report);
std::string import_source_json(const ImportSource& source);
std::string export_report_json(const ExportReport& report, const std::vector<std::string>& files);

/// What there is, an agent a line: how many, how large, how many are imported as they are.
void note_found(const Context& context, const FoundSources& found);

}  // namespace quipu::cli
