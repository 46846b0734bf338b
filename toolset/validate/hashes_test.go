package validate

import (
	"strings"
	"testing"
)

func TestRequirementsWithHashes(t *testing.T) {
	t.Parallel()
	hash := " --hash=sha256:" + strings.Repeat("0a", 32)
	for name, tt := range map[string]struct {
		list string
		want []string
	}{
		"none":          {"[idna, requests>=2]", nil},
		"all":           {"['idna==3.10" + hash + hash + "', 'requests==2.32.3 ; python_version > \"3\"" + hash + "']", nil},
		"half":          {"['idna==3.10" + hash + "', requests==2.32.3]", []string{"toolset.yaml:6:109 error requirement: it has no hash, and 1 of the 2 requirements have"}},
		"no version":    {"['idna" + hash + "']", []string{"toolset.yaml:6:16 error requirement: it has hashes and no single version"}},
		"many versions": {"['idna==3.*" + hash + "', 'requests>=2,==2.32.3" + hash + "']", []string{"toolset.yaml:6:16 error requirement", "toolset.yaml:6:"}},
		"no hash":       {"['idna==3.10 --hash=sha256:00']", []string{"toolset.yaml:6:16 error "}},
		"an option":     {"['idna ; x --index-url=https://evil.example']", []string{"toolset.yaml:6:16 error "}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := judge(t, map[string]string{"toolset.yaml": head + "requirements: " + tt.list + "\ntools: [{id: a, description: A., entrypoint: \"tools.a:run\", input_schema: {type: object}}]\n", "tools/a.py": good})
			want(t, r, tt.want...)
		})
	}
}
