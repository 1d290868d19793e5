// Projects: which one a path belongs to, and that they survive being moved.
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "fs/host_files.h"
#include "quipu/project.h"
#include "support/history_store.h"

namespace quipu::test {
namespace {

/// The user's directories: a path is there when it or something below it is.
class FakeHost : public fs::HostFiles {
 public:
  bool exists(const std::string& path) override {
    for (const auto& [name, text] : files) {
      if (name == path || name.starts_with(path + "/")) return true;
    }
    return false;
  }
  Result<std::string> read(const std::string& path, std::size_t) override {
    const auto found = files.find(path);
    if (found == files.end()) return Error(Code::kNotFound, path);
    return found->second;
  }
  std::vector<std::string> shared_places() override { return {"/", "/tmp", "/home/ada/"}; }
  void clone(const std::string& root, const std::string& url) {
    files[root + "/.git/config"] = "[core]\n\turl = no\n[remote \"origin\"]\n\turl = " + url +
                                   "\n[remote \"other\"]\n\turl = https://example.org/other\n";
  }

  std::map<std::string, std::string> files;
};

class ProjectsTest : public testing::TestWithParam<bool> {
 protected:
  ProjectsTest() : store_(open()), projects_(store_, &host_) {}

  std::string url() const { return GetParam() ? "memory:" : "file:" + directory_.path(); }
  Store open() const {
    StoreOptions options;
    options.create = true;
    auto store = Store::open(url(), options);
    if (!store.ok()) std::abort();
    return std::move(store).value();
  }
  std::string resolved(const std::string& path) {
    const auto project = projects_.resolve(path);
    if (!project.ok()) return "!" + project.error().message();
    return project->has_value() ? (*project)->id : "";
  }
  Project ensured(const std::string& path) {
    auto project = projects_.ensure(path);
    EXPECT_TRUE(project.ok());
    return project.ok() ? *project : Project();
  }

  ScratchDir directory_;
  FakeHost host_;
  Store store_;
  Projects projects_;
};

TEST_P(ProjectsTest, NothingUntilOneIsMade) {
  EXPECT_EQ("", resolved("/home/ada"));
  EXPECT_TRUE(projects_.list()->empty());
  EXPECT_EQ(Code::kNotFound, projects_.get("x").error().code());
  EXPECT_EQ(Code::kInvalidArgument, projects_.resolve("relative/path").error().code());
  EXPECT_EQ(Code::kInvalidArgument, projects_.ensure("").error().code());
}

TEST_P(ProjectsTest, WhatHoldsWorkOfAllKindsIsNoProject) {
  for (const char* place : {"/", "/tmp/", "/home/ada", "/home/ada/x/.."}) {
    EXPECT_EQ(Code::kInvalidArgument, projects_.ensure(place).error().code()) << place;
  }
  host_.clone("/home/ada", "https://example.org/dotfiles");
  EXPECT_EQ(Code::kInvalidArgument, projects_.ensure("/home/ada").error().code());
  EXPECT_TRUE(projects_.list()->empty());
  EXPECT_EQ("/home/ada/notes", ensured("/home/ada/notes").root)
      << "everything lies in that repository";
  const Project made = ensured("/tmp/engine");
  EXPECT_EQ("/tmp/engine", made.root);
  EXPECT_EQ(Code::kInvalidArgument, projects_.relocate(made.id, "/tmp").error().code());
}

TEST_P(ProjectsTest, EnsureMakesOneOnceAndItIsNoSession) {
  const Project made = ensured("/home/ada/engine/");
  EXPECT_EQ("/home/ada/engine", made.root);
  EXPECT_EQ("engine", made.name);
  EXPECT_EQ(made, ensured("/home/ada/./engine/src/../lib"));
  EXPECT_EQ(made.id, resolved("/home/ada/engine/src"));
  EXPECT_EQ("", resolved("/home/ada/engine2")) << "a prefix of a name is no directory";
  EXPECT_EQ("", resolved("/home/ada"));
  EXPECT_EQ(1u, projects_.list()->size());
  EXPECT_TRUE(store_.sessions().session_ids()->empty());
  EXPECT_TRUE(store_.sessions().list_sessions({.project = ProjectScope::all()})->items.empty());
}

TEST_P(ProjectsTest, TheDeepestRootWins) {
  const Project outer = ensured("/w");
  host_.clone("/w/inner", "https://example.org/inner");
  EXPECT_EQ(outer.id, resolved("/w/inner/src"));
  const Project inner = ensured("/w/inner/src");
  EXPECT_NE(outer.id, inner.id) << "a repository is a project of its own";
  EXPECT_EQ("/w/inner", inner.root);
  EXPECT_EQ(inner.id, resolved("/w/inner/src"));
  EXPECT_EQ(outer.id, resolved("/w/other"));
}

TEST_P(ProjectsTest, FingerprintHasNoSecrets) {
  host_.clone("/a", "https://ada:token@example.org/team/engine.git");
  EXPECT_EQ("https://example.org/team/engine", ensured("/a/src").fingerprint);
  host_.clone("/b", "git@example.org:team/other.git");
  EXPECT_EQ("git@example.org:team/other", ensured("/b").fingerprint);
  host_.files["/tree/.git"] = "gitdir: /main/.git/worktrees/tree\n";
  host_.files["/main/.git/worktrees/tree/commondir"] = "../..\n";
  host_.clone("/main", "https://example.org/main");
  EXPECT_EQ("https://example.org/main", ensured("/tree").fingerprint);
}

TEST_P(ProjectsTest, RelocateKeepsTheOldRootAsAnAlias) {
  const Project made = ensured("/old");
  const auto moved = projects_.relocate(made.id, "/new/place/");
  ASSERT_TRUE(moved.ok());
  EXPECT_EQ("/new/place", moved->root);
  EXPECT_EQ((std::vector<std::string>{"/old"}), moved->aliases);
  EXPECT_EQ(made.id, resolved("/new/place/src"));
  EXPECT_EQ(made.id, resolved("/old/src"));
  const auto back = projects_.relocate(made.id, "/old");
  EXPECT_EQ("/old", back->root);
  EXPECT_EQ((std::vector<std::string>{"/new/place"}), back->aliases);
  const Project other = ensured("/other");
  EXPECT_EQ(Code::kIdConflict, projects_.relocate(other.id, "/new/place").error().code());
  EXPECT_EQ(Code::kNotFound, projects_.relocate("nobody", "/x").error().code());
}

TEST_P(ProjectsTest, ARepositoryThatMovedIsFoundByItsFingerprint) {
  host_.clone("/old", "https://example.org/engine");
  const Project made = ensured("/old");
  host_.clone("/second", "https://example.org/engine");
  EXPECT_EQ("", resolved("/second")) << "the first is still there: this is another clone";
  host_.files.erase("/old/.git/config");
  EXPECT_EQ(made.id, resolved("/second/src"));
  const Project moved = ensured("/second/src");
  EXPECT_EQ(made.id, moved.id);
  EXPECT_EQ("/second", moved.root);
  EXPECT_EQ((std::vector<std::string>{"/old"}), moved.aliases);
  EXPECT_EQ("", resolved("/third"));
}

TEST_P(ProjectsTest, Rename) {
  const Project made = ensured("/old");
  EXPECT_EQ("A better name", projects_.rename(made.id, "A better name")->name);
  EXPECT_EQ("A better name", projects_.get(made.id)->name);
  EXPECT_EQ("Named", projects_.ensure("/elsewhere", "Named")->name);
}

TEST_P(ProjectsTest, IsolationIsByIdAndSurvivesAMove) {
  const Project one = ensured("/one");
  const Project two = ensured("/two");
  for (const auto& [id, project] : {std::pair("a", one.id), std::pair("b", two.id)}) {
    NewSession session;
    session.id = id;
    session.project_id = project;
    ASSERT_TRUE(store_.sessions().create_session(session).ok());
  }
  ASSERT_TRUE(projects_.relocate(one.id, "/elsewhere").ok());
  const auto page =
      store_.sessions().list_sessions({.project = ProjectScope::of(resolved("/elsewhere"))});
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(1u, page->items.size());
  EXPECT_EQ("a", page->items[0].session_id);
}

TEST_P(ProjectsTest, ManyAtOnceMakeOneProject) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      Projects own(store_, &host_);
      EXPECT_TRUE(own.ensure("/shared/place").ok());
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(1u, projects_.list()->size());
}

TEST_P(ProjectsTest, TheyAreKept) {
  if (GetParam()) return;  // nothing is kept in memory
  const Project made = ensured("/old");
  ASSERT_TRUE(store_.close().ok());
  Store again = open();
  Projects projects(again, &host_);
  EXPECT_EQ((std::vector<Project>{made}), projects.list().value());
}

INSTANTIATE_TEST_SUITE_P(Backends, ProjectsTest, testing::Bool());

}  // namespace
}  // namespace quipu::test
