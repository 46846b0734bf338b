// Package clientconfig reads the MCP servers in the configuration files of other
// programs: Claude Desktop and Claude Code, Cursor, VS Code, Windsurf, Cline, Zed,
// Gemini CLI, Codex, opencode, Continue, LibreChat, and other programs whose files have
// the same shape.
//
// [Read] takes JSON (with comments), YAML or TOML and returns the servers as fettle
// stores them, each with notes. The package promises that nothing is dropped silently:
// every key of the input is either used or named in a note, which explains what leaving
// it out means. The type object records the keys that were taken, and the rest becomes
// notes at the end. Null counts as absent. Numbers and booleans where a text belongs
// become that text exactly as it is written in the file.
//
// Variables of other programs become ${NAME} or ${NAME:-default}, which fettle fills in
// when the server starts. A variable that only the other program can fill in makes the
// server unusable, and it is skipped with the reason.
//
// The package reads no files and starts nothing. Its functions may be called by several
// goroutines at once.
package clientconfig
