// Package usage has the command that sums up the tokens that were used, and what they
// cost by the prices of the configuration. A [Cost] is exact: it is kept as a fraction
// for each currency, and says what it leaves out. Views of turns show theirs with it.
//
// Nothing here is used by several goroutines.
package usage
