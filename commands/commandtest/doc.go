// Package commandtest runs fettle as a process of its own, for the tests of commands.
// Tests alone import it, those that are outside of their package: the program is all
// of package commands.
//
// A package's TestMain is [Main], which makes its test binary fettle itself. A [World]
// is what one test's processes share: a data directory, a configuration, an environment
// without keys, and a model that plays a script. [Terminal] is a process on a terminal;
// [Ollama], [OpenMCP] and [World.AddNotes] are what a command can reach.
package commandtest
