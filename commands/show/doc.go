// Package show writes what a chat holds as text for a person: messages, tool
// calls on a line each, payloads as cards, an answer's Markdown without its
// marks. Everything here is made harmless first, since models, tools and servers
// wrote it. It shows what is there already; turns that run are shown by package
// follow, and how a terminal is written to is commands/term.
//
// A card is a payload in a frame. An aside is reasoning, set off from the answer.
// Nothing is kept; a [Card] or an [Aside] belongs to who prints it.
package show
