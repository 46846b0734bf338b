// Package suggest finds what is valid at the cursor of a command line: commands, flags
// and their values, models, chats, prompts, toolsets and the rest. Shells get it by the
// command completion; chat shows the same values in its menu. A flag's values follow from
// its help, so a new flag needs nothing here.
//
// A suggestion never fails: what can't be read, because of a broken configuration for
// example, is left out. No provider is asked, and the store is read for a second at most.
package suggest
