package ollamatest

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/needtest"
)

const (
	// Model is the tiny model's name.
	Model = "tiny"
	// ContextLength is the longest context that it takes.
	ContextLength = 8192
	// Text is what it answers without tools, Called is the tool that it calls
	// with tools, and AfterTool is what it answers to a tool's result.
	Text      = "Hello from a tiny model!"
	Called    = "list_files"
	AfterTool = "The workspace was listed."
)

const (
	// startLimit bounds the wait for the server and for its model; a second
	// is usual, but the machine may be busy.
	startLimit = 60 * time.Second
	// pollEvery is how often it is asked whether it is there.
	pollEvery = 50 * time.Millisecond
	// stopLimit is how long it may take to end its runner before it is killed.
	stopLimit = 5 * time.Second
)

// Server is a running Ollama.
type Server struct {
	// Host is its host and port, as OLLAMA_HOST has it.
	Host string
	// Env is the environment in which `ollama` commands reach it.
	Env []string
}

// Start starts a server with the tiny model. It ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	program, err := exec.LookPath("ollama")
	if err != nil {
		t.Skip("ollama is not on the PATH")
	}
	dir := t.TempDir()
	s := &Server{Host: freePort(t)}
	s.Env = append(os.Environ(),
		"OLLAMA_HOST="+s.Host, "OLLAMA_MODELS="+filepath.Join(dir, "models"),
		"HOME="+dir, "USERPROFILE="+dir, "OLLAMA_CONTEXT_LENGTH=")
	log := s.serve(t, program)
	s.create(t, program, dir, log)
	return s
}

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// syncBuffer is the server's log.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// serve starts the server and waits until it answers.
func (s *Server) serve(t testing.TB, program string) *syncBuffer {
	t.Helper()
	log := &syncBuffer{}
	cmd := exec.Command(program, "serve")
	cmd.Env, cmd.Stdout, cmd.Stderr = s.Env, log, log
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatalf("start ollama serve: %v", err)
	}
	ended := make(chan struct{})
	go func() { // ends when the server does, which the cleanup waits for
		defer close(ended)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		terminate(cmd)
		select {
		case <-ended:
		case <-time.After(stopLimit):
		}
		kill(cmd)
		<-ended
	})
	client := &http.Client{Timeout: time.Second}
	defer client.CloseIdleConnections()
	for deadline := time.Now().Add(startLimit); ; time.Sleep(pollEvery) {
		resp, err := client.Get("http://" + s.Host + "/api/version")
		if err == nil {
			_ = resp.Body.Close()
			return log
		}
		select {
		case <-ended:
			t.Fatalf("ollama serve ended at once:\n%s", log)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("ollama serve did not answer within %v: %v\n%s", startLimit, err, log)
		}
	}
}

// create makes the tiny model.
func (s *Server) create(t testing.TB, program, dir string, log fmt.Stringer) {
	t.Helper()
	from := filepath.Join(needtest.Root(t), "testdata", "ollama")
	if err := unpack(filepath.Join(from, "tiny.gguf.gz"), filepath.Join(dir, "tiny.gguf")); err != nil {
		t.Fatal(err)
	}
	modelfile, err := os.ReadFile(filepath.Join(from, "Modelfile"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "Modelfile"), modelfile, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "create", Model, "-f", "Modelfile")
	cmd.Dir, cmd.Env = dir, s.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ollama create: %v\n%s\n%s", err, strings.TrimSpace(string(out)), log)
	}
}

func unpack(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", from, err)
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	const most = 64 << 20 // it is 6 MB
	if _, err := io.Copy(out, io.LimitReader(z, most)); err != nil {
		_ = out.Close()
		return fmt.Errorf("unpack %s: %w", from, err)
	}
	return out.Close()
}
