package help

// roundShapes are the JSON of the commands around questions and chats.
func roundShapes() []shape {
	version := field{"schema_version", "1"}
	return []shape{
		{"fettle prompts list -o json", []field{
			version,
			{"prompts", "by name, the project's before yours, each a prompt as below"},
		}},
		{"fettle prompts show -o json: a prompt", []field{
			version,
			{"name", "what -p calls it"},
			{"source, path", "project or user, and the file"},
			{"hidden", "whether the project's prompt of this name is used instead"},
			{"hides", "your file of this name, where this one is the project's"},
			{"description", "and model, system, schema: what its front matter says"},
			{"tools", "enabled, and globs over the tools"},
			{"variables", "each with name, description, default, required"},
			{"problems", "why it can't be used, a line each; only in the list"},
			{"text", "the file; only of prompts show"},
		}},
		{"fettle usage -o json", []field{
			version,
			{"by", "model, day or chat"},
			{"since", "the first day that is counted, with --since"},
			{"rows", "the latest day first, else what used most, each a row as below"},
			{"total", "a row that sums up all"},
		}},
		{"a row of usage", []field{
			{"model, day, chat", "the one that rows are by; chat has id, number, title, deleted"},
			{"turns, untold", "how many turns, and of how many the provider told no tokens, or not all"},
			{"input_tokens", "and output_tokens; of them cached_tokens, cache_write_tokens and reasoning_tokens"},
			{"cost", "of the tokens that were told, an amount for each currency: currency, amount"},
			{"unpriced", "the models whose tokens the cost leaves out"},
		}},
		{"fettle doctor -o json", []field{
			version,
			{"status", "the worst of the checks: ok, warning or error"},
			{"version", "of fettle"},
			{"checks", "each with id, title, status, detail, more (lines), hints (what to do, the best first)"},
		}},
	}
}
