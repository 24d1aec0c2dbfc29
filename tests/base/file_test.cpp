// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

namespace convoke {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class File : public testing::Test {
 protected:
  File() {
    std::string name = testing::TempDir() + "convoke-file-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~File() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  std::string folder_;
};

TEST_F(File, ReadsWhatItWrote) {
  std::string bytes(300'000, 'x');
  bytes[5] = '\0';
  ASSERT_TRUE(write_file_whole(path("a"), bytes));
  EXPECT_EQ(read_file(path("a")).value_or(""), bytes);
  ASSERT_TRUE(write_file_whole(path("a"), ""));
  EXPECT_EQ(read_file(path("a")).value_or("?"), "");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(File, RefusesWhatIsTooLong) {
  ASSERT_TRUE(write_file_whole(path("a"), "12345"));
  EXPECT_EQ(read_file(path("a"), 5).value_or(""), "12345");
  const Result<std::string> result = read_file(path("a"), 4);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::io);
  EXPECT_THAT(result.error().message, HasSubstr("4 bytes"));
  EXPECT_FALSE(read_file("/dev/zero", 1000));  // has no size and no end
}

TEST_F(File, SaysWhyItCannotRead) {
  const Result<std::string> missing = read_file(path("none"));
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, testing::AllOf(HasSubstr(path("none")), HasSubstr("No such file")));
  const Result<std::string> folder = read_file(folder_);
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("directory"));
}

TEST_F(File, WritesWholeOrNotAtAll) {
  EXPECT_FALSE(write_file_whole(path("no/such/folder"), "x"));
  EXPECT_FALSE(write_file_whole(folder_, "x"));
  EXPECT_EQ(entries(), 0u);
  ASSERT_TRUE(write_file_whole(path("a"), "old"));
  ASSERT_EQ(::chmod(path("a").c_str(), 0640), 0);
  ASSERT_EQ(::symlink("a", path("link").c_str()), 0);
  ASSERT_TRUE(write_file_whole(path("link"), "new"));
  EXPECT_EQ(read_file(path("a")).value_or(""), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(std::filesystem::status(path("a")).permissions(), std::filesystem::perms{0640});
  EXPECT_TRUE(write_file_whole("/dev/null", "x"));
}

// The disk that fills up, as a limit on file sizes.
TEST_F(File, LeavesNothingOfAWriteThatFails) {
  ASSERT_TRUE(write_file_whole(path("a"), "old"));
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tiny = {100, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tiny), 0);
  const Result<void> result = write_file_whole(path("a"), std::string(200, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::io);
  EXPECT_THAT(result.error().message, HasSubstr("too large"));
  EXPECT_EQ(read_file(path("a")).value_or(""), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(File, ListsOneFolderSorted) {
  for (const char* name : {"b.md", "a.md", "c.txt", "md"}) ASSERT_TRUE(write_file_whole(path(name), "x"));
  std::filesystem::create_directory(path("d.md"));
  EXPECT_THAT(list_files(folder_, ".md").value(), ElementsAre(path("a.md"), path("b.md")));
  EXPECT_THAT(list_files(folder_ + "/", ".txt").value(), ElementsAre(path("c.txt")));
  EXPECT_FALSE(list_files(path("a.md"), ".md"));
  EXPECT_TRUE(is_directory(folder_));
  EXPECT_FALSE(is_directory(path("a.md")));
  EXPECT_FALSE(is_directory(path("none")));
}

}  // namespace
}  // namespace convoke
