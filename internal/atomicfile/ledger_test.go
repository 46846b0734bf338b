package atomicfile_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// records is the folder of a ledger.
func records(dataDir string) string { return filepath.Join(dataDir, atomicfile.LedgerName) }

func TestLedgerSweepsWhatAKilledProcessLeft(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"ledger", "folder"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir, data := t.TempDir(), t.TempDir()
			at := dir
			if kind == "ledger" {
				at = filepath.Join(dir, "export.json")
			}
			l := atomicfile.OpenLedger(data)
			h := hold(t, kind, at, data)
			for _, look := range []func() ([]atomicfile.Leftover, error){l.Leftovers, l.Sweep} {
				if left, err := look(); len(left) > 0 || err != nil {
					t.Fatalf("a living process has left %v, %v", left, err)
				}
			}
			h.kill(t)
			for _, look := range []func() ([]atomicfile.Leftover, error){l.Leftovers, l.Leftovers, l.Sweep} {
				left, err := look()
				if len(left) != 1 || left[0].Path != h.name || left[0].Size < 4 || err != nil {
					t.Fatalf("a killed process has left %+v, %v; want %s", left, err, h.name)
				}
			}
			wantNames(t, dir)
			wantNames(t, records(data))
			if left, err := l.Sweep(); len(left) > 0 || err != nil {
				t.Errorf("a second sweep found %v, %v", left, err)
			}
		})
	}
}

func TestLedgerHasNoRecordOfWhatIsDone(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	l := atomicfile.OpenLedger(data)
	kept, err := l.Create(filepath.Join(dir, "kept"))
	if err != nil {
		t.Fatal(err)
	}
	dropped, err := l.Create(filepath.Join(dir, "dropped"))
	if err != nil {
		t.Fatal(err)
	}
	scratch, remove, err := l.TempDir(dir, "scratch-")
	if err != nil || !strings.HasPrefix(filepath.Base(scratch), "scratch-") {
		t.Fatal(scratch, err)
	}
	file, removeFile, err := l.TempFile(dir, "spool-", ".zip")
	if err != nil || !strings.HasSuffix(file.Name(), ".zip") {
		t.Fatal(err)
	}
	if n := len(names(t, records(data))); n != 4 {
		t.Errorf("%d records, want 4", n)
	}
	for _, err := range []error{kept.Commit(atomicfile.Synced), dropped.Discard(), remove(), file.Close(), removeFile()} {
		if err != nil {
			t.Error(err)
		}
	}
	wantNames(t, dir, "kept")
	wantNames(t, records(data))
}

func TestLedgerTouchesNothingThatItDidNotMake(t *testing.T) {
	t.Parallel()
	token := strings.Repeat("A", 26)
	for name, c := range map[string]struct {
		path    string // that the record names
		kept    bool   // the record, too
		recover func(path string) error
	}{
		"another name":         {path: "notes.txt"},
		"a link":               {path: ".fettle-" + token + ".tmp", recover: func(p string) error { return os.Symlink("notes.txt", p) }},
		"a folder that isn't":  {path: filepath.Join("away", ".fettle-"+token+".tmp"), kept: true},
		"nothing of that name": {path: ".fettle-" + token + ".tmp"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, data := t.TempDir(), t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
			if c.recover != nil {
				if err := c.recover(filepath.Join(dir, c.path)); err != nil {
					t.Skip(err)
				}
			}
			if err := os.Mkdir(records(data), 0o700); err != nil {
				t.Fatal(err)
			}
			before := names(t, dir)
			text, _ := json.Marshal(map[string]string{"path": filepath.Join(dir, c.path)})
			if err := os.WriteFile(filepath.Join(records(data), token), text, 0o600); err != nil {
				t.Fatal(err)
			}
			if left, err := atomicfile.OpenLedger(data).Sweep(); len(left) > 0 || err != nil {
				t.Errorf("swept %v, %v", left, err)
			}
			wantNames(t, dir, before...)
			if got := len(names(t, records(data))) > 0; got != c.kept {
				t.Errorf("the record is kept: %v", got)
			}
		})
	}
}

func TestLedgerDropsARecordThatWasCutOff(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if err := os.Mkdir(records(data), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(records(data), strings.Repeat("B", 26)), []byte(`{"pa`), 0o600); err != nil {
		t.Fatal(err)
	}
	if left, err := atomicfile.OpenLedger(data).Sweep(); len(left) > 0 || err != nil {
		t.Errorf("swept %v, %v", left, err)
	}
	wantNames(t, records(data))
}

func TestFileIsWrittenWhereTheLedgerCannotBe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	blocked := filepath.Join(dir, "blocked")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, l := range []*atomicfile.Ledger{nil, atomicfile.OpenLedger(filepath.Join(blocked, "x"))} {
		f, err := l.Create(filepath.Join(dir, "out"))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Commit(atomicfile.Synced); err != nil {
			t.Error(err)
		}
	}
	wantNames(t, dir, "blocked", "out")
}
