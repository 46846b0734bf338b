package commands

// authorShapes are the JSON of the commands of who makes toolsets.
func authorShapes() []shape {
	version := field{"schema_version", "1"}
	return []shape{
		{"fettle toolset validate -o json", []field{
			version,
			{"ok, strict", "whether nothing counts against it; with --strict warnings count too"},
			{"errors, warnings, notes", "how many there are in all bundles"},
			{"bundles", "in the order in which they were named, each a bundle as below"},
		}},
		{"a bundle that was judged", []field{
			{"bundle, ok", "the path as it was given, and whether nothing counts against it"},
			{"id, name, version, kind", "what it says of itself, where that can be read; kind is toolset, mcpb or skill"},
			{"hash", "the digest of its files, however they are packed"},
			{"files, bytes", "what is in it"},
			{"errors, warnings, notes", "how many findings there are"},
			{"findings", "the manifest's first, then by file and place, each a finding as below"},
		}},
		{"a finding", []field{
			{"level, code, message", "error, warning or note; the stable name of its kind; what it is, on one line"},
			{"file, line, column", "the place in the bundle, counted from 1; left out where the whole is meant"},
			{"path", "the file from the repository's root, where it is a file of the disk"},
			{"pointer", "the JSON pointer of the manifest's value"},
			{"help", "what the kind is about"},
		}},
		{"fettle toolset test -o json", []field{
			version,
			{"ok", "whether all tests passed"},
			{"bundle, id, version", "the path as it was given, and what the toolset is"},
			{"passed, failed, broken", "how many; broken ones could not be run"},
			{"tests", "in the manifest's order, each a test as below"},
		}},
		{"a test", []field{
			{"index, name, tool", "its place in the manifest from 0, its name, the tool's id"},
			{"status", "passed, failed or broken"},
			{"mismatches", "what came out otherwise, each with what (return/PATH, error, output_schema, file PATH), message, want, got"},
			{"reason", "why it could not be run"},
			{"traceback", "the tool's own, where it failed and should not have"},
			{"duration_ms", "how long it took"},
		}},
		{"fettle toolset pack -o json", []field{
			version,
			{"path, id, version", "the file that was written, and what the toolset is"},
			{"sha256, size", "of the ZIP"},
			{"content_hash", "the digest of its files, however they are packed"},
			{"files, warnings", "how many files are in it, and warnings there were"},
			{"unchanged", "true where the same file was there already"},
		}},
	}
}
