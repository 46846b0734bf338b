// Package render turns what a tool was given and what it returned into a
// render plan: document 004's section 5. A plan says how a call is shown, and
// holds all that the showing needs.
//
// It draws nothing. The terminal, a page and an editor draw plans; the HTML of
// an artifact is completed here with its data ([Inject]), since that has to be
// right wherever it is served.
//
// # Vocabulary
//
//   - Config: the JSON object of a tool_render_configs record. Its strings may
//     hold expressions.
//   - Expression: `$args`, `$return`, `$chat_id`, `$workspace` or `$toolset`;
//     the first two may be followed by a path, as in `$return.stats.rows` or
//     `$return.items.0`. `$$args` stands for the text `$args`. Any other dollar
//     is a dollar.
//   - Plan: the renderer and its config with all expressions resolved.
//
// # Types
//
// A string that is one expression alone becomes the value with its type, so
// `"$return"` is the object; numbers keep their digits. Where an expression
// stands within a text, strings go in as they are and all else as compact
// JSON. What isn't there becomes null, or nothing within a text, and the plan
// says so among its problems.
//
// # What is hostile
//
// Arguments are a model's and results a tool's. So values are never looked at
// for expressions themselves; `file` may not leave the workspace nor `artifact`
// the toolset, and an artifact can't be named by a value; `url` has the host
// that its text has before any value is put in, which must be this machine.
// Depth and size are bounded.
//
// Everything here is a pure function, safe for concurrent use.
package render
