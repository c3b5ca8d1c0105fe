/* SPDX-License-Identifier: Apache-2.0 */
/* A launch and a product that do nothing, so that only the cost of calling them is measured. */
int cuLaunchKernel(void *f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g, unsigned h, void *s,
		   void **p, void **q)
{
	return 0;
}

int cublasSgemm_v2(void *h, int ta, int tb, int m, int n, int k, const float *alpha, const float *a, int lda,
		   const float *b, int ldb, const float *beta, float *c, int ldc)
{
	return 0;
}
