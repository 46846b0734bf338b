// Package settings is the command config, which shows, changes and checks the
// configuration. What there is to set is the table of package commands/config, which
// can't have the command itself: it is read by the workbench that all commands need.
// Values that are secret are never printed.
//
// A change of a file is written as a whole or not at all, and by one process at a
// time.
package settings
