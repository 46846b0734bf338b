// Package budget decides how a conversation fits the context of a model: how
// many tokens a request may hold, which old tool outputs give way to a line,
// and which messages a summary has to stand for.
//
// It is arithmetic over sizes. It reads no message, asks no model, and changes
// nothing: whoever calls it does what the [Plan] says, in the request alone.
// The store keeps the whole history.
//
// # Vocabulary
//
//   - Estimate: tokens as [Tokens] guesses them from a text. Calibrated: the
//     same times what a model turned out to take of it ([Ratios]).
//   - Size: what is known of one message: its role, its tokens, and those of
//     each tool result in it.
//   - Question: the person's last message, with the files before it.
//   - Step: an assistant's message and the tool messages that answer its calls.
//     A step is kept or summed up as a whole.
//   - Reserve: what is left free for the answer. Room: limit less reserve.
//
// # The order in which things give way
//
// Nothing, while the request fits. Else, until it has come down to [Policy].Goal
// of the room, so that the next step doesn't begin it again:
//
//  1. results of tools outside the tail, the oldest first, each replaced by a
//     line that says so ([LeftOut]);
//  2. the oldest turns before the question, replaced by one summary;
//  3. the oldest steps after the question, replaced by another.
//
// And only as far as the request needs to fit at all:
//
//  4. the largest results in the tail, cut to one length ([Shorten]).
//
// The system message, the tools, the question and the last steps always stay.
// Where that is too much, the plan says so and nothing is sent: [ErrTooLarge].
//
// # Promises
//
//   - A plan keeps the order of messages and never parts a call from its result.
//   - A plan fits, or Fit returns ErrTooLarge.
//   - Less room never keeps more: what a plan takes away, a plan for the same
//     request and policy, but with a lower limit, takes away too.
//   - A plan for what a plan left takes away nothing, while the room is the same.
//   - A [Guard] ends rounds that don't shrink with [ErrCannotShrink].
//
// All functions are pure and safe for concurrent use; Ratios and Guard belong
// to one goroutine at a time.
package budget
