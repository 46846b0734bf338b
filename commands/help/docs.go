package help

// docsShapes are the JSON of the commands around documents.
func docsShapes() []shape {
	version := field{"schema_version", "1"}
	return []shape{
		{"fettle docs list, add, rm -o json", []field{
			version,
			{"documents", "by name, with --deleted the last removed first, each a document as below"},
		}},
		{"a document", []field{
			{"id, name", "either names it, as doc:ID or doc:NAME"},
			{"mime, size, sha256", "text/plain or an image's type; of its content"},
			{"manifest_id", "the state that keeps it"},
			{"created_at, deleted_at", "when it was stored, and removed"},
			{"same", "of docs add: whether it was there before"},
		}},
		{"fettle docs search -o json", []field{
			version,
			{"query", "as it was understood"},
			{"model, no_meaning", "which model ranked by meaning, if any; why none did though one is configured"},
			{"embedded, tokens", "how many documents were embedded for this search, and what the provider counted"},
			{"passages", "the best first, each as below"},
		}},
		{"a passage", []field{
			{"id, name, line", "the document, and the line in which the passage begins"},
			{"start, end, text", "the passage, in bytes of the document"},
			{"offsets", "where the words are in text, in characters, as [begin, end)"},
			{"score", "what decides the order: of both rankings together, or BM25"},
			{"words_rank, meaning_rank", "the ranks by words and by meaning, from 1; absent below the first 200"},
			{"cosine", "the similarity of meaning, -1 to 1"},
		}},
		{"fettle embed, a line for each text", []field{
			{"index", "of the text, from 0"},
			{"id", "that of a JSON line, or the name of a file"},
			{"embedding", "the vector, a list of numbers"},
		}},
		{"fettle embed -o json", []field{
			version,
			{"model, dimensions", "which model, and how many numbers a vector has"},
			{"tokens, kept", "what the provider counted, and how many vectors were kept from before"},
			{"embeddings", "the vectors, each as a line above"},
		}},
		{"fettle docs show -o json", []field{
			version,
			{"id, name", "and the rest of a document as above"},
			{"text, data", "what it holds: of an image data, in base64"},
		}},
	}
}
