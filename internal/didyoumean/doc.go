// Package didyoumean finds the name that a person most likely meant, for errors
// that say "did you mean". It is a leaf, and pure: it holds no state and is
// safe for concurrent use.
package didyoumean
