/* SPDX-License-Identifier: Apache-2.0 */
/* HDF5: calls on files, groups, datasets and attributes. See hook_library.h. Before 1.10 handles have 32 bits: calls
 * are recorded without names and bytes. Not recorded: H5Idec_ref, by which h5py closes datasets, because most of its
 * calls are of other handles; asynchronous calls (H5Dread_async, ...), which return before they have read. */
#pragma once

#define HDF5(X, name, words, body) X(OWN, HDF5, name, name, words, library_hdf5_##body)

#define HOOK_HDF5(X)                                                                                                   \
	HDF5(X, H5Fcreate, 4, file)                                                                                    \
	HDF5(X, H5Fopen, 3, file)                                                                                      \
	X(SET, HDF5, H5Freopen, H5Freopen, 1, library_hdf5_file)                                                       \
	X(SET, HDF5, H5Iget_file_id, H5Iget_file_id, 1, library_hdf5_file)                                             \
	HDF5(X, H5Fflush, 2, use)                                                                                      \
	HDF5(X, H5Fclose, 1, close)                                                                                    \
	HDF5(X, H5Gcreate1, 3, open)                                                                                   \
	HDF5(X, H5Gcreate2, 5, open)                                                                                   \
	HDF5(X, H5Gopen1, 2, open)                                                                                     \
	HDF5(X, H5Gopen2, 3, open)                                                                                     \
	HDF5(X, H5Oopen, 3, open)                                                                                      \
	HDF5(X, H5Dcreate1, 5, open)                                                                                   \
	HDF5(X, H5Dcreate2, 7, open)                                                                                   \
	HDF5(X, H5Dopen1, 2, open)                                                                                     \
	HDF5(X, H5Dopen2, 3, open)                                                                                     \
	HDF5(X, H5Dread, 6, transfer)                                                                                  \
	HDF5(X, H5Dwrite, 6, transfer)                                                                                 \
	HDF5(X, H5Dread_chunk, 5, use)                                                                                 \
	HDF5(X, H5Dread_chunk1, 5, use)                                                                                \
	HDF5(X, H5Dread_chunk2, 6, use)                                                                                \
	HDF5(X, H5Dwrite_chunk, 6, write_chunk)                                                                        \
	HDF5(X, H5Dread_multi, 6, use)                                                                                 \
	HDF5(X, H5Dwrite_multi, 6, use)                                                                                \
	HDF5(X, H5Dset_extent, 2, use)                                                                                 \
	HDF5(X, H5Dflush, 1, use)                                                                                      \
	HDF5(X, H5Dclose, 1, close)                                                                                    \
	HDF5(X, H5Acreate1, 5, open)                                                                                   \
	HDF5(X, H5Acreate2, 6, open)                                                                                   \
	HDF5(X, H5Aopen, 3, open)                                                                                      \
	HDF5(X, H5Aread, 3, use)                                                                                       \
	HDF5(X, H5Awrite, 3, use)

#define SHAPES_HDF5(S)
