// Package docs has the command docs: list, add, show, rm and restore of the documents
// that a question names as doc:ID. Where a document is kept, and what a question gets
// of one, is the engine's.
package docs
