// SPDX-License-Identifier: Apache-2.0
// Conversions, hashes, random numbers and files against published or exact
// values.
#include "runtime/base/ElementType.h"
#include "runtime/base/File.h"
#include "runtime/base/FileLock.h"
#include "runtime/base/Float16.h"
#include "runtime/base/Philox.h"
#include "runtime/base/Sha256.h"
#include "runtime/base/StandardStreams.h"
#include "tests/runtime/TemporaryFolder.h"

#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>

using namespace halftone::runtime;
using halftone::test::TemporaryFolder;

namespace {
std::span<const std::byte> bytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(Float16, EveryValueSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float wide = float16ToFloat(static_cast<uint16_t>(bits));
    if (std::isnan(wide))
      EXPECT_TRUE(std::isnan(float16ToFloat(floatToFloat16(wide))));
    else
      ASSERT_EQ(floatToFloat16(wide), bits);
  }
}

TEST(Float16, RoundsToNearestAndTiesToEven) {
  for (uint16_t low = 0; low < 0x7bff; ++low) {
    float a = float16ToFloat(low), b = float16ToFloat(low + 1);
    float middle = (a + b) / 2; // Exact: float32 has room for it.
    ASSERT_EQ(floatToFloat16(middle), low + (low & 1));
    ASSERT_EQ(floatToFloat16(std::nextafter(middle, 0.0f)), low);
    ASSERT_EQ(floatToFloat16(std::nextafter(middle, 1e6f)), low + 1);
    ASSERT_EQ(floatToFloat16(-middle), 0x8000 | (low + (low & 1)));
  }
}

TEST(Float16, OverflowsToInfinityFromHalfAStepAboveTheLargest) {
  EXPECT_EQ(floatToFloat16(65519.996f), 0x7bff);
  EXPECT_EQ(floatToFloat16(65520.0f), 0x7c00);
  EXPECT_EQ(floatToFloat16(-1e30f), 0xfc00);
  EXPECT_EQ(float16ToFloat(0x0001), 0x1p-24f);
  EXPECT_EQ(float16ToFloat(0x3c00), 1.0f);
}

TEST(Bfloat16, RoundsToNearestAndTiesToEven) {
  for (uint32_t low = 0; low < 0x7f7f; ++low) {
    float a = bfloat16ToFloat(static_cast<uint16_t>(low));
    float middle = std::bit_cast<float>((low << 16) | 0x8000u);
    ASSERT_EQ(floatToBfloat16(a), low);
    ASSERT_EQ(floatToBfloat16(middle), low + (low & 1));
    ASSERT_EQ(floatToBfloat16(std::nextafter(middle, 0.0f)), low);
    ASSERT_EQ(floatToBfloat16(std::nextafter(middle, INFINITY)), low + 1);
  }
  EXPECT_EQ(floatToBfloat16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(bfloat16ToFloat(floatToBfloat16(NAN))));
  // A NaN whose payload lies in the dropped bits must not become infinity.
  EXPECT_TRUE(std::isnan(
      bfloat16ToFloat(floatToBfloat16(std::bit_cast<float>(0x7f800001u)))));
}

TEST(Sha256, MatchesThePublishedExamples) {
  EXPECT_EQ(toHex(sha256({})),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(toHex(sha256(bytesOf("abc"))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  std::string million(1'000'000, 'a');
  EXPECT_EQ(toHex(sha256(bytesOf(million))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesGiveTheSameAsTheWhole) {
  std::string text(300, 'x');
  for (size_t cut : {0u, 1u, 55u, 56u, 63u, 64u, 65u, 128u, 299u}) {
    Sha256 hash;
    hash.update(bytesOf(text).first(cut));
    hash.update(bytesOf(text).subspan(cut));
    EXPECT_EQ(hash.finish(), sha256(bytesOf(text))) << cut;
  }
}

TEST(Philox, MatchesTheAuthorsKnownAnswers) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                       {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, NormalDrawsHaveTheMomentsOfANormal) {
  double sum = 0, squares = 0, fourth = 0;
  constexpr int kBlocks = 50000;
  for (int i = 0; i < kBlocks; ++i)
    for (double x : philoxNormal(7, 3, i)) {
      sum += x;
      squares += x * x;
      fourth += x * x * x * x;
    }
  double n = 4.0 * kBlocks;
  // Five standard errors of each moment.
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(fourth / n, 3, 5 * std::sqrt(96 / n));
}

TEST(Shapes, CountsElementsAndNoticesOverflow) {
  EXPECT_EQ(elementCount({}), 1u);
  EXPECT_EQ(elementCount({2, 0, 3}), 0u);
  EXPECT_EQ(elementCount({-1}), std::nullopt);
  EXPECT_EQ(elementCount({INT64_MAX, 3}), std::nullopt);
  EXPECT_EQ(formatShape({2, 3}), "[2, 3]");
}

TEST(Files, AreWrittenWholeOrNotAtAll) {
  TemporaryFolder folder;
  ASSERT_TRUE(
      writeFileAtomically(folder / "a", std::string_view("first")).ok());
  Status status =
      writeFileAtomically(folder / "a", [](const ByteSink &sink) -> Status {
        HALFTONE_RETURN_IF_ERROR(sink(bytesOf("half")));
        return failed("the source broke off");
      });
  EXPECT_EQ(status.message(), "cannot write '" + (folder / "a").string() +
                                  "': the source broke off");
  EXPECT_EQ(halftone::test::readText(folder / "a"), "first");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path),
                          std::filesystem::directory_iterator()),
            1);
  status = writeFileAtomically(folder / "no/such", std::string_view("x"));
  EXPECT_NE(status.message().find("No such file"), std::string::npos);
}

TEST(Files, MissingOnesAreNamed) {
  TemporaryFolder folder;
  Result<MappedFile> file = MappedFile::open(folder / "absent");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), StatusCode::InvalidInput);
  EXPECT_EQ(file.status().message(), "cannot open '" +
                                         (folder / "absent").string() +
                                         "': No such file or directory");
  EXPECT_FALSE(MappedFile::open(folder.path).ok());
  Result<MappedFile> empty = MappedFile::open(folder.write("empty", ""));
  ASSERT_TRUE(empty.ok());
  EXPECT_TRUE(empty->bytes().empty());
}

TEST(FileLock, HasOneHolderAtATime) {
  TemporaryFolder folder;
  {
    Result<std::optional<FileLock>> first = FileLock::tryLock(folder / "lock");
    ASSERT_TRUE(first.ok());
    EXPECT_TRUE(first->has_value());
    Result<std::optional<FileLock>> second = FileLock::tryLock(folder / "lock");
    ASSERT_TRUE(second.ok());
    EXPECT_FALSE(second->has_value());
  }
  Result<std::optional<FileLock>> third = FileLock::tryLock(folder / "lock");
  ASSERT_TRUE(third.ok());
  EXPECT_TRUE(third->has_value());
  EXPECT_FALSE(FileLock::tryLock(folder / "absent/lock").ok());
}

TEST(MappedFile, RefusesWhatIsNoRegularFileWithoutWaiting) {
  TemporaryFolder folder;
  std::filesystem::path pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::filesystem::path &path :
       {pipe, std::filesystem::path("/dev/zero"), folder.path}) {
    Status status = MappedFile::open(path).status();
    EXPECT_EQ(status.code(), StatusCode::InvalidInput);
    EXPECT_EQ(status.message(),
              "cannot read '" + path.string() + "': not a regular file");
  }
}
TEST(StandardStreams, KeepTheirNumbersFromFiles) {
  auto child = [] {
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    holdStandardStreams();
    char byte = 0;
    bool fails = write(STDOUT_FILENO, &byte, 1) < 0 && errno == EBADF &&
                 write(STDERR_FILENO, &byte, 1) < 0 && errno == EBADF &&
                 read(STDIN_FILENO, &byte, 1) < 0 && errno == EBADF;
    _exit(fails && open("/dev/null", O_RDONLY) > STDERR_FILENO ? 0 : 1);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
}

TEST(StandardStreams, StayWhatTheyAre) {
  struct stat before{}, after{};
  ASSERT_EQ(fstat(STDERR_FILENO, &before), 0);
  holdStandardStreams();
  ASSERT_EQ(fstat(STDERR_FILENO, &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

} // namespace
