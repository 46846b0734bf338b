// Command vulngate decides what a govulncheck report means for a build. It
// reads the report (govulncheck -format json) from standard input and fails on
// each finding that .ci/vuln-allow.txt doesn't bear. It asks nobody and knows
// no list of its own: what is vulnerable is govulncheck's to say.
//
// # Vocabulary
//
//   - Finding: a known fault, by its id, in a module that the program links.
//     Only those whose code the program can reach count.
//   - Allowed: the list names its id and module, with a reason.
//   - Toolchain: a fault of the standard library that a newer Go has mended.
//     It is reported and doesn't fail, since releases are built with the
//     newest Go, and whoever builds it has chosen theirs.
//
// A report that is empty or cut short fails: silence isn't a clean bill.
package main
