// Package ollamatest starts a real Ollama for tests, with a tiny model whose
// answers are known (testdata/ollama at the project's root says which). It is
// imported by tests alone.
//
// A server listens on a free loopback port, keeps its models and its home in
// the test's temporary folder, and ends with the test, runners included. Start
// takes about a second, so a package's tests share one: call Start in one test
// and run the others as its subtests.
//
// Where `ollama` is not on the PATH the test is skipped, also under
// FETTLE_TEST_REQUIRE=all: building Ollama takes longer than a run of CI may.
package ollamatest
