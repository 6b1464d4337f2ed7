"""Workers: processes that run foreign code, and what stands between them and this one."""
