// Package gallery contains the toolsets that are part of the program, so that they can be
// installed without a network: those of the documents that fettle is made after, with their
// workflows, agents, pages and payloads, and a tutorial for authors (my-toolset).
//
// Each folder is a bundle like any other and is imported by the same path: its contents are
// shown, approved and pinned. The files are embedded as they are (about 270 KB); nothing is
// unpacked before a user asks for a toolset. The package reads only its own files and keeps no
// state. All functions may be called concurrently.
package gallery
