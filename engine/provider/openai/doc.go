// Package openai speaks OpenAI's two APIs, chat completions and the Responses API, to any
// address that serves one of them: OpenAI itself, Azure, vLLM, SGLang, llama.cpp, LM Studio,
// OpenRouter, DeepSeek, Groq and the many others that are nearly the same. It is a client
// only.
//
// It reads tolerantly, since no two servers stream alike; testdata/streams at
// the project's root holds what was met, with its source and what it must
// give. It writes narrowly: only fields that the request needs, content as a
// plain string where there are no images, and no strict mode unless the schema
// obeys its rules.
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
// It follows from the history itself, so that each process sends the same. Over chat
// completions, reasoning goes back in the field in which it came (provider.Part.Field); if any
// answer has reasoning_content, each answer with calls has one, since DeepSeek and Kimi refuse
// others.
// Members of calls and messages that are not known, such as extra_content with Gemini's
// signatures, go back in the same place (provider.ToolCall.Extra). Images and sounds of
// results follow in a user's message, since a tool's message takes only text.
//
// Refusals teach the rest: a reasoning field that must be sent or is not taken, a member
// that is not taken, calls that must be signed (Google documents a signature for those that
// Gemini did not make), roles that must alternate, and a system role that is not taken.
// These are provider.Learner's lessons, which the engine keeps for other processes, as it does
// the API, and what a model lacks of the Responses API. What is learnt of other parameters is
// not kept on disk.
//
// # Tools
//
// The input schema of a tool is made a plain object, as OpenAI wants it; see
// wire.Parameters. Ids of calls are at most 40 bytes long, and nine letters or
// digits where an address that serves Mistral's models asks for that.
//
// # The end of a response
//
// [DONE] ends a chat completion. After a finish reason it is no longer required: the
// response is complete when the body ends in any way, or after two seconds of
// grace. Anything else is a cut. Calls
// are put together from their pieces and handed on only then, so a prefix of
// the arguments that happens to be valid JSON is never taken for them.
//
// Arguments that are no JSON object when the response has ended are handed on
// as a JSON string of what the model wrote. They fail the check against the
// tool's schema, and so the model is told. A call that the length limit cut
// off is left out with a footnote.
//
// # Why not the SDK
//
// It costs 26 MB and minutes of every build, changes its API within a major
// version, and refuses most of the streams in the corpus.
package openai
