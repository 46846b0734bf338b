// Package shellparts takes a shell's command line apart into the commands that
// it runs, so that a rule about one command can't be slipped past by chaining
// another to it. It runs nothing and expands nothing.
//
// # Vocabulary
//
//   - Simple: a command line that is nothing but commands with their arguments,
//     chained by `;`, `&&`, `||`, `|`, `&` or line ends. What can run, set or
//     write something that its words don't show is not simple: substitutions,
//     redirections to files, assignments, functions, loops, subshells, a name
//     that is made of a variable.
//   - Part: one command of a line, its words with one space between them.
//   - Seen: every command that a line contains at any depth, without the quotes of its
//     words, and every command that a program such as env, xargs or sh -c can be made to
//     run by its arguments.
//   - Unclear: a line that can run more than is seen.
//
// [Simple] errs on the side of false, [Seen] on the side of more; a permission needs the
// one, a prohibition the other. Neither is containment: what a command then does is up
// to it.
//
// The functions are pure, and safe for concurrent use.
package shellparts
