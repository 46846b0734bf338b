package python_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/python"
)

// Document 003 calls the file tools.py: it is found below tools/, and one at the root of
// the bundle hides no other module.
func TestAModuleNamedToolsIsFound(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	const answer = "def run(workspace):\n    return {\"module\": __name__}\n"
	write(t, filepath.Join(dir, "below", "tools", "tools.py"), answer)
	write(t, filepath.Join(dir, "beside", "tools.py"), "raise RuntimeError\n")
	write(t, filepath.Join(dir, "beside", "tools", "other.py"), "from tools.more import name\n"+answer)
	write(t, filepath.Join(dir, "beside", "tools", "more.py"), "name = 1\n")
	w := newWorld(t, python.Options{})
	for set, module := range map[string]string{"below": "tools", "beside": "other"} {
		s := spec(filepath.Join(dir, set), "tools/"+module+".py", "run")
		res := mustRun(t, w, s, call(workspace(t), `{}`))
		if want := `{"module":"tools.` + module + `"}`; string(res.Data) != want {
			t.Errorf("%s: %s, want %s", set, res.Data, want)
		}
	}
}

// The client's context reaches a function that has a parameter for it, and the documents'
// form; what fettle itself knows of the call can't be replaced by it.
func TestTheClientsContextReachesTools(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	write(t, filepath.Join(dir, "tools", "a.py"), "def run(workspace, context):\n    return {\"of\": context[\"selected_business\"], \"chat\": context[\"chat_id\"], \"page\": context[\"page\"]}\n\n\n"+
		"def old(params, db, user_id, context):\n    return run(None, context)\n")
	w := newWorld(t, python.Options{})
	c := call(workspace(t), `{}`)
	c.Context = []byte(`{"selected_business":"Blue Door","chat_id":"forged"}`)
	for _, function := range []string{"run", "old"} {
		res := mustRun(t, w, spec(dir, "tools/a.py", function), c)
		if got, want := string(res.Data), `{"of":"Blue Door","chat":"chat-1","page":"reports"}`; got != want {
			t.Errorf("%s: %s, want %s", function, got, want)
		}
	}
}

// An error of the network is explained by the permission that the toolset lacks.
func TestAToolWithoutNetworkIsToldSo(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	write(t, filepath.Join(dir, "tools", "a.py"), "def resolve(workspace):\n    raise OSError(-3, 'Temporary failure in name resolution')\n\n\ndef other(workspace):\n    raise OSError(2, 'No such file or directory')\n")
	w := newWorld(t, python.Options{})
	for function, explained := range map[string]bool{"resolve": true, "other": false} {
		for _, network := range []toolset.Network{toolset.NetworkNone, toolset.NetworkAll} {
			s := spec(dir, "tools/a.py", function)
			s.Policy.Network = network
			_, err := w.Runner(s).Run(t.Context(), call(workspace(t), `{}`))
			var failed *toolset.ToolError
			if !errors.As(err, &failed) || strings.Contains(failed.Message, "permissions.network") != (explained && network == toolset.NetworkNone) {
				t.Errorf("%s with the network %q: %v", function, network, err)
			}
		}
	}
}

// A function without a parameter for the workspace is called without it, as document 003
// writes its tools.
func TestAFunctionMayHaveNoWorkspace(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	write(t, filepath.Join(dir, "tools", "a.py"), "def read(query: str) -> str:\n    return 'found ' + query\n\n\ndef usual(query='all') -> str:\n    return 'found ' + query\n\n\n"+
		"def nothing():\n    return 'found nothing'\n\n\ndef first(ws, query) -> str:\n    return 'found ' + query + ' in ' + type(ws).__name__[-4:]\n")
	w := newWorld(t, python.Options{})
	for function, c := range map[string][2]string{
		"read": {`{"query":"login"}`, "found login"}, "usual": {`{}`, "found all"}, "nothing": {`{}`, "found nothing"},
		"first": {`{"query":"login"}`, "found login in Path"},
	} {
		if res := mustRun(t, w, spec(dir, "tools/a.py", function), call(workspace(t), c[0])); res.Text != c[1] {
			t.Errorf("%s: %q, want %q", function, res.Text, c[1])
		}
	}
}
