// SPDX-License-Identifier: Apache-2.0
// halftone-run as users and scripts call it: exit codes, messages, the last
// line of stdout, what lies in the run's folder.
#include "runtime/base/Sha256.h"
#include "tests/runtime/ProgramFixture.h"

using namespace halftone::test;

namespace {
TEST_F(ProgramTest, TrainLeavesWhatTheContractNames) {
  Outcome outcome =
      run("train linear.plan --data data.npz --epochs 2 --out run");
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_NE(outcome.error.find("note: 7 rows make 3 batches of 2; each epoch "
                               "leaves out 1 of the shuffled rows"),
            std::string::npos);
  json last = outcome.last();
  EXPECT_EQ(last["steps"], 6);
  EXPECT_EQ(last["applied"], 6);
  EXPECT_EQ(last["skipped"], 0);
  EXPECT_EQ(last["loss"].size(), 6u);
  EXPECT_EQ(last["final_loss"], last["loss"][5]);
  EXPECT_GT(last["peak_bytes"], 0);
  EXPECT_GT(last["steps_per_second"], 0);
  std::vector<json> metrics = lines("run/metrics.jsonl");
  ASSERT_EQ(metrics.size(), 6u);
  for (const char *key :
       {"step", "loss", "lr", "scale", "applied", "grad_norm", "step_ms"})
    EXPECT_TRUE(metrics[0].contains(key)) << key;
  EXPECT_EQ(metrics[5]["step"], 6);
  EXPECT_EQ(metrics[5]["loss"], last["loss"][5]);
  EXPECT_TRUE(readSafetensors(folder / "run/weights.safetensors").ok());
  EXPECT_TRUE(
      std::filesystem::exists(folder / "run/checkpoint/checkpoint.json"));
}

TEST_F(ProgramTest, TwoRunsAreEqualAndResumeGoesOnBitForBit) {
  std::string train = "train linear.plan --data data.npz --seed 5 --steps ";
  ASSERT_EQ(run(train + "8 --out a").code, 0);
  ASSERT_EQ(run(train + "8 --out b").code, 0);
  std::string weights = readText(folder / "a/weights.safetensors");
  EXPECT_EQ(weights, readText(folder / "b/weights.safetensors"));
  ASSERT_EQ(run(train + "4 --out c").code, 0);
  EXPECT_NE(weights, readText(folder / "c/weights.safetensors"));
  Outcome outcome =
      run("train linear.plan --data data.npz --steps 8 --resume c");
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(outcome.last()["steps"], 8);
  EXPECT_EQ(outcome.last()["loss"].size(), 4u);
  EXPECT_EQ(weights, readText(folder / "c/weights.safetensors"));
  EXPECT_EQ(lines("c/metrics.jsonl").size(), 8u);
  ASSERT_EQ(
      run("train linear.plan --data data.npz --seed 6 --steps 8 --out d").code,
      0);
  EXPECT_NE(weights, readText(folder / "d/weights.safetensors"));
}

TEST_F(ProgramTest, OutFoldersAreNotOverwrittenByAccident) {
  std::string train = "train linear.plan --data batch.npz --steps 1 ";
  ASSERT_EQ(run(train + "--out run").code, 0);
  Outcome outcome = run(train + "--out run");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.error,
            "halftone-run: error: the folder 'run' is not empty; use --resume "
            "run to go on, --overwrite to start anew, or another --out\n");
  EXPECT_EQ(run(train + "--out run --overwrite").code, 0);
  EXPECT_EQ(lines("run/metrics.jsonl").size(), 1u);
  EXPECT_EQ(run(train).last()["out"], "runs/linear-001");
  EXPECT_EQ(run(train).last()["out"], "runs/linear-002");
  outcome = run(train + "--resume nowhere");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.error, "halftone-run: error: 'nowhere' holds no checkpoint "
                           "to resume from; start a run without --resume\n");
  outcome = run(train + "--resume run --seed 99");
  EXPECT_EQ(outcome.error,
            "halftone-run: error: the run to resume has seed 1, not 99\n");
  outcome = run("train linear.plan --data data.npz --resume run");
  EXPECT_TRUE(outcome.error.ends_with(
      "halftone-run: error: the run to resume was trained on 2 rows in batches "
      "of 2, data.npz has 7 rows and the plan batches of 2\n"));
}

TEST_F(ProgramTest, ResumeWantsTheDataOfTheRun) {
  std::string train = "train linear.plan --out run --steps ";
  ASSERT_EQ(run(train + "4 --data data.npz").code, 0);
  std::string weights = readText(folder / "run/weights.safetensors");
  std::string resume = "train linear.plan --resume run --steps ";
  write("other.npz", std::vector<float>(21, 1), 0);
  Outcome outcome = run(resume + "6 --data other.npz");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(outcome.error.ends_with(
      "halftone-run: error: the run to resume was trained on other data than "
      "other.npz holds now; resume with the data it began with, or start "
      "another run from its weights with --weights\n"))
      << outcome.error;
  EXPECT_EQ(weights, readText(folder / "run/weights.safetensors"));
  // The same arrays in a file of another kind.
  Result<ArrayMap> arrays = readNpz(folder / "data.npz");
  ASSERT_TRUE(arrays.ok());
  std::vector<SafetensorsEntry> entries;
  for (const auto &[name, array] : *arrays)
    entries.push_back(makeEntry(name, array.type, array.shape, array.bytes));
  ASSERT_TRUE(writeSafetensors(folder / "same.safetensors", entries).ok());
  outcome = run(resume + "6 --data same.safetensors");
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  outcome = run(resume + "8 --data other.npz");
  EXPECT_EQ(outcome.code, 2);
  outcome = run("train linear.plan --data other.npz --steps 1 --weights "
                "run/weights.safetensors --out on");
  EXPECT_EQ(outcome.code, 0) << outcome.error;
}

/// A checkpoint as it was written before it named its data.
void forgetData(const std::filesystem::path &path) {
  auto json = nlohmann::ordered_json::parse(readText(path), nullptr, false);
  json.erase("data");
  json.erase("sha256");
  std::string text = json.dump(2);
  json["sha256"] = toHex(sha256(std::as_bytes(std::span<const char>(text))));
  std::ofstream(path) << json.dump(2) << "\n";
}

TEST_F(ProgramTest, RefusedInputLeavesNothingBehind) {
  Outcome outcome = run("train linear.plan --data absent.npz --out run");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.error, "halftone-run: error: cannot open 'absent.npz': No "
                           "such file or directory\n");
  write("short.npz", {1, 2, 3}, 0);
  outcome = run("train linear.plan --data short.npz --out run");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.error.find("short.npz has 1 rows, fewer than one batch of "
                               "2; compile the plan with a smaller batch"),
            std::string::npos);
  outcome = run("train linear.plan --data data.npz --device cuda:77 --out run");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.error.find("no device 'cuda:77'"), std::string::npos);
  folder.write("broken.plan", readText(folder / "linear.plan") + "x");
  outcome = run("train broken.plan --data data.npz --out run");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.error.find("broken.plan: the plan is damaged"),
            std::string::npos);
  EXPECT_EQ(run("train linear.plan --data data.npz --steps 1 --epochs 1").code,
            2);
  EXPECT_EQ(run("train linear.plan --data data.npz --steps 0").code, 2);
  EXPECT_EQ(run("train linear.plan").code, 2);
  EXPECT_EQ(run("nonsense").code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
  EXPECT_FALSE(std::filesystem::exists(folder / "runs"));
}

/// Whether they stop the run or the run ends first.
TEST_F(ProgramTest, ARunOfSkippedStepsHasTrainedNothing) {
  for (int steps : {1, 20}) {
    std::string name = "run" + std::to_string(steps);
    Outcome outcome = run("train linear.plan --data bad.npz --steps " +
                          std::to_string(steps) + " --out " + name);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.error,
              "halftone-run: error: nothing was trained: each of the " +
                  std::to_string(std::min(steps, 5)) +
                  " steps was skipped, because its gradients were not finite: "
                  "no such value was found when the step was repeated (the "
                  "loss scale is 1)\n");
    std::vector<json> metrics = lines(name + "/metrics.jsonl");
    ASSERT_EQ(metrics.size(), static_cast<size_t>(std::min(steps, 5)));
    EXPECT_EQ(metrics.back()["applied"], false);
    EXPECT_FALSE(exists(name + "/weights.safetensors"));
  }
}

TEST_F(ProgramTest, SkippedStepsStopARunAndKeepWhatItHad) {
  ASSERT_EQ(run("train linear.plan --data batch.npz --steps 3 --out run").code,
            0);
  std::string weights = readText(folder / "run/weights.safetensors");
  forgetData(folder / "run/checkpoint/checkpoint.json");
  Outcome outcome =
      run("train linear.plan --data bad.npz --steps 20 --resume run");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(weights, readText(folder / "run/weights.safetensors"));
  outcome = run("train linear.plan --data batch.npz --steps 4 --resume run");
  EXPECT_EQ(outcome.code, 0) << outcome.error;
}

TEST_F(ProgramTest, EvalWithoutAFiniteLossFails) {
  write("nan.npz", {1, 2, 3, 3, NAN, 5}, 0);
  Outcome outcome = run("eval linear.plan --data nan.npz --weights .");
  EXPECT_EQ(outcome.code, 2);
  ASSERT_EQ(run("train linear.plan --data batch.npz --steps 1 --out run").code,
            0);
  outcome = run("eval linear.plan --data nan.npz --weights run");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(outcome.error.ends_with(
      "halftone-run: error: there is no finite loss: the first value that is "
      "not finite is in the data, input 'x'; mend the data\n"))
      << outcome.error;
  EXPECT_EQ(outcome.out, "");
}

TEST_F(ProgramTest, EvaluatesWhileTraining) {
  write("val.npz", {1, 0, 0, 0, 1, 0}, 0);
  Outcome outcome = run("train linear.plan --data data.npz --val val.npz "
                        "--eval-every 2 --steps 5 --out run");
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  std::vector<json> validation = lines("run/validation.jsonl");
  ASSERT_EQ(validation.size(), 3u);
  EXPECT_EQ(validation[1]["step"], 4);
  EXPECT_EQ(outcome.last()["validation"], validation[2]);
  // The same weights give the same loss from their folder.
  Outcome eval = run("eval linear.plan --data val.npz --weights run");
  ASSERT_EQ(eval.code, 0) << eval.error;
  EXPECT_EQ(eval.last()["loss"], validation[2]["loss"]);
  EXPECT_EQ(eval.last()["count"], 2);
  // Evaluating leaves no trace, also where a single batch stays on the device.
  ASSERT_EQ(
      run("train linear.plan --data batch.npz --steps 5 --out plain").code, 0);
  ASSERT_EQ(run("train linear.plan --data batch.npz --val val.npz "
                "--eval-every 1 --steps 5 --out mixed")
                .code,
            0);
  EXPECT_EQ(readText(folder / "plain/weights.safetensors"),
            readText(folder / "mixed/weights.safetensors"));
  outcome = run("train linear.plan --data data.npz --eval-every 2 --out x");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.error, "halftone-run: error: --eval-every needs --val\n");
}

TEST_F(ProgramTest, GradsWritesLossAndGradients) {
  Outcome outcome = run("grads linear.plan --data batch.npz --out grads.npz");
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  Result<ArrayMap> arrays = readNpz(folder / "grads.npz");
  ASSERT_TRUE(arrays.ok());
  EXPECT_EQ(toFloats(arrays->at("grad.w")), (std::vector<float>{2, 3, 4}));
  EXPECT_EQ(arrays->at("grad.w").shape, (Shape{3, 1}));
  EXPECT_EQ(arrays->at("loss").shape, Shape{});
  EXPECT_EQ(arrays->size(), 3u);
  outcome = run("grads linear.plan --data batch.npz --out no/grads.npz");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.error, "halftone-run: error: cannot write 'no/grads.npz': "
                           "the folder 'no' does not exist\n");
}

TEST_F(ProgramTest, PredictsAllRows) {
  Outcome outcome = run("predict linear.plan --data data.npz --out p.npz");
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(outcome.last()["rows"], 7);
  Result<ArrayMap> arrays = readNpz(folder / "p.npz");
  ASSERT_TRUE(arrays.ok());
  EXPECT_EQ(arrays->at("y").shape, (Shape{7, 1}));
}

TEST_F(ProgramTest, ResultsOfUntrainedWeightsAreTold) {
  std::string text = "note: without --weights these are the plan's initial "
                     "weights, which nothing has trained\n";
  ASSERT_EQ(run("train linear.plan --data data.npz --steps 1 --out run").code,
            0);
  for (const char *command : {"eval", "predict"}) {
    std::string arguments =
        std::string(command) + " linear.plan --data data.npz --out p.npz";
    EXPECT_NE(run(arguments).error.find(text), std::string::npos) << command;
    EXPECT_EQ(run(arguments + " --weights run").error.find(text),
              std::string::npos)
        << command;
  }
}

TEST_F(ProgramTest, WhatIsThereIsNotWrittenOverByAccident) {
  std::string predict = "predict linear.plan --data data.npz ";
  ASSERT_EQ(run(predict).code, 0);
  std::string before = readText(folder / "predictions.npz");
  Outcome outcome = run(predict + "--seed 7");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.error,
            "halftone-run: error: 'predictions.npz' is there already; name a "
            "file with --out, or allow it with --overwrite\n");
  EXPECT_EQ(readText(folder / "predictions.npz"), before);
  EXPECT_EQ(run(predict + "--seed 7 --overwrite").code, 0);
  EXPECT_NE(readText(folder / "predictions.npz"), before);
  for (const char *name : {"data.npz", "linear.plan"}) {
    before = readText(folder / name);
    outcome = run(predict + "--out ./" + name);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.error, std::string("halftone-run: error: cannot write "
                                         "'./") +
                                 name + "': it is what is read\n");
    EXPECT_EQ(readText(folder / name), before);
  }
}

TEST_F(ProgramTest, MemoryIsAskedForBeforeItIsTaken) {
  // 2 x 2^36 floats of data, 2^36 of w: half a terabyte and more.
  ASSERT_TRUE(writePlan(makeLinearPlan({.features = int64_t(1) << 36}),
                        folder / "huge.plan")
                  .ok());
  Outcome outcome = run("bench huge.plan");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(outcome.error.starts_with("halftone-run: error: the plan needs "))
      << outcome.error;
  EXPECT_TRUE(outcome.error.ends_with(" are free; use a smaller batch\n"))
      << outcome.error;
}

TEST_F(ProgramTest, BenchPrintsOneRow) {
  Outcome outcome = run("bench linear.plan --warmup 0 --steps 3 --by-node");
  // The made-up 'skip' is not 0, so that steps count as skipped; five of them
  // would stop the run.
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  json last = outcome.last();
  for (const char *key :
       {"model", "system", "device", "precision", "batch", "ms_median",
        "ms_mean", "ms_min", "samples_per_s", "peak_mib", "skipped"})
    EXPECT_TRUE(last.contains(key)) << key;
  EXPECT_EQ(last["system"], "halftone");
  EXPECT_EQ(last["skipped"], 3);
}

TEST_F(ProgramTest, TraceWritesAFileAStep) {
  Outcome outcome = run("trace linear.plan --data batch.npz --out trace");
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(outcome.last()["steps"], 10);
  EXPECT_TRUE(readSafetensors(folder / "trace/00009.safetensors").ok());
  EXPECT_EQ(run("trace linear.plan --data batch.npz --out trace").code, 2);
}

TEST_F(ProgramTest, OptionsOfLaterVersionsSayThatTheyAreNotThere) {
  Outcome outcome =
      run("train linear.plan --data batch.npz --profile trace.json");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.error,
            "halftone-run: error: --profile is not available yet\n");
}

TEST_F(ProgramTest, DevicesAndVersion) {
  Outcome outcome = run("devices --json");
  ASSERT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.last()["devices"][0]["id"], "cpu");
  outcome = run("--version");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(outcome.out.starts_with("halftone-run "));
  EXPECT_NE(outcome.out.find("cpu: "), std::string::npos);
  EXPECT_EQ(run("--help").code, 0);
}

TEST_F(ProgramTest, AnInterruptionFinishesTheStepAndSaves) {
  Outcome outcome = run("train linear.plan --data batch.npz --steps 100000000 "
                        "--out run >/dev/null & pid=$!; "
                        "for i in $(seq 400); do "
                        "[ -s run/metrics.jsonl ] && break; sleep 0.05; done; "
                        "kill -INT $pid; wait $pid");
  EXPECT_EQ(outcome.code, 130);
  EXPECT_TRUE(std::filesystem::exists(folder / "run/weights.safetensors"));
  json saved = json::parse(readText(folder / "run/checkpoint/checkpoint.json"),
                           nullptr, false);
  EXPECT_EQ(saved["step"], lines("run/metrics.jsonl").size());
}
} // namespace
