// Package mistral speaks Mistral's chat completions, to Mistral itself and to
// any address that serves them, and where it is asked to, its agents and
// conversations. It is a client only, and knows nothing of connectors. Requests and
// responses of chat completions are those of package chatcompletions, with the quirks of
// quirksOf.
//
// # What differs from OpenAI's chat completions
//
//   - The id of a tool call is exactly nine letters or digits. Ids of other
//     forms in a history are replaced by such ones, each by its own, calls and
//     results alike.
//   - A person's message may not follow a tool's result. Where one does, after
//     a turn that was stopped, an answer that says so is put between. Messages
//     of a person that follow each other are one.
//   - Fields that aren't known are refused: no stream_options, and no field for
//     reasoning beside the content.
//   - Content may be a list of chunks. What a model thinks comes as chunks of
//     type thinking, and goes back as it came, with its signature where it has
//     one, in the later requests of the chat.
//   - A refused request may describe its faults as a list of places; they are
//     put into one line.
//   - A response may end with the reasons model_length and error.
//
// # What is learnt while it runs
//
// A schema that is refused in strict mode is sent without it, and then put
// into words. That holds for the one request; for the model it holds from then
// on where the refusal says that the model has no such thing. A model that
// takes no reasoning_effort or no temperature gets none from then on. Thinking
// that is refused in a history is left out of that request. Nothing of it is
// kept on disk.
//
// # Agents
//
// With Options.AgentFile, requests of a turn with agents (provider.Native) go to
// the API of agents and conversations. Before the first one the agents are
// enlisted: ids that were kept in the file are looked at, agents that are gone
// are made again, those that differ are brought up to date, and handoffs are
// wired last, since they may go round. One process looks once at agents that stay
// the same; the file is changed under a lock, and replaced as a whole.
//
// The turn begins a conversation with the agent that is asked, with the history
// as its entries, and appends to it: the results of calls, and a word to the
// agent that it was handed to, since handoffs are left to the client. All agents
// see that conversation. Where the next request can't go on with it (the last one
// failed, or another agent goes on than the one that was handed to) it begins
// another. Conversations stay at Mistral. An answer by a schema is asked for by
// chat completions as ever.
//
// A conversation's response ends with its done event and nothing else.
package mistral
