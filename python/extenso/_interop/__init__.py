"""Values and other libraries: a module for each, imported when a conversion to or from it is first asked for.

A module here names its library in `peer` alone, so that none is needed and none is imported before.
"""
