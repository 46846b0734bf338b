// Package help has the command help and the pages it prints: the overview, the topics,
// and how the help of a command is set. What a command's own help says stands with the
// command; only the shapes of what all of them print as JSON are told here, on the page
// "output", which tests hold against the types.
//
// A topic is a page that belongs to no command, a shape one JSON object on that page.
// Every page is made when it is asked for and fits a terminal of 80 columns.
package help
