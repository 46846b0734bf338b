// Package docs has the command docs: list, add, search, show, rm and restore of the
// documents that a question names as doc:ID. Where a document is kept, what a question gets
// of one, and the search in them, is the engine's.
package docs
