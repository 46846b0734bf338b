// Package asking holds the questions that turns ask a user: approvals of calls, forms,
// and the review of changes. It has the life of a question once, for all front ends of
// the server: when it is asked, when it is answered and by which client, when it is
// withdrawn, and when its time is over. It does not render a question and does not parse
// an answer; each front end does so in its own protocol.
//
// A question reaches a user in one of two ways. Show asks one client over its connection,
// and waits for the answer while the turn continues (ACP, legacy MCP). Put keeps the
// question for clients that answer by a request of their own (HTTP), and Take accepts the
// first of these answers.
//
// # Promises
//
//   - A question has one answer. An answer that comes after it changes nothing, and Take
//     reports who answered and when.
//   - The answers that one request gives are taken together, or none of them is.
//   - A question without an answer within Options.Limit is denied.
//   - A question that is answered elsewhere is withdrawn where it is shown, and so are all
//     questions at the end of the turn.
//
// # Concurrency
//
// The methods of Questions can be called by several goroutines. Settled and End do not
// call the turn.
package asking
