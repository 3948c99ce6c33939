"""The front end for C programs: compiled by the user's compiler, run natively on our runtime."""
