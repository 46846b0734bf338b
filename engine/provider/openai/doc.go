// Package openai speaks OpenAI's two APIs, chat completions and the Responses API, to any
// address that serves one of them: OpenAI itself, Azure, vLLM, SGLang, llama.cpp, LM Studio,
// OpenRouter, DeepSeek, Groq and the many others that are nearly the same. It is a client
// only.
//
// Chat completions themselves are in package chatcompletions; here are what OpenAI's and other
// addresses differ in, what refusals teach, and the Responses API.
//
// # Which API
//
// Options.API names it. Without it, OpenAI's models that reason are asked by the Responses
// API, since chat completions lose their reasoning and refuse tools with it. All other
// models and addresses are asked by chat completions, which every server has. A refusal that
// names the Responses API moves a model of an address there, and one that lacks it moves the
// model back for good. One deployment at Azure has chat completions only.
//
// # The Responses API
//
// Requests ask the server to store nothing (store: false) and contain the whole history.
// Reasoning comes encrypted (include: reasoning.encrypted_content) and is kept as an opaque
// item among the details of provider.Part, together with the places of calls and with unknown
// members of messages, such as phase. Unknown members of a call are in its Extra. An item goes
// back in its place, without its id if it is encrypted, so that the server looks up nothing.
// Reasoning goes back only in front of what it led to: not if its call has no result, nor from
// an answer that was cut off. Items of tools that run at the server go back too.
//
// A response ends with response.completed, response.incomplete or response.failed; nothing is
// awaited after these. Events belong to an item by their output_index, since proxies change
// ids, and items of the last event that did not come before are taken from there.
//
// There are no stop sequences, no seed and no sounds; a footnote says so where one was asked
// for.
//
// # What is learnt while it runs
//
// A parameter that an address refuses is left out from then on, for that
// model: stream_options, max_tokens against max_completion_tokens,
// temperature, stream, and response_format, in whose place the schema is put into
// words. Of the Responses API these are the summary of the reasoning, its encrypted form, and
// store. A model that takes no tools while it reasons is asked not to reason; the
// tools stay. A tool whose schema is refused is left out with a footnote, and
// the others stay.
//
// # The shape of a history
//
// It follows from the history itself; see chatcompletions.
// Refusals teach the rest: a reasoning field that must be sent or is not taken, a member
// that is not taken, calls that must be signed (Google documents a signature for those that
// Gemini did not make), roles that must Alternate, and a system role that is not taken.
// These are provider.Learner's lessons, which the engine keeps for other processes, as it does
// the API, and what a model lacks of the Responses API. What is learnt of other parameters is
// not kept on disk.
//
// # Why not the SDK
//
// It costs 26 MB and minutes of every build, changes its API within a major
// version, and refuses most of the streams in the corpus.
package openai
