package sandbox_test

// otherMode is what the test binary does when a test starts it as a program of
// its own.
func otherMode() (status int, done bool) { return 0, false }
