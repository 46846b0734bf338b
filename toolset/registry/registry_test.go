package registry

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/bundle"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

func TestImportKeepsDocument004sRecords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := makeBundle(t)
	set := w.install(dir)
	if set.ID != "example" || set.SourceType != "local" || set.SourceRef != dir || !set.Enabled || set.ManifestVersion != "1" {
		t.Errorf("the record is %+v", set)
	}
	info := w.get("example")
	if len(info.Tools) != 2 || info.Tools[0].Tool.ID != "example:one" || info.Tools[0].Tool.ToolsetID != "example" || info.Tools[0].File != "tools/one.py" {
		t.Errorf("the tools are %+v", info.Tools)
	}
	if r := info.Tools[0].Tool.Renderer; r == nil || r.Type != "html" || r.Artifact != "artifacts/view.html" || string(r.Data) != `"$return"` {
		t.Errorf("the renderer is %+v", r)
	}
	if len(info.Servers) != 1 || !info.Servers[0].Server.Enabled || !slices.Equal(info.Servers[0].Server.DeclaredBy, []string{"example"}) {
		t.Errorf("the servers are %+v", info.Servers)
	}
	for _, f := range info.Files {
		if data, err := os.ReadFile(f.StoredPath); err != nil || int64(len(data)) != f.Size {
			t.Errorf("%s: %v", f.Path, err)
		}
	}
	w.sound()
}

func TestTheMirrorSaysHowToRunATool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if m, err := ReadMirror(w.dir); err != nil || len(m.Toolsets) != 0 {
		t.Fatalf("a new data directory has %v, %v", m, err)
	}
	w.install(makeBundle(t))
	m, err := ReadMirror(w.dir)
	if err != nil || len(m.Toolsets) != 1 {
		t.Fatalf("%v, %v", m, err)
	}
	set := &m.Toolsets[0]
	one, two := set.Tools[0], set.Tools[1]
	if one.Module != "tools.one" || one.Function != "run" || one.File != "tools/one.py" || two.Module != "tools.one" || two.Function != "other" {
		t.Errorf("the tools run by %+v and %+v", one, two)
	}
	if !set.Usable() || !one.Usable() || set.Least != toolset.LevelReduced {
		t.Errorf("the toolset is %+v", set)
	}
	policy := set.Policy("/home/me", func(name string) (string, bool) { return "v", name == "EXAMPLE_TOKEN" })
	if policy.Network != toolset.NetworkHosts || !slices.Equal(policy.Hosts, []string{"api.example.com"}) ||
		!slices.Equal(policy.Env, []string{"EXAMPLE_TOKEN=v"}) || len(policy.Readable) != 1 {
		t.Errorf("the policy is %+v", policy)
	}
	dir, release, err := Use(w.dir, set.ID, set.Revision)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := VerifyFile(dir, one.File, one.SHA256); err != nil {
		t.Error(err)
	}
	writeFile(t, filepath.Join(dir, "tools", "one.py"), []byte("import os"))
	if err := VerifyFile(dir, one.File, one.SHA256); err == nil {
		t.Error("a changed file passes")
	}
}

func TestTheSameBundleTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := makeBundle(t)
	first := w.install(dir)
	before := w.folderNames()
	p := w.plan(dir)
	if p.Asks() || !p.Same || len(p.Changes)+len(p.FileChanges) > 0 {
		t.Errorf("it asks %v, same %v, changes %v %v", p.Asks(), p.Same, p.Changes, p.FileChanges)
	}
	again, err := w.Apply(t.Context(), p, ApplyOptions{})
	if err != nil || again.Hash != first.Hash || !slices.Equal(before, w.folderNames()) {
		t.Errorf("%v: %v then %v", err, before, w.folderNames())
	}
	w.sound()
}

func TestImportExportImportIsTheSame(t *testing.T) {
	t.Parallel()
	shared := filepath.Join("..", "..", "testdata", "toolsets")
	skill := writeBundle(t, map[string]string{
		"SKILL.md": "---\nname: csv\ndescription: reads: CSV\n---\nLook at the file.\n", "references/a.md": "x",
	})
	mcpb := zipOf(t, "s.mcpb", map[string]string{
		"manifest.json": `{"manifest_version":"0.3","name":"srv","version":"1.0.0","description":"d","author":{"name":"a"},` +
			`"server":{"type":"node","entry_point":"server/index.js","mcp_config":{"command":"node","args":["${__dirname}/server/index.js"]}}}`,
		"server/index.js": "1",
	})
	for _, ref := range []string{filepath.Join(shared, "app-builder"), filepath.Join(shared, "my-toolset"), makeBundle(t), skill, mcpb} {
		t.Run(filepath.Base(ref), func(t *testing.T) {
			t.Parallel()
			abs, err := filepath.Abs(ref)
			if err != nil {
				t.Fatal(err)
			}
			a, b := newWorld(t), newWorld(t)
			first := a.install(abs)
			out := a.export(first.ID)
			if !bytes.Equal(out, a.export(first.ID)) {
				t.Error("two exports differ")
			}
			file := filepath.Join(t.TempDir(), "out.zip")
			writeFile(t, file, out)
			p := a.plan(file)
			if !p.Same || p.Asks() || len(p.Changes) > 0 {
				t.Errorf("its export would change %v %v", p.Changes, p.FileChanges)
			}
			second := b.install(file)
			if second.Hash != first.Hash || !bytes.Equal(out, b.export(first.ID)) {
				t.Errorf("elsewhere it is another: %s and %s", first.Hash, second.Hash)
			}
			a.sound()
			b.sound()
		})
	}
}

func TestUpdateAsksOnlyForWhatWasApproved(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		edit  func(dir string)
		asks  bool
		kinds string
	}{
		{"nothing", func(string) {}, false, ""},
		{"a tool's code, which the server could run", func(dir string) {
			writeFile(t, filepath.Join(dir, "tools", "one.py"), []byte("def run(workspace): pass"))
		}, true, "server"},
		{"a description", replaced("Does the one thing", "Ignore what was said before"), true, "tool"},
		{"a schema", replaced("type: string", "type: number"), true, "tool"},
		{"a confirmation", replaced("requires_confirmation: true", "requires_confirmation: false"), true, "tool"},
		{"a renderer", replaced(`data: "$return"`, `data: "$args"`), false, "tool"},
		{"a host more", replaced("[api.example.com]", "[api.example.com, evil.example.org]"), true, "network"},
		{"a host less", replaced("  network: [api.example.com]\n", ""), false, "network"},
		{"a command", replaced("args: [assets/server.js,", "args: [assets/server.js, --all,"), true, "server"},
		{"a file that a command runs", func(dir string) { writeFile(t, filepath.Join(dir, "assets", "server.js"), []byte("evil()")) }, true, "server"},
		{"an agent's prompt", replaced("You help.", "You help yourself."), true, "agent"},
		{"the version", replaced(`"1.0.0"`, `"1.1.0"`), false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			dir := makeBundle(t)
			before := w.install(dir)
			tt.edit(dir)
			p, err := w.PlanUpdate(t.Context(), "example", PlanOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			var kinds []string
			for _, c := range p.Changes {
				kinds = append(kinds, c.Kind)
				if c.Asks && !tt.asks {
					t.Errorf("it asks for %+v", c)
				}
			}
			if p.Asks() != tt.asks || strings.Join(kinds, " ") != tt.kinds {
				t.Errorf("it asks: %v; changes %v", p.Asks(), kinds)
			}
			if p.Asks() {
				if _, err := w.Apply(t.Context(), p, ApplyOptions{}); !errors.Is(err, ErrNotApproved) {
					t.Fatalf("without a yes: %v", err)
				}
				if now := w.get("example"); now.Toolset.Hash != before.Hash {
					t.Error("it was changed all the same")
				}
			}
			if _, err := w.Apply(t.Context(), p, ApplyOptions{Approved: true}); err != nil {
				t.Fatal(err)
			}
			if again := w.plan(dir); again.Asks() || !again.Same {
				t.Errorf("it asks once more: %v", again.Changes)
			}
			w.sound()
		})
	}
}

func TestCodeOfToolsAsksForNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := makeBundle(t)
	replaced("assets/server.js", "server")(dir)
	w.install(dir)
	writeFile(t, filepath.Join(dir, "tools", "one.py"), []byte("def run(workspace): pass"))
	p := w.plan(dir)
	if p.Asks() || p.Same || !slices.Equal(p.FileChanges, []FileChange{{"tools/one.py", "changed"}}) {
		t.Errorf("it asks: %v; %v", p.Asks(), p.FileChanges)
	}
	if _, err := w.Apply(t.Context(), p, ApplyOptions{}); err != nil {
		t.Error(err)
	}
	w.sound()
}

// replaced edits a bundle's manifest.
func replaced(old, text string) func(dir string) {
	return func(dir string) {
		path := filepath.Join(dir, "toolset.yaml")
		raw, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(raw), old) {
			panic("the example has no " + old)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(raw), old, text, 1)), 0o644); err != nil {
			panic(err)
		}
	}
}

func TestWhatTheUserSetOutlivesAnUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := makeBundle(t)
	w.install(dir)
	ctx := t.Context()
	code := toolset.Renderer{Type: "code", Content: "$return", Language: "json"}
	_, err1 := w.SetEnabled(ctx, "example", false)
	_, err2 := w.SetToolEnabled(ctx, "example:two", false)
	_, err3 := w.SetServerEnabled(ctx, "example-server", false)
	if err := errors.Join(err1, err2, err3, w.SetRenderer(ctx, "example:one", code, 10)); err != nil {
		t.Fatal(err)
	}
	replaced(`"1.0.0"`, `"2.0.0"`)(dir)
	w.install(dir)
	info := w.get("example")
	if info.Toolset.Enabled || info.Tools[1].Tool.Enabled || info.Servers[0].Server.Enabled || info.Tools[0].Tool.Renderer.Type != "code" {
		t.Errorf("%+v %+v", info.Toolset, info.Tools)
	}
	if !info.Tools[0].Tool.Enabled || info.Toolset.Version != "2.0.0" {
		t.Errorf("%+v", info)
	}
	if err := w.RemoveRenderer(ctx, "example:one", 10); err != nil {
		t.Fatal(err)
	}
	if got := w.get("example").Tools[0].Tool.Renderer.Type; got != "html" {
		t.Errorf("its own renderer is %s", got)
	}
	w.sound()
}

func TestASharedServerOutlivesAnUninstall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plain := func(id, command string) string {
		return writeBundle(t, map[string]string{"toolset.yaml": "manifest_version: \"1\"\nid: " + id + "\nname: N\nversion: \"1.0.0\"\ndescription: d\n" +
			"mcp_servers:\n  - id: shared\n    command: " + command + "\n    args: [serve]\n"})
	}
	w.install(plain("first", "search-server"))
	w.install(plain("second", "search-server"))
	_, err := w.Plan(t.Context(), plain("third", "another-server"), PlanOptions{})
	var clash *ClashError
	if !errors.As(err, &clash) || clash.With != "first" {
		t.Errorf("another command by the same name: %v", err)
	}
	gone, err := w.Remove(t.Context(), "first")
	if err != nil || !slices.Equal(gone.Shared, []string{"shared"}) || len(gone.Servers) > 0 {
		t.Errorf("%+v, %v", gone, err)
	}
	if servers := w.get("second").Servers; len(servers) != 1 || len(servers[0].Shared) != 0 {
		t.Errorf("%+v", servers)
	}
	if gone, err = w.Remove(t.Context(), "second"); err != nil || !slices.Equal(gone.Servers, []string{"shared"}) {
		t.Errorf("%+v, %v", gone, err)
	}
	if m, err := w.Mirror(t.Context()); err != nil || len(m.Servers)+len(m.Toolsets) > 0 || len(w.folderNames()) > 0 {
		t.Errorf("left behind: %+v %v %v", m, err, w.folderNames())
	}
}

func TestClashes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.install(makeBundle(t))
	base := "manifest_version: \"1\"\nname: N\nversion: \"1.0.0\"\ndescription: d\n"
	tests := []struct{ name, yaml, with string }{
		{"a builtin tool's id", "id: read_file\n", "fettle"},
		{"a server with a toolset's id", "id: other\nmcp_servers:\n  - {id: example, command: x, args: [a]}\n", "example"},
		{"a toolset with a server's id", "id: example-server\n", "example"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := w.Plan(t.Context(), writeBundle(t, map[string]string{"toolset.yaml": base + tt.yaml}), PlanOptions{})
			var clash *ClashError
			if !errors.As(err, &clash) || clash.With != tt.with {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestARunningCallKeepsItsFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := makeBundle(t)
	old := w.install(dir)
	folder, release, err := Use(w.dir, "example", old.Revision)
	if err != nil {
		t.Fatal(err)
	}
	replaced(`"1.0.0"`, `"2.0.0"`)(dir)
	now := w.install(dir)
	if _, err := os.Stat(filepath.Join(folder, "tools", "one.py")); err != nil {
		t.Errorf("the files of the running call: %v", err)
	}
	gone, err := w.Remove(t.Context(), "example")
	if err != nil {
		t.Fatal(err)
	}
	if gone.InUse {
		t.Error("the removed version is said to be in use; the one before is")
	}
	release()
	if _, _, err := Use(w.dir, "example", now.Revision); !errors.Is(err, ErrGone) {
		t.Errorf("a removed revision: %v", err)
	}
	w.install(makeBundle(t, "ID", "next", "SERVER", "next-server"))
	if names := w.folderNames(); len(names) != 1 {
		t.Errorf("the next change leaves %v", names)
	}
	w.sound()
}

func TestRevokedIsOfferedNoMoreUntilTrusted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.install(makeBundle(t))
	ctx := t.Context()
	if err := w.Revoke(ctx, "example"); err != nil {
		t.Fatal(err)
	}
	m, err := ReadMirror(w.dir)
	if err != nil || m.Toolsets[0].Usable() || !m.Toolsets[0].Granted.IsZero() || m.Servers[0].Unusable == "" {
		t.Errorf("%+v, %v", m, err)
	}
	info := w.get("example")
	if len(info.Pending) != len(info.Items) {
		t.Errorf("pending %v", info.Pending)
	}
	if err := w.Trust(ctx, "example", Trusted{Items: info.Items[1:]}); !errors.Is(err, ErrChanged) {
		t.Errorf("with other items: %v", err)
	}
	if err := w.Trust(ctx, "example", Trusted{Items: info.Items, Uncontained: true}); err != nil {
		t.Fatal(err)
	}
	m, err = ReadMirror(w.dir)
	if err != nil || !m.Toolsets[0].Usable() || m.Toolsets[0].Least != toolset.LevelNone {
		t.Errorf("%+v, %v", m.Toolsets[0], err)
	}
	replaced("args: [assets/server.js,", "args: [server,")(info.Toolset.SourceRef)
	w.install(info.Toolset.SourceRef)
	writeFile(t, filepath.Join(info.Toolset.SourceRef, "tools", "one.py"), []byte("def run(workspace): pass"))
	if p := w.plan(info.Toolset.SourceRef); !p.Asks() {
		t.Error("other code of what nothing contains comes in unasked")
	}
	w.sound()
}

func TestOneBadToolKeepsNoOtherFromBeingUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := makeBundle(t)
	replaced("entrypoint: one:other", "entrypoint: missing:other")(dir)
	p := w.plan(dir)
	if len(p.Warnings) == 0 || !strings.Contains(strings.Join(p.Warnings, "\n"), "missing.py is not in the bundle") {
		t.Errorf("the warnings are %v", p.Warnings)
	}
	w.install(dir)
	other := w.install(makeBundle(t, "ID", "other", "SERVER", "other-server"))
	if err := os.RemoveAll(filepath.Join(w.dir, "toolsets", "other", other.Revision)); err != nil {
		t.Fatal(err)
	}
	m, err := w.Rebuild(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first, second := &m.Toolsets[0], &m.Toolsets[1]
	if !first.Usable() || !first.Tools[0].Usable() || first.Tools[1].Usable() || second.Usable() {
		t.Errorf("%+v", m.Toolsets)
	}
	if !strings.Contains(second.Problem, "files are not there") || !strings.Contains(first.Tools[1].Problem, "missing.py") {
		t.Errorf("the reasons are %q and %q", second.Problem, first.Tools[1].Problem)
	}
	if w.install(other.SourceRef); w.get("other").Problem != "" {
		t.Error("importing it again doesn't mend it")
	}
}

func TestADamagedMirrorIsMadeAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.install(makeBundle(t))
	want, err := os.ReadFile(mirrorFile(w.dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range []func(){
		func() { writeFile(t, mirrorFile(w.dir), want[:len(want)/2]) },
		func() { writeFile(t, mirrorFile(w.dir), []byte(`{"mirror": 99}`)) },
		func() {
			if err := os.Remove(mirrorFile(w.dir)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		damage()
		if _, err := ReadMirror(w.dir); !errors.Is(err, ErrNoMirror) {
			t.Errorf("got %v", err)
		}
		if m, err := w.Mirror(t.Context()); err != nil || len(m.Toolsets) != 1 {
			t.Errorf("%v, %v", m, err)
		}
		if got, err := os.ReadFile(mirrorFile(w.dir)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("made anew it is another: %v", err)
		}
	}
	stale := bytes.Replace(want, []byte(`"generation":1`), []byte(`"generation":0`), 1)
	writeFile(t, mirrorFile(w.dir), stale)
	if err := w.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(mirrorFile(w.dir)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("a stale one stays: %v", err)
	}
}

func TestExportHidesSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := makeBundle(t)
	replaced(`TOKEN: "${EXAMPLE_TOKEN}"`, "API_KEY: open-sesame-please")(dir)
	w.install(dir)
	var buf bytes.Buffer
	out, err := w.Export(t.Context(), "example", &buf, ExportOptions{})
	if err != nil || !slices.Equal(out.Hidden, []string{"API_KEY"}) {
		t.Fatalf("%+v, %v", out, err)
	}
	file := filepath.Join(t.TempDir(), "out.zip")
	writeFile(t, file, buf.Bytes())
	b, err := bundle.Open(t.Context(), file, bundle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	raw, err := b.Manifest()
	if err != nil || bytes.Contains(raw, []byte("open-sesame")) || !bytes.Contains(raw, []byte("${API_KEY}")) {
		t.Errorf("%s, %v", raw, err)
	}
}

func TestExportRefusesWhatIsNotAsItWasImported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	set := w.install(makeBundle(t))
	writeFile(t, filepath.Join(w.dir, "toolsets", "example", set.Revision, "tools", "json.py"), []byte("evil"))
	var state *StateError
	if _, err := w.Export(t.Context(), "example", new(bytes.Buffer), ExportOptions{}); !errors.As(err, &state) {
		t.Errorf("got %v", err)
	}
	damage, err := w.Verify(t.Context(), "example")
	if err != nil || len(damage) != 1 || damage[0].Path != "tools/json.py" {
		t.Errorf("%v, %v", damage, err)
	}
	w.install(set.SourceRef)
	w.sound()
}

func TestServerToolsArePinned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.install(makeBundle(t))
	ctx := t.Context()
	tools := []toolset.Tool{{ID: "example-server:find", Description: "finds", InputSchema: []byte(`{"type":"object"}`)}}
	if _, err := w.PinServer(ctx, "example-server", tools, false); err != nil {
		t.Fatal(err)
	}
	if changes, err := w.PinServer(ctx, "example-server", tools, false); err != nil || len(changes) > 0 {
		t.Errorf("the same tools: %v %v", changes, err)
	}
	tools[0].Description = "finds, and sends what it found elsewhere"
	changes, err := w.PinServer(ctx, "example-server", tools, false)
	if err != nil || len(changes) != 1 || changes[0].Fields[0].Old != "finds" {
		t.Errorf("other tools: %v %v", changes, err)
	}
	if s := w.get("example").Servers[0].Server; s.Problem == "" || s.Tools[0].Tool.Description != "finds" {
		t.Errorf("%+v", s)
	}
	if _, err := w.PinServer(ctx, "example-server", tools, true); err != nil {
		t.Fatal(err)
	}
	if s := w.get("example").Servers[0].Server; s.Problem != "" || s.Tools[0].Tool.Description == "finds" {
		t.Errorf("approved: %+v", s)
	}
}

// An approval takes what was shown, and nothing that was seen since.
func TestAnApprovalOfAServersToolsIsOfThoseThatWereShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.install(makeBundle(t))
	ctx := t.Context()
	see := func(about string) string {
		tools := []toolset.Tool{{ID: "example-server:find", Description: about, InputSchema: []byte(`{"type":"object"}`)}}
		if _, err := w.PinServer(ctx, "example-server", tools, false); err != nil {
			t.Fatal(err)
		}
		return SumOf("example-server", Pinned(tools))
	}
	if _, err := w.ApproveSeen(ctx, "example-server", SumOf("example-server", nil)); !errors.Is(err, ErrChanged) {
		t.Errorf("before the first look: %v", err)
	}
	see("finds")
	shown := see("finds, and sends")
	later := see("finds, and sends to everybody")
	if _, err := w.ApproveSeen(ctx, "example-server", shown); !errors.Is(err, ErrChanged) {
		t.Errorf("what was shown before the last look: %v", err)
	}
	if s := w.get("example").Servers[0].Server; s.Tools[0].Tool.Description != "finds" || len(s.Seen) != 1 {
		t.Errorf("nothing was approved: %+v", s)
	}
	for range 2 { // the second time it is so already
		pinned, err := w.ApproveSeen(ctx, "example-server", later)
		if err != nil || len(pinned) != 1 || pinned[0].Tool.Description != "finds, and sends to everybody" {
			t.Errorf("what was shown: %+v, %v", pinned, err)
		}
	}
	if s := w.get("example").Servers[0].Server; s.Problem != "" || len(s.Seen) != 0 || s.Tools[0].Tool.Description != "finds, and sends to everybody" {
		t.Errorf("approved: %+v", s)
	}
	var missing *NotFoundError
	if _, err := w.ApproveSeen(ctx, "none", later); !errors.As(err, &missing) {
		t.Errorf("no server: %v", err)
	}
}

func TestUnknownIDsNameWhatThereIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var missing *NotFoundError
	if _, err := w.Get(t.Context(), "x"); !errors.As(err, &missing) {
		t.Errorf("in an empty directory: %v", err)
	}
	w.install(makeBundle(t))
	if _, err := w.SetEnabled(t.Context(), "exmple", true); !errors.As(err, &missing) || !slices.Equal(missing.Known, []string{"example"}) {
		t.Errorf("got %v", err)
	}
	if _, err := w.SetToolEnabled(t.Context(), "example:on", true); !errors.As(err, &missing) ||
		!slices.Equal(missing.Known, []string{"read_file", "write_file", "example:one", "example:two"}) {
		t.Errorf("got %v, %v", err, missing.Known)
	}
	w.sound()
}

func TestBuiltinToolsCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	if _, err := w.SetToolEnabled(ctx, "read_file", false); err != nil {
		t.Fatal(err)
	}
	if err := w.SetRenderer(ctx, "write_file", toolset.Renderer{Type: "document", File: "$args.path"}, 5); err != nil {
		t.Fatal(err)
	}
	m, err := ReadMirror(w.dir)
	if err != nil || !m.Builtins["read_file"].Disabled || m.Builtins["write_file"].Renderer.Type != "document" {
		t.Errorf("%+v, %v", m, err)
	}
	if changed, err := w.SetToolEnabled(ctx, "read_file", true); err != nil || !changed {
		t.Errorf("%v, %v", changed, err)
	}
	if m, err = ReadMirror(w.dir); err != nil || len(m.Builtins) != 1 {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestRowsGiveTheManifestBack(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(makeBundle(t), "toolset.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	d := manifest.Parse("toolset.yaml", raw, manifest.Options{})
	if err := d.Err(); err != nil {
		t.Fatal(err)
	}
	once, err := canonical(d.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	again := manifest.Parse("toolset.yaml", once, manifest.Options{})
	if err := again.Err(); err != nil {
		t.Fatalf("%v\n%s", err, once)
	}
	twice, err := canonical(again.Manifest)
	if err != nil || !bytes.Equal(once, twice) {
		t.Errorf("%v\n%s\n%s", err, once, twice)
	}
}
