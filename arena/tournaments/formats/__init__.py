"""Who plays whom, and who stands where: pure functions over the field and the results so far, a module a format."""
