// SPDX-License-Identifier: Apache-2.0
// Reads /proc, the control group and LLVM's view of the processor.
#include "runtime/device/cpu/HostCpu.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <sstream>
#include <unistd.h>

namespace halftone::runtime::cpu {
namespace {

llvm::StringMap<bool> hostFeatures() { return llvm::sys::getHostCPUFeatures(); }

/// The value after "key:" in a file of such lines.
std::string fieldOf(const char *path, const std::string &key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key))
      if (size_t colon = line.find(':'); colon != std::string::npos)
        if (size_t text = line.find_first_not_of(" \t", colon + 1);
            text != std::string::npos)
          return line.substr(text);
  return {};
}

std::optional<uint64_t> numberIn(const char *path) {
  std::ifstream file(path);
  uint64_t value = 0;
  if (file >> value)
    return value;
  return std::nullopt; // "max", or no such file.
}

/// The number at the end of "x86-64-vN"; 0 for other names.
int levelNumber(const std::string &level) {
  constexpr std::string_view kPrefix = "x86-64-v";
  if (!level.starts_with(kPrefix) || level.size() != kPrefix.size() + 1)
    return 0;
  return level.back() - '0';
}

} // namespace

std::string processorName() {
  std::string name = fieldOf("/proc/cpuinfo", "model name");
  return name.empty() ? llvm::sys::getHostCPUName().str() : name;
}

std::string featureLevel() {
  llvm::Triple triple(llvm::sys::getProcessTriple());
  if (triple.getArch() != llvm::Triple::x86_64)
    return triple.getArchName().str();
  // Each level also needs the ones before; representative extensions suffice.
  const std::array<std::array<const char *, 4>, 3> levels{
      {{"sse3", "ssse3", "sse4.2", "popcnt"},
       {"avx2", "bmi2", "f16c", "fma"},
       {"avx512f", "avx512bw", "avx512dq", "avx512vl"}}};
  llvm::StringMap<bool> features = hostFeatures();
  int level = 1;
  for (const auto &needed : levels) {
    if (!std::all_of(needed.begin(), needed.end(),
                     [&](const char *name) { return features.lookup(name); }))
      break;
    ++level;
  }
  return "x86-64-v" + std::to_string(level);
}

bool levelCovers(const std::string &have, const std::string &needed) {
  if (needed.empty() || needed == have)
    return true;
  int number = levelNumber(needed);
  return number > 0 && number <= levelNumber(have);
}

std::string notableFeatures() {
  llvm::StringMap<bool> features = hostFeatures();
  std::string text;
  for (const char *name :
       {"avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512vl", "avx512bf16",
        "avx512fp16", "amx-bf16", "neon", "sve", "bf16"})
    if (features.lookup(name))
      text += (text.empty() ? "" : " ") + std::string(name);
  return text;
}

uint64_t totalMemory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint64_t availableMemory() {
  uint64_t available = totalMemory();
  std::istringstream field(fieldOf("/proc/meminfo", "MemAvailable"));
  if (uint64_t kib = 0; field >> kib)
    available = kib * 1024;
  if (auto limit = numberIn("/sys/fs/cgroup/memory.max")) {
    uint64_t used = numberIn("/sys/fs/cgroup/memory.current").value_or(0);
    available = std::min(available, *limit > used ? *limit - used : 0);
  }
  return available;
}

} // namespace halftone::runtime::cpu
