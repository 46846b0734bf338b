// Package cireport writes findings and tests in the formats that CI reads:
// SARIF 2.1.0, JUnit's XML, and GitHub's annotations. It decides nothing: what is
// found, what counts, and where it lies are its caller's.
//
// # Vocabulary
//
//   - Finding: one thing to say, at a place of a file.
//   - Suite, Case: what JUnit calls them: a bundle, and one of its tests.
//
// # What is promised
//
//   - Output is the same for the same input: no times of day, no ids by chance.
//   - Whatever a text holds, it stays inside its field: nothing of a bundle's can
//     become markup, a property or another command.
//   - A write that fails is an error, and what was written before it is no valid
//     document; only GitHub's lines stand for themselves.
//
// Everything here is a function of its arguments.
package cireport
