# SPDX-License-Identifier: Apache-2.0
contexts = 0


def synchronize():
    global contexts
    contexts += 1
