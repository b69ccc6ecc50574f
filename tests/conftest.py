"""For all tests."""

import arena  # noqa: F401 - before a test imports grpc: it settles how that behaves in children
