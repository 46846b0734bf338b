//go:build linux || darwin

package commands_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/needtest"
)

// onScreen runs a command on a terminal of its own, types the keys once it
// has shown the text, and gives what was shown, without colours.
func (w *world) onScreen(columns uint16, shows, keys string, args ...string) (status int, screen string) {
	w.T.Helper()
	cmd := w.Command(args...)
	cmd.Env = append(cmd.Env, "TERM=xterm", "NO_COLOR=")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 30, Cols: columns})
	if err != nil {
		needtest.Lacking(w.T, "pseudo-terminals: "+err.Error())
	}
	defer f.Close()
	var all strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := f.Read(buf)
		all.Write(buf[:n])
		if keys != "" && strings.Contains(all.String(), shows) {
			time.Sleep(50 * time.Millisecond) // what is typed before the question counts as not meant for it
			_, _ = io.WriteString(f, keys)
			keys = ""
		}
		if err != nil { // EIO once it has gone
			break
		}
	}
	_ = cmd.Wait()
	text := regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(all.String(), "")
	return cmd.ProcessState.ExitCode(), strings.ReplaceAll(text, "\r\n", "\n")
}

func TestModelsOnATerminal(t *testing.T) {
	t.Parallel()
	w := modelWorld(t, commandtest.NewOllama(t, "qwen3:8b", "hf.co/somebody/A-Model-With-A-Long-Name-GGUF:Q4_K_M", "llava"))
	_, screen := w.onScreen(80, "", "", "models", "list")
	same(t, "80 columns", screen, `model                                    context  abilities    size  details
ollama/qwen3:8b                              40k  tools      5.2 GB  8.2B Q4_K_M
ollama/hf.co/somebo…ng-Name-GGUF:Q4_K_M      40k  tools      5.2 GB  8.2B Q4_K_M
ollama/llava                                 40k  images     5.2 GB  8.2B Q4_K_M
`)
	_, screen = w.onScreen(50, "", "", "models", "list")
	same(t, "50 columns", screen, `model                           context  abilities
ollama/qwen3:8b                     40k  tools
ollama/hf.co/so…me-GGUF:Q4_K_M      40k  tools
ollama/llava                        40k  images
`)
	_, screen = w.onScreen(40, "", "", "models", "list") // no wider than that shows the most of the names
	same(t, "40 columns", screen, `model                            context
ollama/qwen3:8b                      40k
ollama/hf.co/so…ame-GGUF:Q4_K_M      40k
ollama/llava                         40k
`)
	_, screen = w.onScreen(80, "", "", "models", "show", "ollama/qwen3:8b")
	same(t, "show", screen, `ollama/qwen3:8b
  context   40,960 tokens  ollama
  tools     yes            ollama
  images    no             ollama
  thinking  no             ollama
  schema    yes            ollama
  size      5.2 GB         ollama
  details   8.2B Q4_K_M
  address   `+w.ollama()+`

  fettle ask -m ollama/qwen3:8b "why is the sky blue?"
`)
}

func TestModelsRmAsks(t *testing.T) {
	t.Parallel()
	w := modelWorld(t, commandtest.NewOllama(t, "qwen3:8b", "llava"))
	for keys, want := range map[string]string{"n": "nothing was removed", "\n": "nothing was removed", "\x03": ""} {
		_, screen := w.onScreen(80, "remove ollama/llava (5.2 GB)?", keys, "models", "rm", "llava")
		if !strings.Contains(screen, "remove ollama/llava (5.2 GB)?") || !strings.Contains(screen, want) {
			t.Errorf("%q: %q", keys, screen)
		}
		if out, _ := w.Run(0, "models", "list"); !strings.Contains(out, "ollama/llava") {
			t.Fatalf("%q removed it", keys)
		}
	}
	if status, screen := w.onScreen(80, "remove ollama/llava (5.2 GB)?", "y", "models", "rm", "llava"); status != 0 || !strings.Contains(screen, "removed ollama/llava (5.2 GB)") {
		t.Errorf("status %d, %q", status, screen)
	}
	if out, _ := w.Run(0, "models", "list"); strings.Contains(out, "ollama/llava") {
		t.Error("it is still there")
	}
}

func TestModelsPullShowsABar(t *testing.T) {
	t.Parallel()
	o := commandtest.NewOllama(t)
	o.Plays(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, commandtest.PullBegins)
		for done := int64(500_000_000); done <= 4_000_000_000; done += 500_000_000 {
			time.Sleep(300 * time.Millisecond) // longer than a frame of the bar
			_, _ = io.WriteString(w, commandtest.Layer("a", done, 4_000_000_000))
		}
		_, _ = io.WriteString(w, commandtest.PullEnds)
	})
	w := modelWorld(t, o)
	status, screen := w.onScreen(80, "", "", "models", "pull", "qwen3")
	if status != 0 || !regexp.MustCompile(`ollama/qwen3  50% █+░+  2.0 of 4.0 GB`).MatchString(screen) ||
		!regexp.MustCompile(`GB/s  \d+ (s|min|ms) left`).MatchString(screen) {
		t.Errorf("status %d, %q", status, screen)
	}
	last := screen[strings.LastIndex(screen, "\x1b[K")+len("\x1b[K"):]
	if !regexp.MustCompile(`^pulled ollama/qwen3, 4.0 GB in [^\n]*\n$`).MatchString(last) || strings.Count(screen, "\n") != 1 {
		t.Errorf("it left %q of %q", last, screen)
	}
}
