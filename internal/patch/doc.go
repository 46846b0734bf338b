// Package patch shows how two versions of a file differ, as unified diffs that
// `git apply` and `patch` take. It knows contents and names, not where they
// come from. Its functions are pure.
package patch
