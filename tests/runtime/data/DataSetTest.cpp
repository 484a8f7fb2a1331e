// SPDX-License-Identifier: Apache-2.0
// Binding of arrays to a plan's inputs: names, conversions, refusals, padding,
// order.
#include "runtime/data/DataSet.h"
#include "runtime/base/File.h"
#include "runtime/data/BatchOrder.h"
#include "tests/runtime/TemporaryFolder.h"
#include "tests/runtime/data/Arrays.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <set>

using namespace halftone::runtime;
using namespace halftone::test;

namespace {
/// Inputs "x" float32 [2, 3] and "target" int64 [2] in 0..9, -100 ignored.
Plan makePlan() {
  Plan plan{};
  plan.batch = 2;
  plan.arenas = {{"inputs", ArenaKind::Inputs, 4096}};
  plan.buffers = {
      {"x", 0, 0, ElementType::F32, {2, 3}, 6, 24},
      {"target", 0, 256, ElementType::I64, {2}, 2, 16},
      {"weight", 0, 512, ElementType::F32, {2}, 2, 8},
      {"mask", 0, 768, ElementType::Bool, {3}, 3, 3},
      {"token", 0, 1024, ElementType::I32, {2}, 2, 8},
  };
  plan.inputs = {{"x", 0, Input::Kind::Data, 0, 0, {}},
                 {"target", 1, Input::Kind::Target, 0, 9, -100}};
  plan.evalInputs = plan.inputs;
  return plan;
}

class DataSetTest : public ::testing::Test {
protected:
  Result<DataSet> bind(const ArrayMap &arrays, bool needTargets = true) {
    return DataSet::bind(
        arrays, "data.npz", plan, ProgramKind::Train, needTargets,
        [&](const std::string &text) { notices.push_back(text); });
  }

  std::string refusal(const ArrayMap &arrays) {
    Result<DataSet> data = bind(arrays);
    return data.ok() ? "" : data.status().message();
  }

  template <typename T>
  std::vector<T> gather(const DataSet &data, size_t input,
                        const std::vector<int64_t> &rows) {
    std::vector<T> values(plan.buffers[plan.inputs[input].buffer].elements);
    data.gather(input, rows, reinterpret_cast<std::byte *>(values.data()));
    return values;
  }

  ArrayMap good() {
    return {{"x", floats({3, 3}, {0, 1, 2, 10, 11, 12, 20, 21, 22})},
            {"target", integers({3}, {4, 5, -100})}};
  }

  Plan plan = makePlan();
  std::vector<std::string> notices;
};

TEST_F(DataSetTest, GathersRowsInAnyOrder) {
  Result<DataSet> data = bind(good());
  ASSERT_TRUE(data.ok()) << data.status().message();
  EXPECT_EQ(data->rows(), 3);
  EXPECT_EQ(gather<float>(*data, 0, {2, 0}),
            (std::vector<float>{20, 21, 22, 0, 1, 2}));
  EXPECT_EQ(gather<int64_t>(*data, 1, {1, 2}), (std::vector<int64_t>{5, -100}));
  EXPECT_TRUE(notices.empty());
  EXPECT_FALSE(data->isFixed(0));
}

TEST_F(DataSetTest, PaddingRepeatsTheFirstRowAndIsIgnored) {
  Result<DataSet> data = bind(good());
  ASSERT_TRUE(data.ok());
  EXPECT_TRUE(data->canMask());
  EXPECT_EQ(gather<float>(*data, 0, {1, kNoRow}),
            (std::vector<float>{10, 11, 12, 0, 1, 2}));
  EXPECT_EQ(gather<int64_t>(*data, 1, {1, kNoRow}),
            (std::vector<int64_t>{5, -100}));
  // Two rows, one label of them ignored; padding counts nothing.
  EXPECT_EQ(data->lossElements(std::vector<int64_t>{1, 2}), 1u);
  EXPECT_EQ(data->lossElements(std::vector<int64_t>{0, kNoRow}), 1u);
}

TEST_F(DataSetTest, RowWeightsComeFromTheRows) {
  plan.inputs.push_back({"w", 2, Input::Kind::RowWeight, 0, 0, {}});
  Result<DataSet> data = bind(good());
  ASSERT_TRUE(data.ok()) << data.status().message();
  EXPECT_EQ(gather<float>(*data, 2, {2, kNoRow}), (std::vector<float>{1, 0}));
}

TEST_F(DataSetTest, ConvertsWithANotice) {
  ArrayMap arrays{
      {"x", arrayOf<double>(DataType::F64, {2, 3}, {1, 2, 3, 4, 5, 0.1})},
      {"target", arrayOf<int32_t>(DataType::I32, {2, 1}, {1, 2})}};
  Result<DataSet> data = bind(arrays);
  ASSERT_TRUE(data.ok()) << data.status().message();
  EXPECT_EQ(notices, (std::vector<std::string>{
                         "array 'x' is converted from float64 to float32",
                         "array 'target': [2, 1] is used as [2]",
                         "array 'target' is converted from int32 to int64"}));
  EXPECT_EQ(gather<float>(*data, 0, {0, 1})[5], 0.1f);
  EXPECT_EQ(gather<int64_t>(*data, 1, {0, 1}), (std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(data->isFixed(0)); // A single batch.
}

TEST_F(DataSetTest, ConvertsBytesToFloats) {
  ArrayMap arrays = good();
  arrays["x"] =
      arrayOf<uint8_t>(DataType::U8, {3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 255});
  Result<DataSet> data = bind(arrays);
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(gather<float>(*data, 0, {2, 0}),
            (std::vector<float>{6, 7, 255, 0, 1, 2}));
}

TEST_F(DataSetTest, TheOnlyInputTakesAnyName) {
  ArrayMap arrays = good();
  arrays["pictures"] = arrays["x"];
  arrays.erase("x");
  EXPECT_EQ(refusal(arrays), "");
  arrays["more"] = arrays["pictures"];
  EXPECT_EQ(refusal(arrays),
            "data.npz does not fit the plan: there is no array for input 'x': "
            "expected float32 [N, 3], found 'more' (float32 [3, 3]), "
            "'pictures' (float32 [3, 3]), 'target' (int64 [3])");
}

TEST_F(DataSetTest, UnusedArraysAreTold) {
  ArrayMap arrays = good();
  arrays["other"] = floats({1}, {1});
  EXPECT_EQ(refusal(arrays), "");
  EXPECT_EQ(notices, (std::vector<std::string>{
                         "array 'other' of data.npz is not an input of this "
                         "plan and is not used"}));
}

TEST_F(DataSetTest, RefusesShapesAndTypesTogether) {
  ArrayMap arrays = good();
  arrays["x"] = floats({3, 4}, std::vector<float>(12));
  arrays["target"] = floats({3}, {0, 1, 2});
  EXPECT_EQ(refusal(arrays),
            "data.npz does not fit the plan:\n"
            "  array 'x': expected float32 [N, 3], found float32 [3, 4]\n"
            "  array 'target': expected int64 [N], found float32 [3]");
}

TEST_F(DataSetTest, RefusesLabelsOutOfRange) {
  ArrayMap arrays = good();
  arrays["target"] = integers({3}, {0, 10, 1});
  EXPECT_EQ(refusal(arrays),
            "data.npz does not fit the plan: array 'target' has the value 10 "
            "in row 1; allowed are 0 to 9 or -100 (ignored)");
  arrays["target"] = integers({3}, {0, -1, 1});
  EXPECT_NE(refusal(arrays).find("has the value -1 in row 1"),
            std::string::npos);
}

// Columns that index tables of their own, one that is not used.
TEST_F(DataSetTest, BoundsPartsOfARow) {
  plan.buffers.push_back({"ids", 0, 2048, ElementType::I64, {2, 3}, 6, 48});
  plan.inputs.push_back(
      {"ids", 5, Input::Kind::Data, 0, 0, {}, {{0, 1, -6, 5}, {2, 3, -10, 9}}});
  ArrayMap arrays = good();
  arrays["ids"] = integers({3, 3}, {5, 99, 9, -6, -99, -10, 0, 0, 0});
  EXPECT_EQ(refusal(arrays), "");
  arrays["ids"] = integers({3, 3}, {5, 99, 9, 6, -99, -10, 0, 0, 0});
  EXPECT_EQ(refusal(arrays),
            "data.npz does not fit the plan: array 'ids' has the value 6 in "
            "row 1, element 0; allowed are -6 to 5");
  arrays["ids"] = integers({3, 3}, {5, 99, 9, 0, -99, 10, 0, 0, 0});
  EXPECT_EQ(refusal(arrays),
            "data.npz does not fit the plan: array 'ids' has the value 10 in "
            "row 1, element 2; allowed are -10 to 9");
}

TEST_F(DataSetTest, RefusesNumbersThatDoNotFitInt32) {
  plan.inputs.push_back({"token", 4, Input::Kind::Data, 0, 0, {}});
  ArrayMap arrays = good();
  arrays["token"] = integers({3}, {1, 2, int64_t(1) << 40});
  EXPECT_EQ(refusal(arrays),
            "data.npz does not fit the plan: array 'token' has the value "
            "1099511627776 in row 2; allowed are -2147483648 to 2147483647");
}

TEST_F(DataSetTest, RefusesMissingTargetsUnlessTheyAreNotNeeded) {
  ArrayMap arrays = good();
  arrays.erase("target");
  EXPECT_EQ(refusal(arrays),
            "data.npz does not fit the plan: there is no array for 'target': "
            "expected int64 [N], found 'x' (float32 [3, 3])");
  Result<DataSet> data = bind(arrays, false);
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(gather<int64_t>(*data, 1, {0, 1}),
            (std::vector<int64_t>{-100, -100}));
}

TEST_F(DataSetTest, RefusesDifferentNumbersOfRows) {
  ArrayMap arrays = good();
  arrays["target"] = integers({2}, {0, 1});
  EXPECT_EQ(refusal(arrays), "data.npz does not fit the plan: array 'target' "
                             "has 2 rows, 'x' has 3");
  arrays = {{"x", floats({0, 3}, {})}, {"target", integers({0}, {})}};
  EXPECT_EQ(refusal(arrays),
            "data.npz does not fit the plan: array 'x' has no rows");
}

TEST_F(DataSetTest, InputsWithoutRowsAreTakenWhole) {
  plan.inputs.push_back({"mask", 3, Input::Kind::Data, 0, 0, {}});
  ArrayMap arrays = good();
  arrays["mask"] = arrayOf<uint8_t>(DataType::Bool, {3}, {1, 0, 1});
  Result<DataSet> data = bind(arrays);
  ASSERT_TRUE(data.ok()) << data.status().message();
  EXPECT_TRUE(data->isFixed(2));
  EXPECT_EQ(gather<uint8_t>(*data, 2, {0, 1}), (std::vector<uint8_t>{1, 0, 1}));
}

TEST(BatchOrder, EachEpochVisitsEveryRowOnceAndDropsTheRest) {
  BatchOrder order(10, 3, 42, true);
  EXPECT_EQ(order.batchesPerEpoch(), 3);
  std::set<int64_t> seen;
  for (int step = 0; step < 3; ++step)
    for (int64_t row : order.batchOf(step))
      seen.insert(row);
  EXPECT_EQ(seen.size(), 9u);
  EXPECT_NE(order.batchOf(0), order.batchOf(3)); // Another epoch.
}

TEST(BatchOrder, DependsOnSeedAndStepAlone) {
  BatchOrder forward(100, 10, 7, true), again(100, 10, 7, true),
      other(100, 10, 8, true);
  for (int step = 0; step < 15; ++step)
    forward.batchOf(step);
  EXPECT_EQ(forward.batchOf(12), again.batchOf(12));
  EXPECT_NE(again.batchOf(12), other.batchOf(12));
}

TEST(BatchOrder, OneBatchAndNoShuffleKeepTheOrder) {
  EXPECT_EQ(BatchOrder(3, 3, 1, true).batchOf(5),
            (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(BatchOrder(6, 2, 1, false).batchOf(4),
            (std::vector<int64_t>{2, 3}));
}

TEST(Shuffle, IsUniformEnough) {
  // Where row 0 lands, over many epochs: each of 5 places equally often, within
  // five standard deviations.
  std::array<int, 5> counts{};
  constexpr int kEpochs = 5000;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    std::vector<int64_t> rows = shuffledRows(5, 3, epoch);
    ++counts[std::ranges::find(rows, 0) - rows.begin()];
  }
  double sigma = std::sqrt(kEpochs * 0.2 * 0.8);
  for (int count : counts)
    EXPECT_NEAR(count, kEpochs * 0.2, 5 * sigma);
}
TEST_F(DataSetTest, HasAFingerprintOfWhatIsRead) {
  std::string fingerprint = bind(good())->fingerprint();
  EXPECT_EQ(fingerprint.size(), 64u);
  ArrayMap arrays = good();
  arrays["unused"] = floats({1}, {1});
  EXPECT_EQ(bind(arrays)->fingerprint(), fingerprint);
  arrays["target"] = integers({3}, {4, 6, -100});
  EXPECT_NE(bind(arrays)->fingerprint(), fingerprint);
  arrays = good();
  arrays["target"] = arrayOf<int32_t>(DataType::I32, {3}, {4, 5, -100});
  EXPECT_NE(bind(arrays)->fingerprint(), fingerprint);
}

// A file with a hole: nothing of its size is stored or, in between, read.
TEST_F(DataSetTest, ReadsPiecesOfLargeArraysForTheFingerprint) {
  TemporaryFolder folder;
  std::filesystem::path path = folder / "large";
  folder.write("large", "");
  const uint64_t rows = DataSet::kHashedBytes / 12 + 4096, size = rows * 12;
  std::filesystem::resize_file(path, size);
  auto fingerprint = [&] {
    Result<MappedFile> file = MappedFile::open(path);
    HostArray x{DataType::F32,
                {int64_t(rows), 3},
                file->bytes(),
                std::make_shared<MappedFile>(*file)};
    return bind({{"x", x}}, /*needTargets=*/false)->fingerprint();
  };
  auto poke = [&](uint64_t offset) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put('x');
  };
  std::set<std::string> seen{fingerprint()};
  for (uint64_t offset : {uint64_t(0), size - 1}) {
    poke(offset);
    EXPECT_TRUE(seen.insert(fingerprint()).second) << offset;
  }
}

} // namespace
