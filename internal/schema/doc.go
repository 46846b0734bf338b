// Package schema checks JSON documents against JSON Schemas, and says what is
// wrong in words that a model or a person can act on.
//
// The checking is santhosh-tekuri/jsonschema's, which passes every required
// test of drafts 2020-12 and draft-07; this package bounds what a schema or a
// document from a stranger may cost, keeps references inside the document, and
// writes the messages. It rewrites no schema for a provider: that is the work
// of the provider's adapter.
//
// # Vocabulary
//
//   - Schema: a compiled JSON Schema. Draft 2020-12, unless `$schema` names
//     draft-04, -06, -07 or 2019-09.
//   - Problem: one thing that is wrong, at a JSON pointer.
//
// # What is promised
//
//   - A reference may lead to a place in the same document, or to one of the
//     official metaschemas, which are built in. Nothing is ever loaded.
//   - Compile refuses what is too large, too deep, refers to itself without
//     going deeper, or grows too much when references are followed. Validate
//     stops at a number of steps and at a deadline, and says so in a Problem.
//   - Documents are decoded strictly: UTF-8, no duplicate keys, nothing after
//     the value, no number that would take a gigabyte to hold.
//   - Problems come in a fixed order, all of them up to [MaxProblems].
//   - `format` is an annotation, as both drafts have it; nothing is refused
//     for it. Patterns are RE2 where RE2 can read them, else ECMAScript with
//     a time limit.
//
// A Schema is safe for concurrent use; checks with one Schema run one after
// another. Nothing is built before the first Compile, except for the library's
// own start (DESIGN §10).
package schema
