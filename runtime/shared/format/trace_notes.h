/* SPDX-License-Identifier: Apache-2.0 */
/* Notes: sentences of the recorder and the launcher for the ledger. A note that the report does not only print begins
 * with the words of its code, which are its encoding in the file. */
#pragma once

#define TF_NOTE_NO_SAMPLES "CPU samples: none" /* then the reason, after ", " or " " */
#define TF_NOTE_DISK_FULL "disk full"
#define TF_NOTE_FILE_LIMIT "RLIMIT_FSIZE"
#define TF_NOTE_NO_PROC "/proc"
#define TF_NOTE_NO_DEVICE_TIMES "no device times: "

/* X(code) */
#define TF_NOTES(X) X(NO_SAMPLES) X(DISK_FULL) X(FILE_LIMIT) X(NO_PROC) X(NO_DEVICE_TIMES)
