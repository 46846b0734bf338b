// Package wire holds what every provider that speaks HTTP needs: one exchange
// from request to the last delta, its time limits, the reading of failures,
// and the tolerance for JSON as servers really send it. The wire formats
// themselves are in the rooms beside this one; nothing here knows a path, or a
// field that only one of them has.
//
// # Vocabulary
//
//   - Endpoint: an address with its key and headers, which makes exchanges. Adapter: what the
//     endpoints of one adapter have in common.
//   - Exchange: one request and the streamed response to it.
//   - Decoder: a wire format's reader; each Read takes what one network read
//     brought and gives it as one batch of deltas.
//   - Events: a body as the events of a stream, or as one body where it is no
//     stream; judged by its first bytes, not by its Content-Type.
//   - Grace: the time between the finish reason and the end of a response.
//   - Source: whose failures these are: provider, model, address, and the keys
//     that must not show in a message.
//   - Call: a tool call as the model wrote it, before it is known to be whole.
//   - Refusals: the tools of requests that an address would not take.
//   - Halves: the two escapes of a character that a stream cut in two.
//   - Node: a JSON value that keeps the order of its members, for schemas that
//     have to be changed before a server takes them.
//
// # Promises
//
//   - An exchange starts no goroutine of its own and has closed its response
//     when Run returns, whatever made it return.
//   - Every wait is bounded: until the first delta by Limits.First, then by
//     Limits.Between. Keep-alives and empty chunks don't count as an answer;
//     pieces of a tool call do. While the caller handles a batch the clock
//     stands still. After the finish reason the wait is Limits.Grace, and then
//     the response is complete.
//   - A redirect to another host is not followed, so neither the key nor the
//     conversation goes where nobody sent it.
//   - Error messages are one line of at most 500 bytes, without control
//     characters and without anything that looks like a key.
//
// Sizes are bounded too: 1 MiB for the head of a response, 16 MiB for a chunk, 64 KiB for the body of a refusal,
// 16 MiB for any other body.
package wire
