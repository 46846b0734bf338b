// Package anthropic speaks Anthropic's Messages API, to Anthropic itself and to
// any address that serves it. It is a client only; tools that run on the
// server, files and batches are not its matter.
//
// # Thinking
//
// What a model thinks is handed on twice: as text while it comes, and, when
// its block is complete, as reasoning details that hold the block as it came,
// with its signature. Details are passed back in the later requests of the
// same turn and of the chat, in their places; the API refuses blocks that were
// changed or moved, and within a turn those that were left out. A call that stood before a block is named in the block's
// details by an entry of type tool_use with its id, since calls are handed on
// at the end only and would otherwise come behind it. Details of other
// providers are told by their form and left out. Where the API refuses blocks
// after all, because the conversation before them has changed or they were
// another model's, the request is sent once more without any.
//
// Models that think unasked are asked for a summary of it, since they else
// show nothing for minutes.
//
// # Answers that match a schema
//
// Where the model can, the API holds it to the schema (output_config.format).
// That takes only part of JSON Schema; what it can't take and the engine checks
// anyway, such as a minimum, is put into descriptions. Where schema or model
// can't be met that way, the model is made to call a tool named answer whose
// input becomes the content; where it can't be made to, the schema is put into
// words.
//
// # Tools
//
// The input schema of a tool must be a plain object. Alternatives at its top
// are folded into one object with the properties of all, and told in words;
// the engine checks the arguments against the real schema. A tool that the API
// refuses nevertheless is left out with a footnote, and the others stay.
//
// # Prompt caching
//
// Marks are set behind the tools and the system prompt, and, where a
// conversation goes on or tools make it likely that it will, behind the last
// message and the person's or tools' message before it: both ends of what the
// next request repeats. Usage counts cached tokens within the input tokens, as
// everywhere in fettle.
//
// # What is learnt while it runs
//
// A parameter that the address refuses is left out or sent in another form
// from then on, for that model; see quirks. The table in family.go saves the
// refusals for models that are known. Nothing of it is kept on disk.
//
// # The end of a response
//
// message_stop ends a response; so does a clean end of the body after a stop
// reason. Anything else is a cut. Calls are handed on only then.
package anthropic
