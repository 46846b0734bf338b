package help

// configShapes are the JSON of the commands about configuration, keys and
// trust.
func configShapes() []shape {
	version := field{"schema_version", "1"}
	return []shape{
		{"fettle config list -o json", []field{
			version,
			{"profile", "the one in force, where one is"},
			{"profiles", "the names of those that there are"},
			{"files", "those that were read"},
			{"settings", "the table's first, then providers, models and prices by name, each a setting as below"},
		}},
		{"a setting; fettle config get -o json adds schema_version", []field{
			{"key", "with dots between its parts"},
			{"value", "a text, a number, true or false, or a list of texts; [redacted] for a secret"},
			{"secret", "true where the value isn't shown"},
			{"origin", "where it comes from: a place as below; several where rules add up, the strongest first"},
		}},
		{"a place", []field{
			{"kind", "default, file, project, environment or flag"},
			{"file, line, column", "of a file"},
			{"name", "of a variable or a flag"},
			{"profile", "of the file, that the value stands in"},
		}},
		{"fettle config set -o json, and config unset", []field{
			version,
			{"file, key", "what was changed"},
			{"in_force", "the setting that is in force now, where there is one; not of a profile's"},
		}},
		{"fettle config path -o json", []field{
			version,
			{"file, exists", "your file, and whether it is there"},
			{"project, project_trusted", "the project's file that counts here, if any, and whether you trust it"},
			{"keys", "the file of keys"},
		}},
		{"fettle config check -o json", []field{
			version,
			{"files", "those that were read"},
			{"errors, warnings", "how many there are"},
			{"problems", "each a problem as below"},
		}},
		{"a problem", []field{
			{"severity", "error or warning"},
			{"file, line, column", "where it is in a file"},
			{"source", "the variable or the flag, where it isn't in a file"},
			{"key", "the setting, where one is known"},
			{"message, hint", "what is wrong, and what to do"},
		}},
		{"fettle keys list -o json", []field{
			version,
			{"file", "where keys are kept that aren't in the keyring"},
			{"keyring, why_no_keyring", "whether there is one to use, and why not"},
			{"keys", "by provider: name, known (to the configuration), sources (see below; the first is used)"},
		}},
		{"a source of a key", []field{
			{"place", "environment, configuration, command, keyring or file"},
			{"name", "of the variable"},
			{"ends", "the last four characters of a long key"},
			{"used", "whether it is the one"},
			{"exposed", "true where others can read the file, so that the key isn't used"},
		}},
		{"fettle keys set -o json, and keys rm", []field{
			version,
			{"name, place", "the provider, and where its key is now, or was"},
		}},
		{"fettle keys path -o json", []field{
			version,
			{"file, exists", "where keys are kept that aren't in the keyring"},
		}},
		{"fettle trust -o json", []field{
			version,
			{"file, sha256", "the project's file, and its digest for --sha256"},
			{"trusted", "whether it is, as it stands"},
			{"grants", "what it wants beyond holding data: key, does (in words), line, column, lines (of the file)"},
		}},
		{"fettle trust --list -o json", []field{
			version,
			{"projects", "file, sha256, time, state (trusted, changed, gone)"},
			{"commands", "those for keys: command (without what looks like a key), sha256, time, project"},
		}},
	}
}
