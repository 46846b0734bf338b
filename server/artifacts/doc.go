// Package artifacts is the second origin of fettle serve, for what tools and MCP servers
// show: their pages, each under an address that nobody can guess and that expires, and the
// ports of services, each under a host name of its own. What runs there reaches nothing of
// the API: no token is taken, nothing is listed, and cookies are shared with nobody.
//
// [Pages] is the listener, [Services] what it passes on. Both are safe for concurrent use.
// Which pages there are, and who may see them, is decided by the routes of package server.
package artifacts
