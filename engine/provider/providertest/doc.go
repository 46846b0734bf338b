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
package providertest
