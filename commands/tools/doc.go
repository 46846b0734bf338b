// Package tools has the commands tool and toolset: they list, call, switch and stop
// tools, and import, show, trust, export and remove the sets that bring them. What a
// toolset wants is shown before it is installed, the most dangerous first. The commands
// of who makes toolsets are package author's.
package tools
