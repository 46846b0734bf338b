// Package search is what full-text search is made of: words, queries, sets of
// chats, and excerpts. It knows nothing of a store; the engine keeps the sets
// and reads the messages.
//
// It is not a ranking engine: what matches is listed by time, so there are no
// weights, no stemming of grammar and no stop words.
//
// # Vocabulary
//
//   - Token: one word of a text, folded: without case, without diacritics, in
//     one form of each character. Scripts that don't put spaces between words
//     (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese) give a token for
//     every two neighbouring characters.
//   - Term: what the index has sets for. A text has one for each token (its
//     word), for each begin of one (a stem), and for each two tokens that
//     follow each other (a [Pair]).
//   - Set: numbers of chats, in blocks of 1024; a block is one value of the
//     index, at most 128 bytes.
//   - Clause: what a query asks for in one place: a word, the begin of one, or
//     a phrase. All must occur in a chat, each anywhere in it; those with a
//     minus must not.
//
// # What an index can tell
//
// A set of chats is never too small. Where a clause is [Clause.Exact] it is
// exactly right; a phrase may have its pairs at different places, so what the
// sets give has to be confirmed by [Query.Find] in the text itself.
//
// Everything here is a pure function and safe for concurrent use. Texts and
// queries are hostile: what one of them costs is bounded by its length, and
// tokens are cut to [MaxToken] bytes.
package search
