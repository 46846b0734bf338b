package commands

import "testing"

func TestCompleteAuthorsCommands(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"fettle toolset val":             "validate",
		"fettle toolset validate -o ":    "text json github sarif junit",
		"fettle toolset test -o ":        "text json github junit",
		"fettle toolset init --with ":    "html mcp agent",
		"fettle toolset init ":           ":dirs",
		"fettle toolset validate ":       ":files",
		"fettle toolset validate a.zip ": ":files",
		"fettle toolset test ":           ":files",
		"fettle toolset pack ":           ":dirs",
		"fettle toolset pack x -O ":      ":files",
		"fettle toolset test --jobs ":    "",
		"fettle toolset validate --str":  "--strict",
	} {
		if got := completed(t, "bash", line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
