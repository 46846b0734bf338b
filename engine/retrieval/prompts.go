package retrieval

import "strings"

// Prompt is what an embedding model was trained to find in front of texts. Without it such a
// model still returns vectors, and ranks worse.
type Prompt struct{ Query, Passage string }

// prompts are those of well-known models, by a part of the name, from their documentation.
// The first one that fits counts.
var prompts = []struct {
	model string
	Prompt
}{
	{"nomic-embed-text", Prompt{"search_query: ", "search_document: "}},
	{"embeddinggemma", Prompt{"task: search result | query: ", "title: none | text: "}},
	{"qwen3-embedding", Prompt{"Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ", ""}},
	{"snowflake-arctic-embed2", Prompt{"query: ", ""}},
	{"snowflake-arctic-embed", Prompt{"Represent this sentence for searching relevant passages: ", ""}},
	{"mxbai-embed-large", Prompt{"Represent this sentence for searching relevant passages: ", ""}},
	{"bge-large-en", Prompt{"Represent this sentence for searching relevant passages: ", ""}},
	{"multilingual-e5", Prompt{"query: ", "passage: "}},
}

// PromptOf returns the prompt of a model; most have none.
func PromptOf(model string) Prompt {
	model = strings.ToLower(model)
	for _, p := range prompts {
		if strings.Contains(model, p.model) {
			return p.Prompt
		}
	}
	return Prompt{}
}
