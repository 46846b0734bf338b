// Package facts holds what is publicly known about the models of well-known providers:
// the length of the context, the longest answer, abilities, reasoning levels and prices.
//
// The program contains one table, [Builtin], which was generated from a commit of
// models.dev (MIT licence, https://github.com/anomalyco/models.dev). Providers say
// little about their models, so that without the table the share of the context and the
// cost of a chat would be unknown until the user writes them into the configuration.
//
// # Precedence
//
// A fact from the table is the weakest: the configuration comes first, then what the
// provider's own list says, then the table. A table is valid for a provider's address,
// not for the name that the user gave the provider: see [Table.At]. At other addresses
// the same model may have another context and another price.
//
// # Updates
//
// Nothing is fetched unless the user asks for it. [Parse] reads the form in which
// models.dev publishes its data, [Table.WriteTo] and [Read] are the form on disk. The
// newer of the builtin table and the one on disk is used.
//
// # Units
//
// Lengths are in tokens. Prices are in millionths of a US dollar for a million tokens.
//
// To refresh the builtin table, run the generator on a checkout of models.dev:
//
//	go run ./engine/models/facts/generate -from DIR -commit HASH -date 2026-07-02
package facts
