// Package validate finds what is wrong with a toolset before anybody imports
// it: with its archive, its manifest, its Python, its pages, and with how they
// fit together. It is what `fettle toolset validate` and CI run.
//
// It runs nothing of a bundle and needs no Python: modules are read by package
// pysource, pages by an HTML tokenizer. What it says of a bundle is the same on
// every machine.
//
// # Vocabulary
//
//   - Finding: one thing to say, at a place of a file. An error keeps the
//     toolset, or a tool of it, from working or from being imported. A warning
//     is for a person to judge. A note is worth knowing and never counts.
//   - Report: all findings of one bundle.
//   - Code: the stable name of a kind of finding. Those of an archive are the
//     codes of package bundle behind "bundle-"; those of the manifest are
//     package manifest's; the others are this package's ([Codes]).
//
// # What is promised
//
//   - A bundle that package bundle refuses is a report with that one finding;
//     only what can't be read at all (no such file, no permission) is an error.
//   - Findings come in a fixed order: the manifest first, then files by name,
//     places within them in order. There are at most [MaxFindings], and then one
//     that tells how many more.
//   - Messages are one line without control characters.
//   - A hostile bundle costs no more than an honest one: what is read of Python,
//     pages and texts is bounded in bytes, and a finding says what was not looked
//     through.
//
// A Report is a plain value. [Bundle] uses the bundle that it is given, which
// belongs to one goroutine.
package validate
