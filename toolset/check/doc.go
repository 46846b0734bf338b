// Package check runs the tests of a toolset's manifest: each calls one tool with
// known arguments in a workspace of its own, and compares what came of it with
// what the manifest expects.
//
// How a tool is run is not its affair: it is given a [RunnerFor]. Whether the
// bundle is in order is package validate's.
//
// # Vocabulary
//
//   - Test: an entry of the manifest's tests.
//   - Result: what came of one: passed, failed with mismatches, or broken,
//     which means that the tool could not be called at all.
//   - Mismatch: one thing that was expected and came out otherwise.
//
// # How what is returned is compared
//
// With `$return`, as renderers see it: the tool's data, and `{"text": …}` for a
// tool that returns only a text (which may be expected as that text as well). Of
// an object, at every depth, the fields that are expected count, and others may
// be there; lists have the same length; numbers are compared by value. A tool
// with an output_schema has to keep to it, whatever is expected.
//
// # What is promised
//
//   - Tests share nothing but the toolset's files, which are extracted anew for
//     every run: neither a folder nor a leftover of another.
//   - Results come in the manifest's order, whatever ran side by side.
//   - Every call has a time limit; files are compared up to a bound.
//   - Everything that was made is removed when Run returns, also when its context
//     ended; Run returns when all calls have.
package check
