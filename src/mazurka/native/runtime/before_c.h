/* Included before each C and C++ file: what the compiler would do in place is called, so that it is
   seen. */
#ifdef __cplusplus
extern "C" {
#endif
void *mazurka_memcpy(void *, const void *, __SIZE_TYPE__) __asm__("memcpy");
void *mazurka_memmove(void *, const void *, __SIZE_TYPE__) __asm__("memmove");
void *mazurka_memset(void *, int, __SIZE_TYPE__) __asm__("memset");
#ifdef __cplusplus
}
#endif
#define __builtin_memcpy mazurka_memcpy
#define __builtin_memmove mazurka_memmove
#define __builtin_memset mazurka_memset
