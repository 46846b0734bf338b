// Package transcript writes a chat as a document that people read: Markdown,
// or one HTML page. The chat's complete form is its JSON, which is the engine's.
//
// Both show the way to the chat's active leaf, as `fettle chats show` does, and
// say how many messages are on other branches. What models, tools and files
// said is a stranger's: control characters, and what hides text, are shown as
// on a terminal.
//
// # The page
//
// It is whole in itself and quiet: it asks no address for anything, runs no
// script, and its Content-Security-Policy allows nothing but its own style
// sheet and images in data: addresses, so that a mistake here would still do
// nothing. Everything is escaped. A model's Markdown is parsed by goldmark; of
// HTML in it the characters are shown, links lead to http, https and mailto
// alone, and pictures from elsewhere are links. What a person wrote stands as
// it was typed.
//
// # The Markdown
//
// It is for reading, and for other programs' renderers; it is not read back.
// Tool calls, thoughts and files are details to open. A fence is longer than
// any in what it holds, one that a message left open is closed at its end, and
// a line that would begin a block of HTML has its "<" escaped, so that no
// message swallows the next.
//
// Functions here are pure but for writing, and may be used by any goroutine.
package transcript
