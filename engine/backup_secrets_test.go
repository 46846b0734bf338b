package engine

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/backup"
	"github.com/fettle-cli/fettle/engine/backup/archive"
)

// A backup does not contain anything by which its reader could use the server of the
// machine.
func TestABackupLeavesTheServersFilesOut(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	lived(t, b)
	const secret = "a-token-of-this-machine-alone"
	for _, name := range []string{"serve.token", "serve.token.123", "serve.json"} {
		if err := os.WriteFile(filepath.Join(b.dir, "data", name), []byte(secret), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	raw := b.backup(backup.Options{Verify: true})
	_, err := archive.Read(t.Context(), bytes.NewReader(raw), archive.Visitor{
		Head: func(archive.Head) error { return nil },
		Entry: func(e archive.Entry, content io.Reader) error {
			var text []byte
			var err error
			if content != nil {
				text, err = io.ReadAll(content)
			}
			if strings.Contains(e.Name, "serve.") || bytes.Contains(text, []byte(secret)) {
				t.Errorf("the backup has %s", e.Name)
			}
			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.putBack(raw, backup.Options{Replace: true}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(b.dir, "data", "serve.token")); string(got) != secret {
		t.Errorf("after a restore the machine's own token is %q, %v", got, err)
	}
}

// A backup of an earlier version has a token, which a restore leaves out.
func TestARestoreBringsNoToken(t *testing.T) {
	t.Parallel()
	from := changer(t, t.TempDir())
	lived(t, from)
	raw := from.backup(backup.Options{})
	var with bytes.Buffer
	out, err := archive.NewWriter(&with, archive.Head{})
	if err != nil {
		t.Fatal(err)
	}
	put := func(e archive.Entry, content io.Reader) error {
		if content == nil {
			content = strings.NewReader("")
		}
		_, err := out.Put(e, content)
		return err
	}
	token := "the-token-of-another-machine"
	if err := put(archive.Entry{Name: "serve.token", Kind: archive.File, Mode: 0o600, Size: int64(len(token))}, strings.NewReader(token)); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Read(t.Context(), bytes.NewReader(raw), archive.Visitor{Head: func(archive.Head) error { return nil }, Entry: put}); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	to := changer(t, t.TempDir())
	if err := to.putBack(with.Bytes(), backup.Options{}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(to.dir, "data", "serve.token")); !os.IsNotExist(err) {
		t.Errorf("the restored data have the token %q, %v", got, err)
	}
}
