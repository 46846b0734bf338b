// Package workspace has the commands about the files of a chat: workspace with
// its log, files, diffs and states; undo and redo are made of its steps by package undo.
// What a state is, and how it is brought back, is the engine's; here are the flags, the
// words and the JSON.
//
// A state is all files of a workspace at one time. What a restore would have to
// overwrite or couldn't bring back is left, and told. A restore that ends early
// leaves a folder as it was or as it was to be (see the engine).
package workspace
