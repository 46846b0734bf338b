package modelcache

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/provider"
)

func TestAListComesBackAsItWas(t *testing.T) {
	t.Parallel()
	c := New(filepath.Join(t.TempDir(), "not", "made", "yet"))
	want := List{
		Provider: "ollama", Address: "http://127.0.0.1:11434", Asked: time.Date(2026, 11, 28, 1, 2, 3, 4, time.UTC),
		Models: []provider.Model{
			{Provider: "ollama", Name: "qwen3:8b", ContextLength: 40960, Tools: provider.Yes, Images: provider.No,
				Thinking: provider.Yes, Schema: provider.Yes, Size: 5_200_000_000, Details: "8.2B Q4_K_M"},
			{Provider: "ollama", Name: "gpt-oss:120b-cloud", Remote: true, Created: provider.UnixTime(1790035200)},
		},
	}
	if err := c.Put(want); err != nil {
		t.Fatal(err)
	}
	got, ok := c.Get("ollama", "http://127.0.0.1:11434")
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("ok %v (-want +got):\n%s", ok, diff)
	}
	if _, ok := c.Get("ollama", "http://other:11434"); ok {
		t.Error("the list of another address was taken")
	}
	if _, ok := c.Get("Ollama", "http://127.0.0.1:11434"); ok {
		t.Error("the list of another provider was taken")
	}
	if all := c.All(); len(all) != 1 || len(all[0].Models) != 2 {
		t.Errorf("all: %+v", all)
	}
	for range 2 { // the second time there is nothing to forget
		if err := c.Drop("ollama"); err != nil {
			t.Fatal(err)
		}
	}
	if all := c.All(); len(all) != 0 {
		t.Errorf("after Drop: %+v", all)
	}
}

func TestNamesThatLookAlikeHaveFilesOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, name := range []string{"local", "Local", "LOCAL", "my.host", "my_host", "my%2ehost", "nul", "con", "..", ".", "a/b", "ä"} {
		file := fileName(name)
		if other, ok := seen[strings.ToLower(file)]; ok {
			t.Errorf("%q and %q share %s", name, other, file)
		}
		seen[strings.ToLower(file)] = name
		if strings.ContainsAny(file, `/\:*?"<>|`) || filepath.Base(file) != file {
			t.Errorf("%q is kept in %q", name, file)
		}
	}
}

func TestWhatCantBeReadCountsAsNone(t *testing.T) {
	t.Parallel()
	good := `{"version":1,"provider":"p","address":"a","asked_at":"2026-11-28T01:02:03Z","models":[{"name":"m"}]}`
	for name, data := range map[string]string{
		"empty": "", "cut": good[:40], "another version": strings.Replace(good, `"version":1`, `"version":2`, 1),
		"no time": strings.Replace(good, `"2026-11-28T01:02:03Z"`, `null`, 1), "not ours": `[1,2,3]`,
		"another provider's": strings.Replace(good, `"p"`, `"q"`, 1),
		"too large":          good + strings.Repeat(" ", maxFile),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := New(t.TempDir())
			if err := os.WriteFile(filepath.Join(c.dir, fileName("p")), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
			if l, ok := c.Get("p", "a"); ok || len(c.All()) != 0 {
				t.Errorf("it gave %+v and %+v", l, c.All())
			}
		})
	}
	c := New(t.TempDir())
	if err := os.WriteFile(filepath.Join(c.dir, fileName("p")), []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, ok := c.Get("p", "a"); !ok || len(l.Models) != 1 {
		t.Errorf("the good one gave %+v, %v", l, ok)
	}
}

func TestWhatServersSayIsBounded(t *testing.T) {
	t.Parallel()
	c := New(t.TempDir())
	long := strings.Repeat("ä", maxText)
	l := List{Provider: "p", Asked: time.Now(), Models: []provider.Model{
		{Name: long}, {Name: "m", Details: long}, {Name: ""},
	}}
	for range maxModels {
		l.Models = append(l.Models, provider.Model{Name: "x"})
	}
	if err := c.Put(l); err != nil {
		t.Fatal(err)
	}
	got, ok := c.Get("p", "")
	if !ok || len(got.Models) >= maxModels || got.Models[0].Name != "m" {
		t.Fatalf("ok %v, %d models", ok, len(got.Models))
	}
	if d := got.Models[0].Details; len(d) > maxText || !strings.HasPrefix(long, d) {
		t.Errorf("details of %d bytes", len(d))
	}
}

func TestAWriteThatFailsLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := New(dir)
	if err := os.Mkdir(filepath.Join(dir, fileName("p")), 0o700); err != nil { // nothing can be renamed onto it
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, fileName("p"), "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Put(List{Provider: "p", Asked: time.Now()}); err == nil || !strings.Contains(err.Error(), "keep the list of p") {
		t.Errorf("it said %v", err)
	}
	left, _ := os.ReadDir(dir)
	if len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestManyWritersSpoilNothing(t *testing.T) {
	t.Parallel()
	c := New(t.TempDir())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				err := c.Put(List{Provider: "p", Asked: time.Now(), Models: []provider.Model{{Name: "m"}}})
				if err != nil && runtime.GOOS != "windows" { // which refuses to replace what somebody reads
					t.Error(err)
				}
				if l, ok := c.Get("p", ""); len(l.Models) != 1 && (ok || runtime.GOOS != "windows") {
					t.Errorf("it gave %+v, %v", l, ok)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"version":1,"provider":"p","address":"a","asked_at":"2026-11-28T01:02:03Z","models":[{"name":"m","tools":true}]}`))
	f.Add([]byte(`{"version":1,"models":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, ok := decode(data)
		if !ok {
			return
		}
		c := New(t.TempDir())
		if err := c.Put(l); err != nil {
			t.Skip(err) // such as a year that RFC 3339 can't write, or a name too long for a file
		}
		again, ok := c.Get(l.Provider, l.Address)
		if !ok || len(again.Models) != len(l.Models) {
			t.Fatalf("%+v became %+v, %v", l, again, ok)
		}
	})
}
