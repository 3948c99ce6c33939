"""Which functions of the C library a program may call that our runtime does not have.

These touch nothing but their arguments' values, or memory that is the caller's alone. Whatever is
not here and not in the runtime is refused by its name: it might block, or have state that threads
share.
"""

MATHEMATICS = """
    acos acosf asin asinf atan atan2 atan2f atanf cbrt ceil ceilf copysign cos cosf cosh exp exp2
    expf fabs fabsf floor floorf fmax fmin fmod fmodf frexp hypot ldexp log log10 log2 logf lround
    modf pow powf rint round roundf sin sinf sinh sqrt sqrtf tan tanf tanh trunc truncf
"""
NUMBERS = "abs labs llabs div ldiv lldiv ffs ffsl ffsll htonl htons ntohl ntohs"
CHARACTERS = """
    isalnum isalpha isascii isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper
    isxdigit tolower toupper __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc
"""
# Attributes of objects that are made: each is initialised, set and read by one thread.
ATTRIBUTES = """
    pthread_attr_init pthread_attr_destroy pthread_attr_setdetachstate pthread_attr_getdetachstate
    pthread_attr_setstacksize pthread_attr_getstacksize pthread_attr_setscope
    pthread_mutexattr_init pthread_mutexattr_destroy pthread_mutexattr_settype
    pthread_mutexattr_gettype pthread_mutexattr_setpshared pthread_condattr_init
    pthread_condattr_destroy pthread_condattr_setclock pthread_condattr_setpshared
    pthread_rwlockattr_init pthread_rwlockattr_destroy pthread_barrierattr_init
    pthread_barrierattr_destroy
"""
# The streams are only handed to the runtime. longjmp
# stays within one stack.
OTHERS = "stdout stderr strerror _setjmp setjmp longjmp __stack_chk_fail"
LINKER = "_GLOBAL_OFFSET_TABLE_ __tls_get_addr"

HARMLESS = frozenset(
    " ".join([MATHEMATICS, NUMBERS, CHARACTERS, ATTRIBUTES, OTHERS, LINKER]).split()
)
