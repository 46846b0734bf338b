// Package prompts reads named prompts from files, and fills them. It knows no
// flags, no terminal and no engine: who uses a prompt decides what its model
// or its tools mean.
//
// # Files
//
// A prompt is a Markdown file, `<name>.md`, in one of two places: the user's,
// the folder prompts beside the configuration, and the project's,
// `.fettle/prompts`. Where both have a name, the project's is used, and the
// [Prompt] says which file it hides. A name is of letters, digits, dots,
// dashes and underscores; there are no folders within a place.
//
// # Front matter
//
// Between a first line `---` and the next one there may be YAML, read
// strictly: description, model, system, tools, schema (a file beside the
// prompt) and variables. Unknown keys, wrong types, tags, anchors, merge keys
// and doubled keys are problems with a line and a column; all problems of a
// file come at once, as an [Error].
//
// # Body
//
// `{{name}}` stands for a variable, with or without spaces inside the braces.
// It is replaced once: what a value holds is text, braces too. Nothing else is
// understood, so that a prompt can't run anything. `\{{` is `{{` itself, and
// `\\{{` a backslash before a variable. `{{input}}` is what the person gave
// besides; a body without it gets that at its end.
//
// Where the front matter has variables, the body may use no others. Where it
// has none, those that the body uses are declared by that, and needed.
//
// # Hostile files
//
// A project comes from whoever wrote it. Its prompts are data: they can't name
// a scripted model, and no link may lead out of the project. Files, front
// matter and filled prompts are bounded, FIFOs and devices are refused, and a
// control character is a problem wherever it stands.
//
// A Library holds no state besides its paths, and a Prompt isn't changed once
// it is read; both are safe for concurrent use. Nothing is written but by
// [Library.Create], which replaces nothing.
package prompts
