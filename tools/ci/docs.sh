#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Refuses generated documents that are older than their sources.
set -euo pipefail
exec "$(dirname "$0")/../dev/make_docs.py" --check
