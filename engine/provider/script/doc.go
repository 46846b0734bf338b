// Package script is a provider whose models are files: `script/FILE` plays a written or
// recorded model through the same path as a real one. The demo, CI and the engine's tests run
// on it, and [Record] writes such a file from any other provider. It is not a mock: it answers
// what its file contains, refuses what the file can't answer, and fails in the ways in which
// real models fail.
//
// # Vocabulary
//
//   - Script: one file; its description of the model and its responses.
//   - Response: what the model answers to one request.
//   - Question: the text of the last user message of a request.
//   - Step: how many assistant messages follow the question in a request; 0 is
//     the first answer to it, 1 the one after the first tool results.
//   - Answers so far: how many assistant messages a request holds in all. One that
//     begins the answer counts too.
//
// # Names
//
// The name behind `script/` is a path as it was typed, against [Options.Dir] where it is
// relative: `script/tape.jsonl`, `script//tmp/tape.jsonl`, `script/C:\tape.jsonl`. A name that
// begins with a colon is looked up in [Options.FS] and nowhere else: `script/:demo` is its file
// demo or, failing that, demo.yaml, demo.yml or demo.jsonl. A file whose own name begins with a
// colon is reached by `script/./:x`. A file is read when it is first requested, and again once
// its size or time has changed.
//
// [Options.Named] limits the files to those that the user has named. The names of
// models also come from clients, from bundles and from stored chats, and a script
// may be any file of the machine: its errors quote it, and so may its answers.
//
// # The written form
//
// YAML, for people. Unknown keys, wrong types, doubled keys and keys that exclude each other
// are errors with their line and column.
//
//	model: a patient bookkeeper       # shown to people; optional
//	pace: 15ms                        # a wait before each delta; default none
//	instant: false                    # true leaves every wait out
//	context_length: 8192              # requests estimated longer are refused
//	capabilities:                     # yes, no, unknown or refuses
//	  tools: yes                      #   default yes
//	  images: yes                     #   default yes
//	  schema: yes                     #   default yes
//	  thinking: unknown               #   default unknown
//	responses:
//	  - when: (?i)orders              # RE2, anywhere in the question
//	    system: ^You are the Scribe   # RE2, anywhere in the system prompt
//	    seen: wrote a draft           # RE2, anywhere in the texts of the messages
//	    step: 0                       # see Step above
//	    expect:                       # else the request is rejected
//	      system: [be brief]          #   parts of the system prompt,
//	      last: [orders.csv]          #   of the last message's text,
//	      tools: [read_file]          #   of the name of some offered tool,
//	      must_call: read_file        #   the tool that has to be called; "*" is any,
//	      effort: high                #   and the parameters of the model
//	      temperature: 0.2
//	      max_tokens: 4000
//	      params: {top_p: 0.5, stop: [END], parallel_tool_calls: false}
//	                              #   and its other parameters, by the names of
//	                              #   provider.Sampling and provider.Hints
//	    reasoning: Let me look.       # streamed word by word
//	    text: One moment.             # streamed word by word
//	    calls:                        # handed on once all else was
//	      - {name: read_file, args: {path: orders.csv}}
//	    usage: {input_tokens: 12, output_tokens: 5}
//	    stop_reason: tool_use         # default: tool_use with calls, else stop
//	    pace: 0ms                     # instead of the script's
//	  - deltas:                       # the exact list, instead of text and so on
//	      - content: "Hel"
//	      - wait: 200ms
//	        batch: [{content: l}, {content: o}]
//	      - meta: {stop_reason: length}
//	  - text: It breaks
//	    error: {kind: rate_limited, status: 429, message: slow down, retry_after: 2s}
//	  - {text: It stops without its e, cut: true}
//	  - {hang: true}                  # waits until the caller gives up
//
// A response that ends in error, cut or hang returns the deltas before that, and no call and no
// meta delta. A call without an id gets one that depends on its place alone. The kinds of error
// are those of provider.Kind: broken, rate_limited, overloaded, slow_start, unreachable,
// unauthorised, unknown_model, context_full, unsupported (with feature: tools, images, thinking
// or schema), rejected and undecodable. In a list of deltas the key is the kind: reasoning,
// reasoning-details, content, tool-call ({id, name, args}), annotations, meta or footnote; an
// item becomes a separate batch unless it is a batch. A list without meta gets one.
//
// A capability that is `refuses` is reported as unknown when the model is described, and a
// request that uses it is refused as unsupported, as real models do; `no` is refused too,
// except for schema, since a provider without structured output asks for it in words.
//
// # Which response answers
//
// The choice is a pure function of the request, so the provider keeps no place in a
// conversation, and concurrent chats don't affect each other. Each response has a condition:
//
//   - with some of `when`, `system`, `seen` and `step`, that all that it has
//     hold;
//   - with none of them, that it is the n-th of those with none (from 0) and
//     the request has n answers so far.
//
// Agents that answer one question together are distinguished by `system`, since each has its
// prompt, and the first request of one from a later one by `seen`.
//
// The first response of the file whose condition holds answers. `when: ""` holds always, which
// makes a last response for everything else. Where nothing holds, the request is rejected and
// the error names the requested step.
//
// # Vectors and completions
//
// A script embeds texts by their words, so that tests and demos of searches need no model:
// see [Provider.Embed]. For a completion the response to the text as a question is played; a
// suffix follows the text after <fill>.
//
// # The recorded form
//
// JSON lines, for programs. The first line is a header, `{"fettle_script":1}`, which may have
// the other keys at the top of a written script; a header further down, as appending makes
// them, is checked and changes nothing. Every other line is a response, with the same keys and
// the same strictness, and with what the recorder adds:
//
//	{"at":0,"asked":"5d41402a","told":"e3b0c442","given":"2cf24dba","from":"ollama/qwen3:8b","deltas":[…]}
//
// `at` is the answers so far when it was asked, `asked` a short hash of the question, `told`
// one of the system prompt, `given` one of all texts of the messages, and `from` names for
// people the model that answered. The lowest `at` of a file counts as 0, so that a recording
// may begin in the middle of a chat. Of the lines with the `at` of the request, the one answers
// that has the same messages with the same prompt, else the same prompt, else the same
// question, and of several such ones the last: a retry replaces the try before it, questions
// that were recorded one after the other are distinguished, and so are agents that answer one
// question together. Lines without `at` answer as written responses do, if no recorded one
// does.
//
// A replay returns the batches as they came, with the wait before each. Text is kept exactly if
// it is valid UTF-8; JSON (arguments, details, annotations) is kept but for the white space
// between its tokens. Of a response that broke off, calls that had come already are kept in the
// file and not played.
//
// The form is determined by the content: a first line that begins with the key fettle_script,
// or a name that ends in .jsonl or .ndjson, is the recorded one.
//
// # Limits and promises
//
// A file has at most 64 MiB and 100,000 deltas besides meta; its values nest
// at most 100 deep (in recordings 10,000) and number at most a million; a wait is at most an hour,
// also that of hang. A message about a file is one line and shows at most 40
// characters of a value.
//
// A Provider and a recorder are safe for concurrent use. No goroutine is
// started. A recorder writes a response with one Write once it has ended, so
// what a crash leaves is whole lines; it doesn't sync.
package script
