// Package providertest is what every provider has to pass, and the means to
// test one with. It is imported by tests alone.
//
// Two suites are here:
//
//   - Run drives a whole Provider through the behaviours that the engine
//     relies on: order, batches, calls only at the end, exactly one meta
//     delta, kinds of failure, limits, and connections that close. A Harness
//     tells how to make the provider and how its wire format puts things;
//     HTTP makes one for a wire format that is served over HTTP.
//   - Corpus and Cuts drive a wire reader alone through testdata/streams, the
//     streams that servers really send, whole and cut at every byte.
//
// # Vocabulary
//
//   - Play: how the other side behaves for one request.
//   - Piece: one thing of a response, before the wire format gives it bytes.
//   - Seen: a request as the other side understood it, in the same terms for
//     every wire format.
//
// # What is proved, and by which case
//
// anthropic, mistral and ollama each run these as TestConformance/<case>. openai runs them
// as TestConformance/<row>/<case>, with rows for chat completions, the Responses API, a
// deployment at Azure, Azure with a token, and the Responses API at Azure.
// script runs those that are not about HTTP. What one has nothing of is in the Lacks
// of its Harness, with the reason. A test holds this list against the cases, and
// another finds a provider that doesn't run them.
//
//	text               text; what is written at once is one batch;
//	                   several at once; stop reasons; usage
//	thinking           reasoning then text; reasoning goes back with its calls
//	tools              a call; several calls; names come back; calls of one id;
//	                   a call with arguments empty; a call with arguments null;
//	                   a call with arguments missing; a call waits for the end;
//	                   takes no tools; a tool that has to be called;
//	                   a model that can't be made to call
//	images             sends images
//	structured output  sends a schema
//	conversations      sends a conversation; sends options and key;
//	                   sends stop texts;
//	                   roles that follow each other; empty messages;
//	                   ids that were used before;
//	                   a very long result and odd characters
//	cancel             cancel; break; cancelled before it begins
//	cut                cut; nothing with status 200
//	401, 403, 404      wrong key; status 403; unknown model
//	413 and the like   context full
//	429                asks to wait for seconds; asks to wait until a date;
//	                   asks to wait in milliseconds;
//	                   asks to wait by x-ratelimit headers;
//	                   asks to wait by anthropic-ratelimit;
//	                   asks to wait by a time since 1970;
//	                   asks to wait and means nothing;
//	                   asks to wait in words of its body alone;
//	                   asks never to be asked again
//	5xx, 408, 409      status 500; status 502; status 503; status 504;
//	                   status 529; status 408; status 409
//	error mid-stream   error in the stream; an error with status 200;
//	                   errors with secrets and control characters
//	limits             no first byte; no next chunk; signs of life are no answer;
//	                   a slow listener is no slow model;
//	                   a connection that stays open after the end
//	hostile servers    garbage; a web page with status 200; a line without end;
//	                   a head without end; gzip that nobody asked for;
//	                   what is no gzip; no redirect takes the key along
//
// What only one wire format has stands in its own tests: blocks of thinking
// with signatures, marks for the prompt cache and refused parameters in
// anthropic, chunks of thinking and ids of nine in mistral, the size of the
// context in ollama, signed reasoning in pieces and encrypted items in openai.
package providertest
