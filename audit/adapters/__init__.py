"""Adapters: claims, data and releases of other libraries, in dpassay's own words.

Each module needs the library that it is about, an optional extra: `dpassay[opendp]`,
`dpassay[diffprivlib]`, `dpassay[dp-accounting]`. It is imported when a function is called.
"""
