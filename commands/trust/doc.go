// Package trust is the command trust: the user allows what a project's configuration
// would run or send elsewhere, after seeing it. What was allowed is recorded by package
// commands/config/trust, by the digest of the file or the text of the command.
package trust
