// Package server is the engine over HTTP: for pages, editors and other
// programs. It adds nothing to what a turn is. A handler reads a request,
// calls the engine through one small interface of its resource, and writes what
// came back; a stream is engine.Follow as frames, written by a dialect of server/dialect.
//
// # Vocabulary
//
//   - Gate: what every request passes before its handler: Host, Origin,
//     Sec-Fetch-Site, size, rate, token, content type (gate.go).
//   - Route: one operation. The table in routes.go is what the mux and
//     /openapi.json are both made of.
//   - Follower: one client of one turn's stream (stream.go).
//   - Approval: a confirm_request of a live turn with the nonce that answers it
//     (approvals.go).
//   - Thread: a conversation by the name that a client has for it (wire.go,
//     threads.go). Its chat is found by that.
//   - Owner: whoever comes by the Unix socket. Its file lets only the user in, so
//     no token is asked there, and no browser reaches it. What commands of fettle
//     need beside the public API is for the owner alone (owner.go).
//
// # What is hostile
//
// Any page that a browser on this machine has open can send requests here. So
// the Host has to be the address itself, an Origin has to be the server's own, a
// request that a browser made for another site is refused whatever its method,
// and the token is a header or a part of the path, never a cookie. No CORS header
// is ever written but for the one origin of Options.TrustOrigin, on the one route
// that it may use.
//
// # Promises
//
//   - A client that goes away ends nothing but its own stream. A turn ends by
//     itself, by cancel_turn, or with the server; one that a command owns
//     (begin_turn) is cancelled when that goes.
//   - The engine's store is shared with other processes while an owner asks for
//     it (share_store), and held otherwise.
//   - A follower gets each event once and in order, and what it missed after
//     Last-Event-ID. Following a turn that has nothing more is answered with 204,
//     which ends a client's reconnecting.
//   - A follower costs one goroutine that follows and one that keeps the
//     connection alive, and holds one event at a time: it reads the turn's log at
//     its own pace. One that takes nothing for stallTime is dropped, and can
//     resume.
//   - An approval is answered once, by whoever saw it, for just what was shown.
//     One that nobody answers in time is denied.
//   - Drain lets live turns end for a stated time, then ends them as interrupted.
//
// # Concurrency
//
// A Server is safe for concurrent use. Everything that it starts has ended when
// Run returns.
package server
