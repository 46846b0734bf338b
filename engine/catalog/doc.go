// Package catalog is what a turn can use: the tools of the program and how the user has set
// them, installed toolsets with their tools, agents, workflows, payload types and pages, the
// agents that the user made, MCP servers, and services.
//
// A [Catalog] gathers all of it into a [Toolbox]. The toolsets are read from toolsets.json, a
// copy of their records that needs no store (package registry calls it the mirror), so that a
// turn of a pipeline starts without opening Badger. A toolbox is kept for as long as the
// generation of that file stays the same; a turn that chooses its tools reads only their
// toolsets (see [Need]).
//
// What can't be used is left out with its reason (Toolbox.Unusable, [Agents.Unusable]) and
// keeps nothing else from being used.
//
// Changes go through the registry of package registry: import, removal, trust, MCP servers and
// their approval. A change ends the services and the connections that it makes unusable.
//
// Nothing here starts a turn, asks a model or runs a tool. A Catalog is safe for concurrent
// use; a Toolbox is not changed once it is returned.
package catalog
