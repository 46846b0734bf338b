package commands_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/ollamatest"
)

// The whole way to a real Ollama: the program, the native API, a model that is
// loaded. It runs where ollama is on the PATH.
func TestAskARealOllama(t *testing.T) {
	server := ollamatest.Start(t)
	w := newWorld(t, yesScript)
	w.Env = append(w.Env, "OLLAMA_HOST="+server.Host, "FETTLE_MODEL=ollama/"+ollamatest.Model)

	t.Run("without tools", func(t *testing.T) {
		out, errs := w.Run(0, "ask", "--no-stdin", "--no-tools", "hi")
		if out != "Hello from a tiny model!\n" || errs != "" {
			t.Errorf("%q, %q", out, errs)
		}
	})
	t.Run("with tools", func(t *testing.T) {
		out, errs := w.Run(0, "ask", "--no-stdin", "-v", "--tool", "list_files", "what is here?")
		if out != "The workspace was listed.\n" || !strings.Contains(errs, "✓ list_files") {
			t.Errorf("%q, %q", out, errs)
		}
	})
	t.Run("found unasked", func(t *testing.T) {
		unnamed := &world{w.Copy()}
		unnamed.Env = append(w.Env[:len(w.Env):len(w.Env)], "FETTLE_MODEL=")
		if out, _ := unnamed.Run(0, "ask", "--no-stdin", "--no-tools", "hi"); out != "Hello from a tiny model!\n" {
			t.Errorf("%q", out)
		}
	})
	t.Run("as it comes", func(t *testing.T) {
		out, _ := w.Run(0, "ask", "--no-stdin", "--no-tools", "-o", "events", "hi")
		if n := strings.Count(out, `"type":"text_delta"`); n < 2 {
			t.Errorf("%d pieces of text in\n%s", n, out)
		}
	})
	t.Run("the context as told and as loaded", func(t *testing.T) {
		out, _ := w.Run(0, "ask", "--no-stdin", "-o", "events", "--tool", "list_files", "what is here?")
		told := metaContext(t, out)
		if loaded := loadedContext(t, "http://"+server.Host); told == 0 || told != loaded {
			t.Errorf("told %d, loaded %d", told, loaded)
		}
	})
	t.Run("a prompt that doesn't fit", func(t *testing.T) {
		cmd := w.Command("ask", "--no-tools", "what is this?")
		cmd.Stdin = strings.NewReader(strings.Repeat("word ", 40_000))
		var errs bytes.Buffer
		cmd.Stderr = &errs
		cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != 7 || !strings.Contains(errs.String(), "doesn't fit the model's context") {
			t.Errorf("status %d, %q", code, errs.String())
		}
	})
	t.Run("a model that isn't there", func(t *testing.T) {
		if _, errs := w.Run(4, "ask", "--no-stdin", "-m", "ollama/nosuch", "hi"); !strings.Contains(errs, "fettle models pull nosuch") {
			t.Errorf("%q", errs)
		}
	})
	t.Run("cancelled", func(t *testing.T) { cancelReal(t, w) })
}

// metaContext is the context length that the turn's events tell.
func metaContext(t *testing.T, events string) (length int) {
	t.Helper()
	for line := range strings.Lines(events) {
		var meta struct {
			Type   string `json:"type"`
			Length int    `json:"context_length"`
		}
		if err := json.Unmarshal([]byte(line), &meta); err != nil {
			t.Fatal(err)
		}
		if meta.Type == "meta" {
			length = meta.Length
		}
	}
	return length
}

// loadedContext is what the server says it has loaded the model with.
func loadedContext(t *testing.T, address string) int {
	t.Helper()
	resp, err := http.Get(address + "/api/ps")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var ps struct {
		Models []struct {
			Length int `json:"context_length"`
		} `json:"models"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&ps); err != nil || len(ps.Models) != 1 {
		t.Fatalf("%+v, %v", ps, err)
	}
	return ps.Models[0].Length
}

// cancelReal interrupts an answer after its first word; the rest doesn't come.
func cancelReal(t *testing.T, w *world) {
	signals := commandtest.EndingSignals()
	if len(signals) == 0 {
		t.Skip("no signals here")
	}
	cmd := w.Command("ask", "--no-stdin", "--no-tools", "hi")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	head := make([]byte, 5)
	if _, err := io.ReadFull(out, head); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(out)
	cmd.Wait()
	t.Logf("ended %s after the signal", time.Since(begun))
	answer := fmt.Sprintf("%s%s", head, rest)
	if code := cmd.ProcessState.ExitCode(); code != 130 || strings.HasSuffix(answer, "model!\n") {
		t.Errorf("status %d, %q", code, answer)
	}
}
