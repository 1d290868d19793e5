// Imports and their sources as JSON.
#pragma once

#include <string>

#include "quipu/export.h"
#include "quipu/import.h"

namespace quipu::cli {

std::string import_report_json(const ImportReport& report);
std::string import_source_json(const ImportSource& source);
std::string export_report_json(const ExportReport& report, const std::vector<std::string>& files);

}  // namespace quipu::cli
