// Package starter holds the toolset that `fettle toolset init` begins with: one
// tool with its tests, a README, a workflow for GitHub, and on wish a page, an
// MCP server or an agent. It makes the texts; where they go is its caller's.
package starter
