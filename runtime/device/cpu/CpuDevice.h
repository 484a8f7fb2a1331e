// SPDX-License-Identifier: Apache-2.0
// The CPU as a device: everything that is queued is done at once.
#pragma once

#include "runtime/device/Device.h"

namespace halftone::runtime::cpu {

DeviceInfo describeCpu();

Result<std::unique_ptr<Device>> openCpu();

} // namespace halftone::runtime::cpu
