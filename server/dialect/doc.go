// Package dialect translates between fettle's events and the wire formats that
// other programs speak: one encoder a dialect, from the events of one turn to
// the frames of one stream, and one decoder a dialect, from a request's body
// to a [Request]. What OpenAI's and Ollama's clients ask about models is written
// here, too. It knows neither the engine nor HTTP: the server reads the
// bytes, starts and follows turns, and writes what comes out of here.
//
// # Vocabulary
//
//   - Dialect ([Name]): one format of requests and of streams.
//   - Frame: the smallest piece of a stream that a client reads as a whole: an
//     SSE event, or a line of NDJSON. An event gives none, one or several.
//   - Encoder: turns events into frames. A stream that was cut is resumed by a
//     new Encoder that is fed the earlier events again, with its frames for
//     them thrown away: what follows is, byte for byte, what the first one
//     would have written. A client of responses may name the last event that it
//     has instead ([Options.After]).
//   - Object: a turn's answer as one JSON object, for clients that don't stream.
//   - The client's tools: those that came with the request. A call of one is
//     the client's to run and ends the turn; it is shown as a call without a
//     result. Every other tool runs in fettle, and is shown as far as the
//     dialect has a way to show work that is done elsewhere.
//   - Pause: in the dialects that ask by ending the stream (aisdk, agui), an
//     approval that is needed ends it. The client answers with another request
//     ([Request.Answers]), by the id that [ApprovalID] makes, and the turn's next
//     events begin another stream. It
//     is done only for clients that say that they answer ([Request.Confirm]),
//     and not for what is answered already ([Options.Settled]).
//
// # Sources
//
//	chat        document 000, with the event types of engine/event
//	agents      document 003 §4.7
//	openai      OpenAI API 2.3.0, chat completions; npm openai 7.59.0,
//	            @ai-sdk/openai-compatible 3.0.92
//	responses   OpenAI API 2.3.0, responses; npm openai 7.59.0
//	aisdk       UI message stream v1 of npm ai 7.0.173
//	agui        AG-UI 1.0, npm @ag-ui/core and @ag-ui/client 1.0.0
//	ollama      POST /api/chat of Ollama 0.17; npm ollama 0.6.4
//	anthropic   Messages API 2023-06-01; npm @anthropic-ai/sdk 1.14.0
//
// Each has a golden file of one recorded turn in testdata, every frame is
// checked against the publishers' schemas where there are any, and the clients named here
// read what the encoders write in TestClients.
//
// # Choices
//
// Streams are stricter than their standards: LF alone, no byte order mark, no
// id lines and no blank line after a keep-alive where clients in use break on
// them. OpenAI's streams carry nothing that its own don't, since
// clients raise on an event that they don't know, and much code reads
// choices[0] of every chunk: statuses and agents are not shown there, and show
// only as a comment that keeps the connection alive.
//
// Anthropic's clients drop members of blocks that they don't know, but send signatures and
// redacted thinking back as they are. So reasoning details of any provider, and the extra
// members of calls, travel in these (see seal).
//
// A cancelled turn ends OpenAI's, Ollama's and Anthropic's streams without their last frame,
// which is how clients tell that an answer isn't whole.
//
// # Parameters
//
// No parameter is dropped without a report: it reaches a provider, or the header
// X-Fettle-Ignored names it, together with every member of a request that is not read. Values
// that change nothing (a penalty of 0, n of 1, logprobs false) count as not given, and marks
// of Anthropic's prompt cache are not reported, since fettle sets its own. The names are those
// of chat completions; the other APIs have them where [Name.Field] says.
//
//	                                     OpenAI  Responses  Anthropic  Ollama  Mistral
//	temperature, top_p, max_tokens       yes     yes        yes (1)    yes     yes
//	top_k                                yes (2) no         yes (1)    yes     no
//	min_p                                yes (2) no         no         yes     no
//	seed                                 yes     no         no         yes     yes
//	stop                                 yes     no         yes        yes     yes
//	frequency_, presence_penalty         yes     no         no         yes     yes
//	repeat_penalty                       no      no         no         yes     no
//	logit_bias                           yes     no         no         no      no
//	parallel_tool_calls                  yes     yes        yes        no      yes
//	verbosity                            yes     yes        no         no      no
//	service_tier                         yes     yes        yes (3)    no      no
//	user                                 yes     yes        yes        no      no
//	safety_identifier                    yes     yes        yes (4)    no      no
//	prompt_cache_key                     yes     yes        no         no      no
//	strict of a function                 yes (5) yes (5)    yes (1)    no      yes
//	name, description of the format      yes     yes        no         no      yes
//	name of a message                    yes     no         no         no      no
//	levels of reasoning                  as they are; the nearest that the model has
//	budget of thinking in tokens         a level            yes (1)    a level a level
//	last message of the assistant's      (6)     (6)        (7)        yes     yes
//	logprobs, metadata, audio, num_ctx, keep_alive, n above 1: no provider
//
// (1) As the model takes it: newer models of Anthropic's refuse some, and while a model thinks
// it takes less. (2) Not by OpenAI's own addresses and Azure. (3) auto and standard_only.
// (4) Where no user is given. (5) Where the schema obeys the rules of strict mode. (6) See
// Prefill. (7) Up to version 4.5 of Claude. A parameter that a server refuses by name is left
// out from then on, and reported. n above 1 is an error.
//
// # Messages
//
// The messages of a request reach the provider with all of their pieces, in their order, with
// these exceptions:
//
//	                                     OpenAI  Responses  Anthropic  Ollama  Mistral
//	order of texts and images            yes     yes        yes        no (1)  yes
//	images of a result                   yes (2) yes        yes        yes     yes
//	is_error of a result                 no      no         yes        no      no
//	reasoning of the model               (3)     (4)        (4)        (5)     (4)
//
// (1) The API has images apart from the text of a message. (2) As a message of the user's after
// the results. (3) In the field in which the server itself has sent or requires it. (4) With the
// signature or the encrypted form that the provider has made, which clients of Anthropic's API
// send back. (5) That since the last question: like other providers, Ollama's templates leave
// out earlier reasoning.
//
// Instructions at the beginning are the system prompt. Later ones are a marked text of the
// message before them: a user's message or a result; after an answer they are a message of the
// user's. Messages and pieces without content are left out, and so is an answer that has neither
// text nor calls. A result keeps its place after the call that it answers.
//
// # Prefill
//
// A last message of the assistant's begins the answer, and the response is what follows it.
// Several such messages are one, with a blank line between their texts. A provider is asked in
// the form that it documents: the member prefix of the message (Mistral, DeepSeek's beta
// address), partial (Kimi, Qwen), continue_final_message and add_generation_prompt of the
// request (other addresses, as vLLM, SGLang, llama.cpp and TGI have them), or the message alone
// (Anthropic, Ollama, OpenRouter, Groq). Anthropic's API refuses blanks at the end of the text,
// so they are removed for it. Reasoning is not asked for where a model can't do both.
//
// OpenAI's own addresses, Azure, Google, xAI, and every address over the Responses API answer
// such a message with another one. Clients of chat completions and of Responses expect that:
// they get it, and X-Fettle-Ignored names prefill. A client that sets prefix, partial or
// continue_final_message, and every client of Anthropic's or Ollama's API, expects a
// continuation: it gets status 400, as all clients do from models that refuse such a message
// (Claude from version 4.6 on), from agents, and together with a schema of the answer.
//
// # Concurrency and memory
//
// Encoders and Objects belong to one goroutine at a time; the rest of the
// package keeps no state. An Encoder keeps ids of what is open and counters.
// That of responses keeps the answer too, since its format repeats it at the
// end, up to [MaxAnswer] bytes, as Objects do; a turn that exceeds that ends
// with an error in the dialect's own form.
package dialect
