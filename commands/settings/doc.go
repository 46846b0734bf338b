// Package settings has the commands by which a person decides how fettle works
// for them: config, keys and trust. What there is to set is the table of
// commands/config; where keys are kept is commands/keys, what was allowed
// commands/config/trust. Values that are secret are never printed.
//
// A change of a file is written as a whole or not at all, and by one process at a
// time.
package settings
