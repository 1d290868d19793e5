// pi: one JSONL file a session, a tree of entries; versions 0 to 3.
#pragma once

#include "dialect/dialect.h"

namespace quipu::dialect::pi {

class Pi final : public Dialect {
 public:
  std::string_view name() const override { return "pi"; }
  std::vector<std::string> places(const Machine& machine) const override;
  bool recognises(const std::string& path, std::string_view head) const override;
  Result<std::unique_ptr<Reader>> open(const Source& source, fs::HostFiles& files,
                                       const ReadPosition& from) const override;
  bool leads(std::string_view kind) const override;
  void lift(std::string_view kind, std::string_view payload, Lifted& into) const override;
  void note(std::string_view kind, std::string_view payload, Note& into) const override;
  Result<Written> write(const Transcript& transcript) const override;
};

}  // namespace quipu::dialect::pi
