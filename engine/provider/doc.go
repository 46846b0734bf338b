// Package provider defines what the engine asks of a model and how models are
// found by name. Each wire format has a room of its own below this one;
// providertest is the suite that each must pass.
//
// # Vocabulary
//
//   - Provider: one address that serves models, such as a running Ollama.
//   - Model: one model of a provider, with what is known of its abilities.
//   - Ref: `provider/model`, the name people use.
//   - Delta: a piece of a model's response, already normalised. The kinds are
//     document 002's seven stream events, by their strings.
//   - Batch: the deltas of one network read.
//
// # What a wire reader owes the engine
//
//   - Text and reasoning are handed on as they come, in order.
//   - A tool call is handed on whole, once, and only after the response has
//     ended properly: never a prefix that happens to be valid JSON.
//   - Missing ids, indexes and deltas, null or array content, empty choices,
//     late arguments and odd finish reasons are borne; what can't be decoded
//     is an error, never the end of the answer.
//   - A response that stops without its end is [ErrCut].
//   - Every failure is an [*Error] with a Kind, so that retries, fallbacks and
//     exit codes need no text matching above this room.
//
// # What is put around a provider
//
// [Retry], a [Veil] over the secrets that it is sent, a recorder. Each has an
// Unwrap, and [As] finds what the provider behind them can do.
package provider
