// Package undo has the commands undo and redo: steps back and forward in the history of a
// chat's folder. What a step reverts is the engine's; its flags and its output are those
// of package commands/workspace, which restores snapshots, too.
package undo
