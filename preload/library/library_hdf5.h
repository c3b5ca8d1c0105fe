/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of HDF5: the object of which file they use, and how many bytes they transfer. */
#pragma once

#include "preload/library/library.h"

/* file: the result is the handle of a file. open: that of an object, by a path from the handle in the first argument.
 * use: of the handle in the first argument. close: likewise, and it is not valid any more. */
extern const struct library_body library_hdf5_file HIDDEN;
extern const struct library_body library_hdf5_open HIDDEN;
extern const struct library_body library_hdf5_use HIDDEN;
extern const struct library_body library_hdf5_close HIDDEN;
extern const struct library_body library_hdf5_transfer HIDDEN;
extern const struct library_body library_hdf5_write_chunk HIDDEN;
