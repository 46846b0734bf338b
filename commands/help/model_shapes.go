package help

// modelShapes are the JSON of the commands about models.
func modelShapes() []shape {
	version := field{"schema_version", "1"}
	return []shape{
		{"fettle models list -o json", []field{
			version,
			{"models", "by provider, each a model as below"},
			{"providers", "whose lists these are: provider, address, local, asked_at, cached (kept by an earlier command)"},
			{"errors", "who gave no list now: provider, code, exit, message, detail, detail_total, hints; models that it told of before are listed all the same"},
			{"not_ready", "who wasn't asked: provider, reason"},
		}},
		{"a model; what nobody told is null", []field{
			{"model", "what -m calls it: provider and name"},
			{"provider, name", "its parts"},
			{"context_length", "in tokens"},
			{"tools, images", "and thinking, schema: whether it can"},
			{"size", "in bytes, where it lies with the provider"},
			{"details", "what the provider says besides"},
			{"local", "whether it runs on this machine"},
		}},
		{"fettle models show -o json: a model, and", []field{
			version,
			{"address", "the provider's"},
			{"listed", "whether the provider's list has it"},
			{"asked_at, cached", "when the provider told, and whether an earlier command asked"},
			{"sources", "for each fact that is known: from (provider, cache, configuration or table), origin, its place in the configuration (kind, file, line, column, name, profile), and date, the day of the table"},
			{"max_output", "the longest answer in tokens"},
			{"efforts", "the reasoning levels that it takes"},
			{"price", "of a million tokens: input, output, cached, cache_write, currency, and from and date as in sources"},
			{"problem", "why the provider couldn't be asked now, as an error of the list"},
			{"example", "a command that asks it"},
		}},
		{"fettle models update -o json", []field{
			version,
			{"source, date", "of the table that is used now"},
			{"models", "how many it has"},
			{"added, removed, changed", "how many differ from the table before"},
		}},
		{"fettle models pull -o json", []field{
			version,
			{"model", "what was pulled"},
			{"size, fetched", "bytes in all, and those that came now"},
			{"duration_ms", "how long it took"},
		}},
	}
}
