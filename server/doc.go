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
//   - Line: the connection of a follower of a live turn, taken from net/http
//     (hijack.go).
//   - Relay: what the followers of a live turn share: its last events, encoded
//     once (relay.go).
//   - Pause: a stream that ends where an approval is needed, while its turn waits;
//     another request answers, and its stream goes on (pause.go).
//   - Approval: a confirm_request of a live turn with the nonce that answers it
//     (approvals.go).
//   - Artifact: a stranger's page under an address that nobody can guess, for a
//     while (package artifacts, artifact_routes.go). An app is one of an MCP server, which
//     may ask for calls of that server's tools (apps.go, app_asks.go).
//   - Opening: a code that stands for the token once, which a browser is started with
//     (login_code.go).
//   - Link: an address of one file that needs no token, for what can't send a header.
//     It is sealed, runs out, and ends with the server (links.go).
//   - Compatible routes: those of OpenAI's, Anthropic's and Ollama's APIs (compat.go,
//     responses.go, compat_models.go). Their clients change the base URL alone.
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
// and the token is a header or a part of the path, never a cookie. The page puts it
// into no address: what a player is given, and a person may copy, is a link. CORS headers are
// written for the origins of Options.AllowOrigins, whose pages need the token like
// everybody, and for the one of Options.TrustOrigin, on the one route that it may use
// without (origins.go). What tools and MCP servers show as pages is sent by another
// listener, from an origin that has nothing else (package artifacts).
//
// # Promises
//
//   - A client that goes away ends nothing but its own stream, outside of the
//     compatible routes and of POST /api/stream, whose turn is cancelled then unless
//     detach is set. A turn ends by itself, by cancel_turn, or with the server;
//     one that a command owns (begin_turn) is cancelled when that goes.
//   - The engine's store is shared with other processes while an owner asks for
//     it (share_store), and held otherwise.
//   - A follower gets each event once and in order, and what it missed after
//     Last-Event-ID. Following a turn that has nothing more is answered with 204,
//     which ends a client's reconnecting.
//   - A follower of a live turn costs two goroutines with small stacks, one of which
//     only hears whether its client goes away: its connection is net/http's no more,
//     and is closed behind the answer. That is so for this API's own dialect over
//     HTTP/1.1; every other stream is written by its handler. A follower holds no
//     event: those that keep up share the turn's last ones, who is behind
//     reads the turn's log piece by piece at its own pace, and buffers are borrowed
//     for a write. One that takes nothing for stallTime is dropped, and can resume;
//     the system holds little more of a stream than is under way.
//   - An approval is answered once, by whoever saw it, for just what was shown: the
//     call with its arguments, and the version of its toolset. One that nobody
//     answers in time is denied. Who comes too late is told who was first, and all
//     followers see the answer as an event.
//   - Drain lets live turns end for a stated time, then ends them as interrupted.
//
// # Compatible routes
//
// A client of these keeps the conversation, so a turn is told it whole and leaves
// nothing behind, but for responses that are stored: those are turns of a chat.
// The client's tools are its own: a call of one ends the turn, and the next
// request brings what it gave. A model is asked with these alone, and without the
// configuration's prompt. The model fettle/AGENT, or the header X-Fettle-Agent,
// asks an agent instead, whose tools run here; nobody can be asked for an approval
// then, so a call that needs one is denied.
//
//   - A turn of these routes ends with its client, since that is how these clients
//     cancel; so does one of AG-UI or the AI SDK whose conversation isn't known here.
//   - A turn that fails before its first text is answered with a status and the API's own
//     words: OpenAI's type and code, Anthropic's type, Ollama's sentence for a model that it
//     does not have. Later an error is a part of the stream. The status is that of the
//     failure's nature: 400, 401, 402, 403, 404, 422 and 424 where a repetition fails again,
//     429 for a provider's limit alone, with its Retry-After, 502, 503 (529 for clients of
//     Anthropic's API) and 504 where the provider itself fails. The engine repeats requests to a
//     provider, so X-Should-Retry: false tells the official clients not to do the same.
//   - A number of tokens that the provider has not counted is left out. Where an API requires
//     the field it is null, or 0 if the API has no null: input_tokens and output_tokens of
//     Anthropic's messages, and the usage of OpenAI's embeddings.
//   - The time of a model is the provider's or that of the table of models, and else when the
//     server was started; the epoch for clients of Anthropic's API, which mean unknown by it.
//   - Parameters are passed on to providers that have them; the table in the package
//     comment of server/dialect lists them. A level of reasoning that the provider does
//     not have becomes the nearest. An answer of a schema is checked, and asked for once more where it doesn't fit;
//     json_object is a schema that any object fits.
//   - tool_choice none and that of one tool decide what is offered. That of one tool
//     and required have the first response call one, where the provider can make it;
//     a footnote says where not. Parameters that the provider does not take, members that
//     fettle does not know, and tools that OpenAI runs are listed in the header
//     X-Fettle-Ignored, and in a footnote of the answer. Tools of namespaces and custom tools reach the model as
//     functions, and their calls return in the client's form. More than one answer, work in the background,
//     files by address or by id and OpenAI's conversations are refused.
//   - A last message of the assistant's is the beginning of the answer, and the response is
//     what follows it. The package comment of server/dialect lists the models that do so, and
//     what clients get from other models.
//   - A stored response can be read again, also as the stream that it was, with its
//     input; not with its metadata and the tools of its request. The calls of custom tools and
//     of tools in namespaces keep their form. Deleting a response deletes its chat if it is alone
//     in it, and is refused otherwise.
//   - item_reference stands for an item of the input or the output of a stored response. A
//     request whose input repeats a stored conversation, by references say, becomes the next
//     turn of its chat, so that its own items can be referred to.
//   - Instructions of a stored response stay those of its chat until others come.
//     A request with other earlier messages is not stored, whatever store says.
//   - functions and function_call of chat completions, which preceded tools, are answered in
//     their own form. It has no place for a second call, so that the model is asked for one.
//
// # Concurrency
//
// A Server is safe for concurrent use. Everything that it starts has ended when
// Run returns.
package server
