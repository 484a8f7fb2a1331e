// SPDX-License-Identifier: Apache-2.0
// A call copies the operands that take a detour, runs the plan, and copies the
// result back where it took one too.
#include "runtime/libs/cudnn/ConvolutionCall.h"

#include "runtime/libs/cudnn/ConvolutionRoute.h"

#include <algorithm>

namespace halftone::runtime::cudnn {
namespace {

constexpr uint64_t kAlignment = 256;

int64_t alignmentOf(const void *address) {
  auto bits = reinterpret_cast<uintptr_t>(address);
  uintptr_t lowest = bits & (~bits + 1);
  return lowest == 0 ? kAlignment
                     : static_cast<int64_t>(std::min(lowest, kAlignment));
}

class Call final : public ConvolutionCall {
public:
  Call(Handle &handle, const ConvolutionAddresses &addresses)
      : handle(handle), planAddresses{addresses.x, addresses.w, addresses.y} {}

  /// Fails with StatusCode::Unsupported where the route leads nowhere.
  Status take(const ConvolutionGeometry &geometry, const Route &route);

  uint64_t workspaceBytes() const override {
    return plan->workspaceBytes + detourBytes;
  }
  Status bind(void *workspace) override;
  Status run() override;

private:
  Handle &handle;
  std::array<void *, 3> planAddresses, addresses{};
  std::array<Detour, 3> detours{};
  uint64_t detourBytes = 0;
  Role result = Y;
  std::shared_ptr<ConvolutionPlan> plan;
  std::optional<Descriptor> pack;
};

Status Call::take(const ConvolutionGeometry &geometry, const Route &route) {
  std::array<int64_t, 3> alignment;
  for (Role role : {X, W, Y})
    alignment[role] = alignmentOf(planAddresses[role]);
  Problem problem = problemOf(geometry, route, alignment);
  auto built = handle.plan(problem);
  HALFTONE_RETURN_IF_ERROR(built);
  plan = std::move(*built);
  result = problem.result();
  for (Role role : {X, W, Y}) {
    detours[role] = detourOf(geometry, route, role);
    if (!detours[role].needed)
      continue;
    detourBytes +=
        (detours[role].bytes + kAlignment - 1) / kAlignment * kAlignment;
    HALFTONE_RETURN_IF_ERROR(handle.copier.prepare(
        role == result ? detours[role].out : detours[role].in));
  }
  return {};
}

Status Call::bind(void *workspace) {
  auto *free = static_cast<std::byte *>(workspace);
  for (Role role : {X, W, Y}) {
    addresses[role] = planAddresses[role];
    if (!detours[role].needed)
      continue;
    addresses[role] = free;
    free += (detours[role].bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  pack.emplace(handle.library, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  const std::array<int64_t, 3> ids{X, W, Y};
  pack->set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, std::span<const int64_t>(ids));
  pack->set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
            std::span<void *const>(addresses));
  pack->set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, static_cast<void *>(free));
  return pack->finalize("binding a convolution");
}

Status Call::run() {
  for (Role role : {X, W, Y})
    if (detours[role].needed && role != result)
      HALFTONE_RETURN_IF_ERROR(
          handle.copier.run(detours[role].in, planAddresses[role],
                            addresses[role], handle.stream));
  HALFTONE_RETURN_IF_ERROR(
      toStatus(handle.library,
               handle.library.execute(handle.handle, plan->get(), pack->get()),
               "running a convolution"));
  if (!detours[result].needed)
    return {};
  return handle.copier.run(detours[result].out, addresses[result],
                           planAddresses[result], handle.stream);
}

} // namespace

Result<std::unique_ptr<Handle>> Handle::open(const cuda::Driver &driver,
                                             CUstream stream) {
  auto library = loadLibrary();
  HALFTONE_RETURN_IF_ERROR(library);
  cudnnHandle_t handle = nullptr;
  HALFTONE_RETURN_IF_ERROR(
      toStatus(**library, (*library)->create(&handle), "starting"));
  std::unique_ptr<Handle> opened(new Handle(**library, handle, stream, driver));
  HALFTONE_RETURN_IF_ERROR(toStatus(
      **library, (*library)->setStream(handle, stream), "setting its stream"));
  return opened;
}

Handle::~Handle() {
  plans.clear();
  library.destroy(handle);
}

Result<std::shared_ptr<ConvolutionPlan>> Handle::plan(const Problem &problem) {
  auto found = plans.find(problem);
  if (found == plans.end())
    found = plans.emplace(problem, buildPlan(library, handle, problem)).first;
  return found->second;
}

Result<std::unique_ptr<ConvolutionCall>>
prepareConvolution(Handle &handle, const ConvolutionGeometry &geometry,
                   const ConvolutionAddresses &addresses) {
  Status reason;
  for (const Route &route : routesFor(geometry)) {
    auto call = std::make_unique<Call>(handle, addresses);
    Status status = call->take(geometry, route);
    if (status.ok())
      return std::unique_ptr<ConvolutionCall>(std::move(call));
    if (reason.ok())
      reason = status;
  }
  return reason;
}

} // namespace halftone::runtime::cudnn
