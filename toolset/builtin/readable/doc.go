// Package readable makes text for a model of what a server sent: Markdown of
// HTML, the text of a PDF, text and JSON as they are. It fetches nothing.
//
// What it reads comes from strangers, and the readers of such formats are large
// and other people's: a file can make one run for ever or take all memory, and
// a goroutine can't be ended. So a program reads in a process of its own, which
// is started in a sandbox and dies at its limits: [Request] makes what that
// process is given, [Serve] is what it does, and [Answer] reads what it wrote.
// [Convert] does the work in this process, for tests and for [Serve].
//
// # Vocabulary
//
//   - Media type: of the answer's Content-Type, without parameters.
//   - Main part: the element of a page that holds its own content, without
//     navigation, headers and footers.
//
// The functions keep nothing and are safe for concurrent use.
package readable
