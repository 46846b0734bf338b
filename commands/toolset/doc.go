// Package toolset is the command toolset: it imports, shows, trusts, switches, exports and
// removes toolsets. What a toolset requires is shown before it is installed, the most
// dangerous first. The commands for authors of toolsets are package author.
package toolset
