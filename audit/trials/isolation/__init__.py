"""Isolation: user code runs in processes of its own, with a limit on time and memory."""
