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
