/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PILLION_HOOK_CUDART_H
#define PILLION_HOOK_CUDART_H
#define HOOK_CUDART(X)
#endif
