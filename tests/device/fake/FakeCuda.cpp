// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 that keeps its memory on the host and runs no kernel: faults
// of a driver and of a GPU can be had anywhere. HALFTONE_FAKE_CUDA says which,
// in words separated by blanks: version=N, gpus=N, sm=N, memory=BYTES,
// fail=FUNCTION:COUNT:ERROR (the COUNTth call of FUNCTION gives ERROR; after an
// error that ends a context so does every later call), behind (no event has
// passed when it is asked about, so that the host runs ahead), and counts=PATH
// (the process ends with a file of the functions called, each with the number
// of its calls).
#include <cuda.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace {

struct Settings {
  int version = 13000, gpus = 1, sm = 90, count = 0, error = 0;
  size_t memory = size_t{8} << 30;
  bool behind = false;
  std::string function, counts;

  Settings() {
    const char *text = std::getenv("HALFTONE_FAKE_CUDA");
    std::string words = text ? text : "";
    for (size_t at = 0; at < words.size();) {
      size_t end = std::min(words.find(' ', at), words.size());
      read(words.substr(at, end - at));
      at = end + 1;
    }
  }

private:
  void read(const std::string &word) {
    char name[64] = "";
    if (std::sscanf(word.c_str(), "fail=%63[^:]:%d:%d", name, &count, &error) ==
        3)
      function = name;
    std::sscanf(word.c_str(), "version=%d", &version);
    std::sscanf(word.c_str(), "gpus=%d", &gpus);
    std::sscanf(word.c_str(), "sm=%d", &sm);
    std::sscanf(word.c_str(), "memory=%zu", &memory);
    behind = behind || word == "behind";
    if (constexpr std::string_view kCounts = "counts=";
        word.starts_with(kCounts))
      counts = word.substr(kCounts.size());
  }
};

void writeCounts();

struct State {
  State() {
    if (!settings.counts.empty())
      std::atexit(writeCounts);
  }

  std::mutex mutex;
  Settings settings;
  std::map<std::string_view, size_t> counts; ///< Of calls, by function.
  int calls = 0; ///< Of the function that is to fail.
  CUresult ended = CUDA_SUCCESS;
  size_t used = 0;
  std::map<void *, size_t> blocks;
};

State &state() {
  static State *state = new State; // Outlives the exit handlers that use it.
  return *state;
}

void writeCounts() {
  std::FILE *file = std::fopen(state().settings.counts.c_str(), "w");
  if (!file)
    return;
  for (auto [function, count] : state().counts)
    std::fprintf(file, "%s %zu\n", function.data(), count);
  std::fclose(file);
}

bool endsContext(int error) {
  return error >= 700 || error == 214 || error == 46;
}

/// What a call of `function` answers before it does anything.
CUresult begin(const char *function) {
  State &s = state();
  std::lock_guard lock(s.mutex);
  ++s.counts[function];
  if (s.ended != CUDA_SUCCESS)
    return s.ended;
  if (function != s.settings.function || ++s.calls != s.settings.count)
    return CUDA_SUCCESS;
  auto error = static_cast<CUresult>(s.settings.error);
  if (endsContext(s.settings.error))
    s.ended = error;
  return error;
}

/// Success of a call that does nothing else.
CUresult only(const char *function) { return begin(function); }

/// A handle that means nothing.
template <typename Handle> CUresult make(const char *function, Handle *handle) {
  if (CUresult result = begin(function))
    return result;
  *handle = reinterpret_cast<Handle>(new char);
  return CUDA_SUCCESS;
}

template <typename Handle> CUresult drop(const char *function, Handle handle) {
  delete reinterpret_cast<char *>(handle);
  return begin(function);
}

void *host(CUdeviceptr address) { return reinterpret_cast<void *>(address); }

CUresult copy(const char *function, void *to, const void *from, size_t bytes) {
  if (CUresult result = begin(function))
    return result;
  std::memmove(to, from, bytes);
  return CUDA_SUCCESS;
}

template <typename Word>
CUresult fill(const char *function, CUdeviceptr to, Word value, size_t count) {
  if (CUresult result = begin(function))
    return result;
  for (size_t i = 0; i < count; ++i)
    std::memcpy(static_cast<char *>(host(to)) + i * sizeof value, &value,
                sizeof value);
  return CUDA_SUCCESS;
}

CUresult allocate(void **block, size_t bytes) {
  State &s = state();
  std::lock_guard lock(s.mutex);
  if (s.used + bytes > s.settings.memory)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *block = std::calloc(1, bytes);
  s.blocks[*block] = bytes;
  s.used += bytes;
  return CUDA_SUCCESS;
}

void release(void *block) {
  State &s = state();
  std::lock_guard lock(s.mutex);
  s.used -= s.blocks[block];
  s.blocks.erase(block);
  std::free(block);
}

/// A function is the number of its arguments, one up.
CUfunction functionOf(size_t arguments) {
  return reinterpret_cast<CUfunction>(arguments + 1);
}

} // namespace

// cuda.h renames functions that have newer versions, so that __func__ is the
// exported name. A cubin here is the PTX text that it came from.
extern "C" {

CUresult cuInit(unsigned) {
  if (CUresult result = begin(__func__))
    return result;
  return state().settings.gpus ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}
CUresult cuDriverGetVersion(int *version) {
  *version = state().settings.version;
  return begin(__func__);
}
CUresult cuGetErrorName(CUresult, const char **text) {
  *text = "CUDA_ERROR_MADE_UP";
  (void)begin(__func__);
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char **text) {
  *text = "made up";
  (void)begin(__func__);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int *count) {
  *count = state().settings.gpus;
  return begin(__func__);
}
CUresult cuDeviceGet(CUdevice *device, int index) {
  *device = index;
  return begin(__func__);
}
CUresult cuDeviceGetName(char *name, int size, CUdevice) {
  std::snprintf(name, static_cast<size_t>(size), "a GPU that is not there");
  return begin(__func__);
}
CUresult cuDeviceTotalMem(size_t *bytes, CUdevice) {
  *bytes = state().settings.memory;
  return begin(__func__);
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice) {
  int sm = state().settings.sm;
  *value = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? sm / 10
           : which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? sm % 10
                                                                   : 1;
  return begin(__func__);
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
  // The device's one, however often it is retained.
  *context = reinterpret_cast<CUcontext>(&state());
  return begin(__func__);
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) { return only(__func__); }
CUresult cuCtxSetCurrent(CUcontext) { return only(__func__); }
CUresult cuMemGetInfo(size_t *free, size_t *total) {
  *total = state().settings.memory;
  *free = *total - state().used;
  return begin(__func__);
}
CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
  if (CUresult result = begin(__func__))
    return result;
  void *block = nullptr;
  CUresult result = allocate(&block, bytes);
  *address = reinterpret_cast<CUdeviceptr>(block);
  return result;
}
CUresult cuMemFree(CUdeviceptr address) {
  release(host(address));
  return begin(__func__);
}
CUresult cuMemHostAlloc(void **block, size_t bytes, unsigned) {
  if (CUresult result = begin(__func__))
    return result;
  *block = std::calloc(1, bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void *block) {
  std::free(block);
  return begin(__func__);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t n,
                           CUstream) {
  return copy(__func__, host(to), from, n);
}
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t n, CUstream) {
  return copy(__func__, to, host(from), n);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t n,
                           CUstream) {
  return copy(__func__, host(to), host(from), n);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char v, size_t n, CUstream) {
  return fill(__func__, to, v, n);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short v, size_t n,
                          CUstream) {
  return fill(__func__, to, v, n);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned v, size_t n, CUstream) {
  return fill(__func__, to, v, n);
}
CUresult cuMemsetD2D32Async(CUdeviceptr, size_t, unsigned, size_t, size_t,
                            CUstream) {
  return only(__func__);
}
CUresult cuStreamCreate(CUstream *stream, unsigned) {
  return make(__func__, stream);
}
CUresult cuStreamDestroy(CUstream stream) { return drop(__func__, stream); }
CUresult cuStreamSynchronize(CUstream) { return only(__func__); }
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned) {
  return only(__func__);
}
CUresult cuStreamBeginCapture(CUstream, CUstreamCaptureMode) {
  return only(__func__);
}
CUresult cuStreamEndCapture(CUstream, CUgraph *graph) {
  return make(__func__, graph);
}
CUresult cuEventCreate(CUevent *event, unsigned) {
  return make(__func__, event);
}
CUresult cuEventDestroy(CUevent event) { return drop(__func__, event); }
CUresult cuEventRecord(CUevent, CUstream) { return only(__func__); }
CUresult cuEventQuery(CUevent) {
  if (CUresult result = begin(__func__))
    return result;
  return state().settings.behind ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent) { return only(__func__); }
CUresult cuLinkCreate(unsigned, CUjit_option *, void **, CUlinkState *link) {
  if (CUresult result = begin(__func__))
    return result;
  *link = reinterpret_cast<CUlinkState>(new std::string);
  return CUDA_SUCCESS;
}
CUresult cuLinkAddData(CUlinkState link, CUjitInputType, void *text,
                       size_t size, const char *, unsigned, CUjit_option *,
                       void **) {
  reinterpret_cast<std::string *>(link)->assign(static_cast<char *>(text),
                                                size - 1);
  return begin(__func__);
}
CUresult cuLinkComplete(CUlinkState link, void **code, size_t *size) {
  auto *text = reinterpret_cast<std::string *>(link);
  *code = text->data();
  *size = text->size();
  return begin(__func__);
}
CUresult cuLinkDestroy(CUlinkState link) {
  delete reinterpret_cast<std::string *>(link);
  return begin(__func__);
}
CUresult cuModuleLoadDataEx(CUmodule *module, const void *code, unsigned,
                            CUjit_option *, void **) {
  if (CUresult result = begin(__func__))
    return result;
  *module = reinterpret_cast<CUmodule>(
      new std::string(static_cast<const char *>(code)));
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
  delete reinterpret_cast<std::string *>(module);
  return begin(__func__);
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                             const char *name) {
  if (CUresult result = begin(__func__))
    return result;
  const std::string &text = *reinterpret_cast<std::string *>(module);
  size_t at = text.find(".entry " + std::string(name) + "(");
  if (at == std::string::npos)
    return CUDA_ERROR_NOT_FOUND;
  size_t arguments = 0, end = text.find(')', at);
  while ((at = text.find(".param", at + 1)) < end)
    ++arguments;
  *function = functionOf(arguments);
  return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute, CUfunction) {
  *value = 1024;
  return begin(__func__);
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) {
  return only(__func__);
}
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset,
                            size_t *size) {
  if (CUresult result = begin(__func__))
    return result;
  if (functionOf(index) >= function)
    return CUDA_ERROR_INVALID_VALUE;
  *offset = 8 * index;
  *size = 8;
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned,
                        unsigned, unsigned, unsigned, CUstream, void **,
                        void **) {
  return only(__func__);
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec *graph, CUgraph,
                                     unsigned long long) {
  return make(__func__, graph);
}
CUresult cuGraphLaunch(CUgraphExec, CUstream) { return only(__func__); }
CUresult cuGraphDestroy(CUgraph graph) { return drop(__func__, graph); }
CUresult cuGraphExecDestroy(CUgraphExec graph) { return drop(__func__, graph); }
} // extern "C"
