// Package ollama speaks Ollama's native API. Its OpenAI-compatible one can't
// set the context length, and a conversation that outgrows it is cut in
// silence there; that is the complaint heard most about tools like this one.
//
// # The context
//
// num_ctx is the smallest power of two, from 4096, that holds what the request
// is estimated to need and a reserve for the answer (larger for models that
// think), and never more than the model's own length or a configured cap. A
// model that is loaded with a longer context already keeps it, since another
// num_ctx means loading it anew. `truncate: false` and `shift: false` have the
// server refuse a prompt that doesn't fit; if the model could take more, the
// estimate was too low, and the request is sent again with twice the context,
// else the refusal is a ContextFull error. An answer that fills the context
// ends with a footnote that says so.
//
// A length that is fixed (Options.NumCtx, or OLLAMA_CONTEXT_LENGTH handed over
// as Options.ContextLength) is used as it is.
//
// There is no check that prompt_eval_count comes near what was sent. Servers
// that know `truncate` (0.17.4's llm and runner were read) count the whole
// prompt, cached or not, and refuse instead of cutting, so it would find
// nothing; those before counted only what the cache lacked, so it would cry
// wolf in every second turn.
//
// # What is used of Ollama's own client
//
// The types, and Client for show, list, version and ps, over our HTTP client,
// which bounds what is read. /api/chat has a reader of its own: the client's
// allocates 8 MB for each call and takes a stream that just ends for a whole
// answer.
//
// # While a model loads
//
// nothing comes, for minutes with a large one, and that is no error before
// the first-byte limit. While it writes a tool call nothing comes either,
// since the server holds a call back until it is whole; so with tools the
// limit between chunks is the first-byte limit too.
package ollama
