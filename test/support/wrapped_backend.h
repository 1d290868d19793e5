// Backends around another one: what goes through them is counted, refused or lost.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace quipu::test {

/// Hands everything on. To be derived from.
class WrappedBackend : public Backend {
 public:
  explicit WrappedBackend(std::shared_ptr<Backend> inner) : inner_(std::move(inner)) {}

  const std::string& store_id() const override { return inner_->store_id(); }
  Filler filler() override { return inner_->filler(); }
  Result<std::vector<std::string>> list() override { return inner_->list(); }
  Result<std::vector<SurveyedLog>> survey() override { return inner_->survey(); }
  Result<SurveyedLog> survey(const std::string& id) override { return inner_->survey(id); }
  Result<std::vector<std::string>> list_system() override { return inner_->list_system(); }
  Result<void> drop_system(const std::string& id) override { return inner_->drop_system(id); }
  Result<void> create(const std::string& id, std::span<const std::string> entries) override {
    return inner_->create(id, entries);
  }
  Result<SessionHeader> header(const std::string& id) override { return inner_->header(id); }
  Result<std::shared_ptr<const LogView>> view(const std::string& id,
                                              std::shared_ptr<const Ancestry> inherited) override {
    return inner_->view(id, std::move(inherited));
  }
  Result<AppendResult> append(const std::string& id, const Batch& batch,
                              const AppendOptions& options) override {
    return inner_->append(id, batch, options);
  }
  Result<void> settle(const std::string& id) override { return inner_->settle(id); }
  AttachmentStore& attachments() override { return inner_->attachments(); }
  Result<MigrationResult> migrate(const std::string& id) override { return inner_->migrate(id); }
  Result<VerifyReport> verify(const std::string& id) override { return inner_->verify(id); }
  Result<RepairReport> repair(const std::string& id) override { return inner_->repair(id); }
  Result<std::vector<DumpLine>> dump(const std::string& id) override { return inner_->dump(id); }
  Result<void> close() override { return inner_->close(); }

 private:
  std::shared_ptr<Backend> inner_;
};

/// One log whose entries are counted when they are looked at.
class CountingView : public LogView {
 public:
  CountingView(std::shared_ptr<const LogView> view, std::uint64_t& looked)
      : view_(std::move(view)), looked_(looked) {}
  const FoldState& fold() const override { return view_->fold(); }
  std::uint64_t settled_bytes() const override { return view_->settled_bytes(); }
  std::uint32_t damaged() const override { return view_->damaged(); }
  Result<StoredEntry> entry(Ordinal own) const override {
    ++looked_;
    return view_->entry(own);
  }
  Result<std::vector<Placement>> places() const override {
    looked_ += fold().count;
    return view_->places();
  }
  Result<std::string> id(Ordinal own) const override { return view_->id(own); }
  Result<std::optional<Ordinal>> find(std::string_view id) const override {
    return view_->find(id);
  }

 private:
  std::shared_ptr<const LogView> view_;
  std::uint64_t& looked_;
};

/// Counts the entries that readers look at. Must outlive what it gives out.
class CountingBackend : public WrappedBackend {
 public:
  using WrappedBackend::WrappedBackend;
  Result<std::shared_ptr<const LogView>> view(const std::string& id,
                                              std::shared_ptr<const Ancestry> inherited) override {
    auto view = WrappedBackend::view(id, std::move(inherited));
    if (!view.ok()) return view;
    return std::shared_ptr<const LogView>(
        std::make_shared<CountingView>(std::move(view).value(), looked));
  }

  std::uint64_t looked = 0;
};

}  // namespace quipu::test
