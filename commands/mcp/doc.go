// Package mcp has the command mcp: the MCP servers whose tools fettle uses, added,
// imported, listed, looked at, signed in to, switched and removed. What reaches them
// is package toolset/mcp, and their records are the engine's. A secret of a server is
// never printed: where it is or may be one, ${NAME} stands.
//
// Being a server for another program (mcp serve, and mcp by itself in a pipe) is
// package serve's.
package mcp
