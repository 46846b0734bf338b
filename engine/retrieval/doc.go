// Package retrieval has the parts of a search that returns passages of documents: cutting
// texts into passages, ranking them by words and by vectors, and joining the two rankings.
// It does not know a store or a provider; package engine stores the vectors and asks for them.
//
// # Vocabulary
//
//   - Passage: a stretch of a document of at most [MaxPassage] bytes, the unit that is
//     embedded, ranked and shown. [Passages] is deterministic: the same text always gives the
//     same passages, as long as [Form] is the same.
//   - Words: the ranking by the words of a query, which is BM25 over passages. Package search
//     decides what a word is and where it occurs.
//   - Meaning: the ranking by the cosine between the vector of the query and that of a
//     passage. It is exact: every vector is compared, there is no approximate index.
//   - Rank fusion: the order of a search that has both rankings ([Fuse]).
//
// # Growth
//
// Both rankings take time proportional to the number of passages. The memory of the ranking by
// meaning is constant: the caller passes vectors as they are read, and [Top] keeps the best
// ones. The ranking by words keeps some 50 bytes for each passage in which a word of the query
// occurs, since the weight of a word is known only after the last passage. An approximate
// index (HNSW, IVF) would make the time logarithmic; it would need the whole of the vectors in
// memory or a second file format, and is worth that above some million passages.
//
// Everything here is for one goroutine at a time.
package retrieval
