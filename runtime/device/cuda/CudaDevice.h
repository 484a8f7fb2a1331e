// SPDX-License-Identifier: Apache-2.0
// GPUs as devices.
#pragma once

#include "runtime/device/Device.h"

namespace halftone::runtime::cuda {

/// The GPUs of this machine, or why there are none. With `libraries`, also the
/// versions of the math libraries (which takes opening them). One that the
/// driver does not describe has no architecture; "auto" says why.
Result<std::vector<DeviceInfo>> describeGpus(bool libraries);
/// One of them, or why it cannot be described.
Result<DeviceInfo> describeGpu(int index);

Result<std::unique_ptr<Device>> openGpu(int index);

/// Refuses GPUs that are too old for any plan.
Status checkArchitecture(int sm, const std::string &gpu);

/// Whether code for `needed` ("sm_90", "sm_90a"; empty: any) runs on a GPU of
/// architecture `sm` (90): PTX runs on its own and on newer ones, that of a
/// single architecture ("a") on its own only.
bool architectureCovers(int sm, const std::string &needed);

} // namespace halftone::runtime::cuda
