"""Which functions of the C library a program may call that our runtime does not have.

These touch nothing but their arguments' values, or memory that is the caller's alone. Whatever is
not here and not in the runtime is refused by its name: it might block, or have state that threads
share. If it is the C library's, it is refused where it is called: see unknown_functions.py.
"""

import re

# Of each there is one for double, for float (its name ends in f) and for long double (in l).
MATHEMATICS = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp10 exp2
    expm1 fabs fdim finite floor fma fmax fmaximum fmaximum_num fmin fminimum fminimum_num fmod
    hypot ilogb isinf isnan j0 j1 jn ldexp llogb llrint llround log log10 log1p log2 logb lrint
    lround nearbyint nextafter nextdown nexttoward nextup pow remainder rint round roundeven scalb
    scalbln scalbn significand sin sinh sqrt tan tanh tgamma trunc y0 y1 yn __isnan __isinf __finite
    __fpclassify __signbit __issignaling __iseqsig
    cabs cacos cacosh carg casin casinh catan catanh ccos ccosh cexp cimag clog clog10 conj cpow
    cproj creal csin csinh csqrt ctan ctanh
"""
EACH_TYPE = " ".join(name + ending for name in MATHEMATICS.split() for ending in ("", "f", "l"))
NUMBERS = """
    abs labs llabs imaxabs div ldiv lldiv imaxdiv ffs ffsl ffsll htonl htons ntohl ntohs difftime
    toascii a64l __atomic_feraiseexcept
"""
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
    pthread_attr_setinheritsched pthread_attr_setschedpolicy pthread_attr_setschedparam
    pthread_attr_setguardsize pthread_attr_getguardsize pthread_attr_setstack
    pthread_attr_getschedparam pthread_attr_getscope pthread_condattr_getclock
    pthread_mutexattr_setprotocol pthread_rwlockattr_setpshared pthread_rwlockattr_setkind_np
    pthread_attr_getinheritsched pthread_attr_getschedpolicy pthread_attr_getstack
    pthread_mutexattr_getpshared pthread_mutexattr_getprotocol pthread_condattr_getpshared
    pthread_rwlockattr_getpshared pthread_rwlockattr_getkind_np pthread_barrierattr_getpshared
    pthread_barrierattr_setpshared sched_get_priority_max sched_get_priority_min
"""
# The streams are only handed to the runtime. longjmp stays within one stack. What getopt keeps is
# put back by run.c; it is called by one thread, before there are others.
OTHERS = """
    stdin stdout stderr strerror strsignal gai_strerror _setjmp setjmp longjmp _longjmp __sigsetjmp
    sigsetjmp siglongjmp __sigsetjmp_cancel __stack_chk_fail getopt getopt_long getopt_long_only
    optarg optind opterr optopt program_invocation_name program_invocation_short_name __progname
    sigemptyset sigfillset sigaddset sigdelset sigismember sigandset sigorset sigisemptyset
"""
LINKER = "_GLOBAL_OFFSET_TABLE_ __tls_get_addr"

# What is left of the C++ library when its templates are compiled with the program (see
# before_cpp.h). It works on objects of its own, or comes down to functions that our runtime has.
CPP = re.compile(
    r"_ZT[VISTW]|__cxa_|_Unwind_|__gxx_personality_v0$|__dso_handle$|__once_proxy$|_ZTHSt"
    r"|_ZSt\d+__throw_|_ZNK?St\d+\w*(error|exception|bad_)|_ZNK?St9type_info"
    r"|_ZNK?St(6thread|18condition_variable|8ios_base|6locale|5ctypeI|7codecvtI|12__basic_file)"
    r"|_ZNK?St(13__future_base|28__atomic_futex_unsigned_base|15__exception_ptr|3_V2|6chrono3_V2)"
    r"|_ZNK?St8__detail(15_List_node_base|20_Prime_rehash_policy)|_ZN?K?St7__cxx118(numpunct|moneypunct)"
    r"|_ZSt(9terminatev|1\duncaught_exceptions?v|17current_exceptionv|17rethrow_exception)"
    r"|_ZSt(3cin|4cout|4cerr|4clog|7nothrow|\d+_Rb_tree_|11__once_call|15__once_callable)"
    r"|_ZSt(15future_categoryv|15system_categoryv|13set_terminate|15get_new_handlerv)"
    r"|_ZNSt(18condition_variable|22condition_variable_any)|_ZSt16__convert_to_v|_ZSt\d+__once"
)

# Functions of the program that are what SV-COMP says they are: what the former do happens at once,
# and the latter call abort where an execution is to be left out.
ATOMIC_FUNCTIONS = re.compile(r"__VERIFIER_atomic_(?!(begin|end)$)")
ASSUMING_FUNCTIONS = re.compile(r"assume_abort_if_not\b")
# To call one of these is a failure, whatever the program says that it does.
ERROR_FUNCTIONS = re.compile(r"reach_error|__VERIFIER_error")

HARMLESS = frozenset(" ".join([EACH_TYPE, NUMBERS, CHARACTERS, ATTRIBUTES, OTHERS, LINKER]).split())
