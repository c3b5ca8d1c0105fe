/* SPDX-License-Identifier: Apache-2.0 */
/* Compares pillion's declarations of NVTX's binary interface with NVIDIA's headers. */
#include <criterion/criterion.h>

#include "preload/nvtx/nvtx.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
#define SAME_FIELD(ours, theirs)                                                                                       \
	_Static_assert(offsetof(struct nvtx_attributes, ours) == offsetof(nvtxEventAttributes_t, theirs), #ours);      \
	_Static_assert(sizeof((struct nvtx_attributes){0}.ours) == sizeof((nvtxEventAttributes_t){0}.theirs), #ours)

Test(nvtx, slots_are_those_of_the_headers)
{
	SAME(NVTX_EXPORT_CALLBACKS, NVTX_ETID_CALLBACKS);
	SAME(NVTX_CORE, NVTX_CB_MODULE_CORE);
	SAME(NVTX_CORE2, NVTX_CB_MODULE_CORE2);
	SAME(NVTX_MARK_EX, NVTX_CBID_CORE_MarkEx);
	SAME(NVTX_MARK_A, NVTX_CBID_CORE_MarkA);
	SAME(NVTX_MARK_W, NVTX_CBID_CORE_MarkW);
	SAME(NVTX_START_EX, NVTX_CBID_CORE_RangeStartEx);
	SAME(NVTX_START_A, NVTX_CBID_CORE_RangeStartA);
	SAME(NVTX_START_W, NVTX_CBID_CORE_RangeStartW);
	SAME(NVTX_END, NVTX_CBID_CORE_RangeEnd);
	SAME(NVTX_PUSH_EX, NVTX_CBID_CORE_RangePushEx);
	SAME(NVTX_PUSH_A, NVTX_CBID_CORE_RangePushA);
	SAME(NVTX_PUSH_W, NVTX_CBID_CORE_RangePushW);
	SAME(NVTX_POP, NVTX_CBID_CORE_RangePop);
	SAME(NVTX_NAME_CATEGORY_A, NVTX_CBID_CORE_NameCategoryA);
	SAME(NVTX_NAME_CATEGORY_W, NVTX_CBID_CORE_NameCategoryW);
	SAME(NVTX_NAME_THREAD_A, NVTX_CBID_CORE_NameOsThreadA);
	SAME(NVTX_NAME_THREAD_W, NVTX_CBID_CORE_NameOsThreadW);
}

Test(nvtx, slots_of_domains_are_those_of_the_headers)
{
	SAME(NVTX_DOMAIN_MARK_EX, NVTX_CBID_CORE2_DomainMarkEx);
	SAME(NVTX_DOMAIN_START_EX, NVTX_CBID_CORE2_DomainRangeStartEx);
	SAME(NVTX_DOMAIN_END, NVTX_CBID_CORE2_DomainRangeEnd);
	SAME(NVTX_DOMAIN_PUSH_EX, NVTX_CBID_CORE2_DomainRangePushEx);
	SAME(NVTX_DOMAIN_POP, NVTX_CBID_CORE2_DomainRangePop);
	SAME(NVTX_DOMAIN_NAME_CATEGORY_A, NVTX_CBID_CORE2_DomainNameCategoryA);
	SAME(NVTX_DOMAIN_NAME_CATEGORY_W, NVTX_CBID_CORE2_DomainNameCategoryW);
	SAME(NVTX_DOMAIN_REGISTER_A, NVTX_CBID_CORE2_DomainRegisterStringA);
	SAME(NVTX_DOMAIN_REGISTER_W, NVTX_CBID_CORE2_DomainRegisterStringW);
	SAME(NVTX_DOMAIN_CREATE_A, NVTX_CBID_CORE2_DomainCreateA);
	SAME(NVTX_DOMAIN_CREATE_W, NVTX_CBID_CORE2_DomainCreateW);
	SAME(NVTX_DOMAIN_DESTROY, NVTX_CBID_CORE2_DomainDestroy);
	SAME(NVTX_DOMAIN_INITIALIZE, NVTX_CBID_CORE2_Initialize);
}

Test(nvtx, event_attributes_lie_as_in_the_headers)
{
	_Static_assert(sizeof(struct nvtx_attributes) == sizeof(nvtxEventAttributes_t), "size");
	SAME_FIELD(version, version);
	SAME_FIELD(size, size);
	SAME_FIELD(category, category);
	SAME_FIELD(color_type, colorType);
	SAME_FIELD(color, color);
	SAME_FIELD(payload_type, payloadType);
	SAME_FIELD(payload, payload);
	SAME_FIELD(message_type, messageType);
	SAME_FIELD(message, message);
	SAME(NVTX_ARGB, NVTX_COLOR_ARGB);
	SAME(NVTX_ASCII, NVTX_MESSAGE_TYPE_ASCII);
	SAME(NVTX_UNICODE, NVTX_MESSAGE_TYPE_UNICODE);
	SAME(NVTX_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);
	_Static_assert(sizeof(struct nvtx_callbacks) == sizeof(NvtxExportTableCallbacks), "size");
}

#if __has_include(<nvtx3/nvToolsExtPayload.h>) && __has_include(<nvtx3/nvToolsExtCounters.h>)
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>

#define SAME_STRUCT(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(theirs), #ours)
#define SAME_MEMBER(ours, our_member, theirs, their_member)                                                            \
	_Static_assert(offsetof(struct ours, our_member) == offsetof(theirs, their_member), #our_member)

Test(nvtx, extensions_are_those_of_the_headers)
{
	SAME_STRUCT(nvtx_payload, nvtxPayloadData_t);
	SAME_MEMBER(nvtx_payload, bytes, nvtxPayloadData_t, payload);
	SAME_STRUCT(nvtx_schema, nvtxPayloadSchemaAttr_t);
	SAME_MEMBER(nvtx_schema, entries, nvtxPayloadSchemaAttr_t, entries);
	SAME_MEMBER(nvtx_schema, alignment, nvtxPayloadSchemaAttr_t, packAlign);
	SAME_MEMBER(nvtx_schema, id, nvtxPayloadSchemaAttr_t, schemaId);
	SAME_STRUCT(nvtx_schema_entry, nvtxPayloadSchemaEntry_t);
	SAME_MEMBER(nvtx_schema_entry, detail, nvtxPayloadSchemaEntry_t, arrayOrUnionDetail);
	SAME_MEMBER(nvtx_schema_entry, offset, nvtxPayloadSchemaEntry_t, offset);
	SAME_STRUCT(nvtx_enum, nvtxPayloadEnumAttr_t);
	SAME_MEMBER(nvtx_enum, id, nvtxPayloadEnumAttr_t, schemaId);
	SAME_STRUCT(nvtx_enum_entry, nvtxPayloadEnum_t);
	SAME_MEMBER(nvtx_enum_entry, is_flag, nvtxPayloadEnum_t, isFlag);
	SAME_STRUCT(nvtx_scope, nvtxScopeAttr_t);
	SAME_STRUCT(nvtx_counter, nvtxCounterAttr_t);
	SAME_MEMBER(nvtx_counter, semantics, nvtxCounterAttr_t, semantics);
	SAME_STRUCT(nvtx_counter_batch, nvtxCounterBatch_t);
	SAME_STRUCT(nvtx_semantics, nvtxSemanticsHeader_t);
	SAME_MEMBER(nvtx_counter_semantics, unit, nvtxSemanticsCounter_t, unit);
	SAME_STRUCT(nvtx_extension_module, nvtxExtModuleInfo_t);
	SAME_STRUCT(nvtx_segment, nvtxExtModuleSegment_t);
	SAME_STRUCT(nvtx_resource, nvtxResourceAttributes_t);
	SAME(NVTX_PAYLOAD_EXTENDED, NVTX_PAYLOAD_TYPE_EXT);
	SAME(NVTX_EXTENSION_PAYLOAD, NVTX_EXT_PAYLOAD_MODULEID);
	SAME(NVTX_EXTENSION_COUNTER, NVTX_EXT_COUNTERS_MODULEID);
	SAME(NVTX_PAYLOAD_END, NVTX3EXT_CBID_nvtxRangeEndPayload);
	SAME(NVTX_DOMAIN_IS_ENABLED, NVTX3EXT_CBID_nvtxDomainIsEnabled);
	SAME(NVTX_SCOPE_REGISTER, NVTX3EXT_CBID_nvtxScopeRegister);
	SAME(NVTX_EVENT_BATCH_SUBMIT, NVTX3EXT_CBID_nvtxEventBatchSubmit);
	SAME(NVTX_COUNTER_NO_VALUE, NVTX3EXT_CBID_nvtxCounterSampleNoValue);
	SAME(NVTX_COUNTER_BATCH, NVTX3EXT_CBID_nvtxCounterBatchSubmit);
	SAME(NVTX_NAME_CU_EVENT_W, NVTX_CBID_CUDA_NameCuEventW);
	SAME(NVTX_NAME_CUDA_EVENT_W, NVTX_CBID_CUDART_NameCudaEventW);
}
#endif
#else
Test(nvtx, slots_are_those_of_the_headers)
{
	cr_skip_test("no NVTX headers on this machine");
}
#endif
