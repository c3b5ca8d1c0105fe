/* SPDX-License-Identifier: Apache-2.0 */
/* cuDNN, versions 8 and 9. See hook_library.h. The execution of a backend plan is recorded with the contents of
 * its descriptors: the operations, the tensors of the first one, the engine. */
#pragma once

#define CUDNN(X, name, words, shape) X(CALL, CUDNN, name, name, words, shape)
#define CUDNN_NOTE(X, name, words, shape) X(NOTE, CUDNN, name, name, words, shape)

#define HOOK_CUDNN(X) HOOK_CUDNN_DESCRIBE(X) HOOK_CUDNN_CALL(X)

#define HOOK_CUDNN_DESCRIBE(X)                                                                                         \
	CUDNN_NOTE(X, cudnnSetTensor4dDescriptor, 7, DNN_TENSOR_4)                                                     \
	CUDNN_NOTE(X, cudnnSetTensor4dDescriptorEx, 10, DNN_TENSOR_4_EX)                                               \
	CUDNN_NOTE(X, cudnnSetTensorNdDescriptor, 5, DNN_TENSOR_N)                                                     \
	CUDNN_NOTE(X, cudnnSetTensorNdDescriptorEx, 5, DNN_TENSOR_N_EX)                                                \
	CUDNN_NOTE(X, cudnnSetFilter4dDescriptor, 7, DNN_FILTER_4)                                                     \
	CUDNN_NOTE(X, cudnnSetFilterNdDescriptor, 5, DNN_FILTER_N)                                                     \
	CUDNN_NOTE(X, cudnnSetConvolution2dDescriptor, 9, DNN_CONVOLUTION_2)                                           \
	CUDNN_NOTE(X, cudnnSetConvolutionNdDescriptor, 7, DNN_CONVOLUTION_N)                                           \
	X(SET, CUDNN, cudnnSetConvolutionGroupCount, cudnnSetConvolutionGroupCount, 2, library_set_dnn_groups)         \
	CUDNN_NOTE(X, cudnnSetPooling2dDescriptor, 9, DNN_POOLING_2)                                                   \
	CUDNN_NOTE(X, cudnnSetPoolingNdDescriptor, 7, DNN_POOLING_N)                                                   \
	CUDNN_NOTE(X, cudnnSetRNNDescriptor_v8, 15, DNN_RNN)                                                           \
	CUDNN_NOTE(X, cudnnSetRNNDataDescriptor, 8, DNN_RNN_DATA)                                                      \
	CUDNN_NOTE(X, cudnnBackendCreateDescriptor, 2, DNN_BACKEND)                                                    \
	X(SET, CUDNN, cudnnBackendSetAttribute, cudnnBackendSetAttribute, 5, library_set_dnn_backend)

#define HOOK_CUDNN_CALL(X)                                                                                             \
	CUDNN(X, cudnnCreate, 1, NOTHING)                                                                              \
	CUDNN(X, cudnnDestroy, 1, NOTHING)                                                                             \
	CUDNN(X, cudnnBackendFinalize, 1, DNN_FINALIZE)                                                                \
	CUDNN(X, cudnnBackendExecute, 3, DNN_EXECUTE)                                                                  \
	CUDNN(X, cudnnBackendPopulateCudaGraph, 4, DNN_EXECUTE)                                                        \
	CUDNN(X, cudnnBackendUpdateCudaGraph, 4, DNN_EXECUTE)                                                          \
	CUDNN(X, cudnnConvolutionForward, 13, DNN_FORWARD)                                                             \
	CUDNN(X, cudnnConvolutionBiasActivationForward, 18, DNN_FORWARD_BIAS)                                          \
	CUDNN(X, cudnnConvolutionBackwardData, 13, DNN_BACKWARD_DATA)                                                  \
	CUDNN(X, cudnnConvolutionBackwardFilter, 13, DNN_BACKWARD_FILTER)                                              \
	CUDNN(X, cudnnConvolutionBackwardBias, 7, DNN_A3_C6)                                                           \
	CUDNN(X, cudnnFindConvolutionForwardAlgorithm, 8, DNN_FIND_FORWARD)                                            \
	CUDNN(X, cudnnFindConvolutionForwardAlgorithmEx, 13, DNN_FIND_FORWARD_EX)                                      \
	CUDNN(X, cudnnFindConvolutionBackwardDataAlgorithm, 8, DNN_FIND_DATA)                                          \
	CUDNN(X, cudnnFindConvolutionBackwardDataAlgorithmEx, 13, DNN_FIND_DATA_EX)                                    \
	CUDNN(X, cudnnFindConvolutionBackwardFilterAlgorithm, 8, DNN_FIND_FILTER)                                      \
	CUDNN(X, cudnnFindConvolutionBackwardFilterAlgorithmEx, 13, DNN_FIND_FILTER_EX)                                \
	CUDNN(X, cudnnGetConvolutionForwardAlgorithm_v7, 8, DNN_FIND_FORWARD)                                          \
	CUDNN(X, cudnnGetConvolutionBackwardDataAlgorithm_v7, 8, DNN_FIND_DATA)                                        \
	CUDNN(X, cudnnGetConvolutionBackwardFilterAlgorithm_v7, 8, DNN_FIND_FILTER)                                    \
	CUDNN(X, cudnnIm2Col, 6, DNN_IM2COL)                                                                           \
	CUDNN(X, cudnnReorderFilterAndBias, 8, DNN_FILTER_2)                                                           \
	CUDNN(X, cudnnMakeFusedOpsPlan, 4, NOTHING)                                                                    \
	CUDNN(X, cudnnFusedOpsExecute, 3, NOTHING)                                                                     \
	CUDNN(X, cudnnTransformTensor, 7, DNN_A3_C6)                                                                   \
	CUDNN(X, cudnnTransformTensorEx, 8, DNN_A4_C7)                                                                 \
	CUDNN(X, cudnnTransformFilter, 8, DNN_A4_C7)                                                                   \
	CUDNN(X, cudnnAddTensor, 7, DNN_A3_C6)                                                                         \
	CUDNN(X, cudnnOpTensor, 11, DNN_OP_TENSOR)                                                                     \
	CUDNN(X, cudnnReduceTensor, 12, DNN_A8_C11)                                                                    \
	CUDNN(X, cudnnSetTensor, 4, DNN_FILTER_2)                                                                      \
	CUDNN(X, cudnnScaleTensor, 4, DNN_FILTER_2)                                                                    \
	CUDNN(X, cudnnSoftmaxForward, 9, DNN_SOFTMAX)                                                                  \
	CUDNN(X, cudnnSoftmaxBackward, 11, DNN_SOFTMAX_BACKWARD)                                                       \
	CUDNN(X, cudnnPoolingForward, 8, DNN_POOLED)                                                                   \
	CUDNN(X, cudnnPoolingBackward, 12, DNN_POOLED_BACKWARD)                                                        \
	CUDNN(X, cudnnActivationForward, 8, DNN_A4_C7)                                                                 \
	CUDNN(X, cudnnActivationBackward, 12, DNN_A4_C11)                                                              \
	CUDNN(X, cudnnLRNCrossChannelForward, 9, DNN_A5_C8)                                                            \
	CUDNN(X, cudnnLRNCrossChannelBackward, 13, DNN_A5_C12)                                                         \
	CUDNN(X, cudnnDivisiveNormalizationForward, 12, DNN_A5_C11)                                                    \
	CUDNN(X, cudnnDivisiveNormalizationBackward, 14, DNN_A5_C12)                                                   \
	CUDNN(X, cudnnDropoutForward, 8, DNN_A3_C5)                                                                    \
	CUDNN(X, cudnnDropoutBackward, 8, DNN_A3_C5)                                                                   \
	CUDNN(X, cudnnSpatialTfGridGeneratorForward, 4, NOTHING)                                                       \
	CUDNN(X, cudnnSpatialTfGridGeneratorBackward, 4, NOTHING)                                                      \
	CUDNN(X, cudnnSpatialTfSamplerForward, 9, DNN_A4_C8)                                                           \
	CUDNN(X, cudnnSpatialTfSamplerBackward, 14, DNN_A4_C7)                                                         \
	CUDNN(X, cudnnBatchNormalizationForwardInference, 13, DNN_NORM)                                          \
	CUDNN(X, cudnnBatchNormalizationForwardTraining, 15, DNN_NORM)                                           \
	CUDNN(X, cudnnBatchNormalizationForwardTrainingEx, 23, DNN_NORM_EX)                                      \
	CUDNN(X, cudnnBatchNormalizationBackward, 18, DNN_NORM_BACKWARD)                                         \
	CUDNN(X, cudnnBatchNormalizationBackwardEx, 29, DNN_NORM_BACKWARD_EX)                                    \
	CUDNN(X, cudnnNormalizationForwardInference, 20, DNN_NORM_7)                                             \
	CUDNN(X, cudnnNormalizationForwardTraining, 26, DNN_NORM_7)                                              \
	CUDNN(X, cudnnNormalizationBackward, 32, DNN_NORM_9)                                                     \
	CUDNN(X, cudnnRNNForward, 20, DNN_RNN_FORWARD)                                                                 \
	CUDNN(X, cudnnRNNBackwardData_v8, 22, DNN_RNN_BACKWARD)                                                        \
	CUDNN(X, cudnnRNNBackwardWeights_v8, 16, DNN_RNN_WEIGHTS)                                                      \
	CUDNN(X, cudnnMultiHeadAttnForward, 22, NOTHING)                                                               \
	CUDNN(X, cudnnMultiHeadAttnBackwardData, 23, NOTHING)                                                          \
	CUDNN(X, cudnnMultiHeadAttnBackwardWeights, 18, NOTHING)                                                       \
	CUDNN(X, cudnnCTCLoss, 13, NOTHING)                                                                            \
	CUDNN(X, cudnnCTCLoss_v8, 13, NOTHING)

/* A: the input (or its gradient), B: the filter, C: the output. */
#define SHAPES_CUDNN(S)                                                                                                \
	S(DNN_TENSOR_4, KEY_AT(1), ENUM(TYPE, 3), ENUM(DIMENSION, 4), ENUM(DIMENSION, 5), ENUM(DIMENSION, 6),          \
	  ENUM(DIMENSION, 7))                                                                                          \
	S(DNN_TENSOR_4_EX, KEY_AT(1), ENUM(TYPE, 2), ENUM(DIMENSION, 3), ENUM(DIMENSION, 4), ENUM(DIMENSION, 5),       \
	  ENUM(DIMENSION, 6))                                                                                          \
	S(DNN_TENSOR_N, KEY_AT(1), ENUM(TYPE, 2), LIST(DIMENSION, 3, 4))                                               \
	S(DNN_TENSOR_N_EX, KEY_AT(1), ENUM(TYPE, 3), LIST(DIMENSION, 4, 5))                                            \
	S(DNN_FILTER_4, KEY_AT(1), ENUM(TYPE, 2), ENUM(DIMENSION, 4), ENUM(DIMENSION, 5), ENUM(DIMENSION, 6),          \
	  ENUM(DIMENSION, 7))                                                                                          \
	S(DNN_FILTER_N, KEY_AT(1), ENUM(TYPE, 2), LIST(DIMENSION, 4, 5))                                               \
	S(DNN_CONVOLUTION_2, KEY_AT(1), ENUM(PADDING, 2), ENUM(PADDING, 3), ENUM(STEP, 4), ENUM(STEP, 5),              \
	  ENUM(DILATION, 6), ENUM(DILATION, 7), ENUM(MODE, 8), ENUM(COMPUTE, 9))                                       \
	S(DNN_CONVOLUTION_N, KEY_AT(1), LIST(PADDING, 2, 3), LIST(STEP, 2, 4), LIST(DILATION, 2, 5), ENUM(MODE, 6),    \
	  ENUM(COMPUTE, 7))                                                                                            \
	S(DNN_POOLING_2, KEY_AT(1), ENUM(MODE, 2), ENUM_B(DIMENSION, 4), ENUM_B(DIMENSION, 5), ENUM(PADDING, 6),       \
	  ENUM(PADDING, 7), ENUM(STEP, 8), ENUM(STEP, 9))                                                              \
	S(DNN_POOLING_N, KEY_AT(1), ENUM(MODE, 2), LIST_B(DIMENSION, 4, 5), LIST(PADDING, 4, 6), LIST(STEP, 4, 7))     \
	S(DNN_RNN, KEY_AT(1), ENUM(ALGORITHM, 2), ENUM(MODE, 3), ENUM(DIRECTION, 5), ENUM(COMPUTE, 8), ENUM(M, 10),    \
	  ENUM(N, 11), ENUM(K, 13))                                                                                    \
	S(DNN_RNN_DATA, KEY_AT(1), ENUM(TYPE, 2), ENUM(DIMENSION, 4), ENUM(DIMENSION, 5), ENUM(DIMENSION, 6))          \
	S(DNN_BACKEND, KEY_OUT(2), ENUM(KIND, 1))                                                                      \
	S(DNN_FINALIZE, KEY_NONE, OF(NONE, 1))                                                                         \
	S(DNN_EXECUTE, KEY_NONE, OF(NONE, 2))                                                                          \
	S(DNN_FORWARD, KEY_NONE, OF(A, 3), OF(B, 5), OF(C, 12), OF(NONE, 7), ENUM(ALGORITHM, 8))                       \
	S(DNN_FORWARD_BIAS, KEY_NONE, OF(A, 3), OF(B, 5), OF(C, 17), OF(NONE, 7), ENUM(ALGORITHM, 8))                  \
	S(DNN_BACKWARD_DATA, KEY_NONE, OF(A, 12), OF(B, 3), OF(C, 5), OF(NONE, 7), ENUM(ALGORITHM, 8))                 \
	S(DNN_BACKWARD_FILTER, KEY_NONE, OF(A, 3), OF(B, 12), OF(C, 5), OF(NONE, 7), ENUM(ALGORITHM, 8))               \
	S(DNN_FIND_FORWARD, KEY_NONE, OF(A, 2), OF(B, 3), OF(C, 5), OF(NONE, 4))                                       \
	S(DNN_FIND_FORWARD_EX, KEY_NONE, OF(A, 2), OF(B, 4), OF(C, 7), OF(NONE, 6))                                    \
	S(DNN_FIND_DATA, KEY_NONE, OF(A, 5), OF(B, 2), OF(C, 3), OF(NONE, 4))                                          \
	S(DNN_FIND_DATA_EX, KEY_NONE, OF(A, 7), OF(B, 2), OF(C, 4), OF(NONE, 6))                                       \
	S(DNN_FIND_FILTER, KEY_NONE, OF(A, 2), OF(B, 5), OF(C, 3), OF(NONE, 4))                                        \
	S(DNN_FIND_FILTER_EX, KEY_NONE, OF(A, 2), OF(B, 7), OF(C, 4), OF(NONE, 6))                                     \
	S(DNN_IM2COL, KEY_NONE, OF(A, 2), OF(B, 4), OF(NONE, 5))                                                       \
	S(DNN_FILTER_2, KEY_NONE, OF(B, 2))                                                                            \
	S(DNN_A3_C5, KEY_NONE, OF(A, 3), OF(C, 5))                                                                     \
	S(DNN_A3_C6, KEY_NONE, OF(A, 3), OF(C, 6))                                                                     \
	S(DNN_A4_C7, KEY_NONE, OF(A, 4), OF(C, 7))                                                                     \
	S(DNN_A4_C8, KEY_NONE, OF(A, 4), OF(C, 8))                                                                     \
	S(DNN_A4_C11, KEY_NONE, OF(A, 4), OF(C, 11))                                                                   \
	S(DNN_A5_C8, KEY_NONE, OF(A, 5), OF(C, 8))                                                                     \
	S(DNN_A5_C11, KEY_NONE, OF(A, 5), OF(C, 11))                                                                   \
	S(DNN_A5_C12, KEY_NONE, OF(A, 5), OF(C, 12))                                                                   \
	S(DNN_A8_C11, KEY_NONE, OF(A, 8), OF(C, 11))                                                                   \
	S(DNN_OP_TENSOR, KEY_NONE, OF(A, 4), OF(B, 7), OF(C, 10))                                                      \
	S(DNN_SOFTMAX, KEY_NONE, ENUM(ALGORITHM, 2), ENUM(MODE, 3), OF(A, 5), OF(C, 8))                                \
	S(DNN_SOFTMAX_BACKWARD, KEY_NONE, ENUM(ALGORITHM, 2), ENUM(MODE, 3), OF(A, 10), OF(C, 5))                      \
	S(DNN_POOLED, KEY_NONE, OF(NONE, 2), OF(A, 4), OF(C, 7))                                                       \
	S(DNN_POOLED_BACKWARD, KEY_NONE, OF(NONE, 2), OF(A, 11), OF(C, 4))                                             \
	/* positions among the words, without floating-point arguments */                                              \
	S(DNN_NORM, KEY_NONE, ENUM(MODE, 2), OF(A, 5), OF(C, 7))                                                       \
	S(DNN_NORM_EX, KEY_NONE, ENUM(MODE, 2), OF(A, 6), OF(C, 10))                                                   \
	S(DNN_NORM_BACKWARD, KEY_NONE, ENUM(MODE, 2), OF(A, 7), OF(C, 9))                                              \
	S(DNN_NORM_BACKWARD_EX, KEY_NONE, ENUM(MODE, 2), OF(A, 8), OF(C, 12))                                          \
	S(DNN_NORM_7, KEY_NONE, ENUM(MODE, 2), OF(A, 7))                                                               \
	S(DNN_NORM_9, KEY_NONE, ENUM(MODE, 2), OF(A, 9))                                                               \
	S(DNN_RNN_FORWARD, KEY_NONE, OF(NONE, 2), OF(A, 5), OF(C, 7))                                                  \
	S(DNN_RNN_BACKWARD, KEY_NONE, OF(NONE, 2), OF(A, 7), OF(C, 4))                                                 \
	S(DNN_RNN_WEIGHTS, KEY_NONE, OF(NONE, 2), OF(A, 5), OF(C, 9))
