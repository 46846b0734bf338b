// Package sanitize makes texts of others fit to be shown: those of an editor, of an
// MCP client, of a model. It takes out what a person wouldn't see, or would see in
// another order than it is read in. It doesn't escape for a format such as HTML, and
// a terminal has its own rules in commands/term. All functions are pure.
package sanitize
