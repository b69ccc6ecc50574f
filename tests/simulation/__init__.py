"""The arena on virtual time: the real code between simulated edges, everything that goes wrong from one seed."""
