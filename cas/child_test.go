package cas

// childEnv makes the test binary a child process.
const childEnv = "CAS_TEST_CHILD"

func runChild(string) int { return 0 }
