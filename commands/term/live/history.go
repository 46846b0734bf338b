package live

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fettle-cli/fettle/internal/appendfile"
	"github.com/fettle-cli/fettle/internal/atomicfile"
)

const (
	// keptLines is how many lines of history are kept; the file is made short
	// again when it has twice as many.
	keptLines = 1000
	// maxEntry bounds one line of history: a paste is no line to come back to.
	maxEntry = 16 << 10
	// maxHistory bounds the file that is read.
	maxHistory = 32 << 20
)

// History is what was typed before, the oldest first. Its file is read when it
// is first asked for. With no name nothing is kept beyond the program's end.
type History struct {
	file  string
	lines []string
	read  bool
	at    int    // of Older and Newer; len(lines) is the line being typed
	typed string // what was typed when Older was first asked
}

// NewHistory is the history in a file, one JSON string a line, for the user
// alone.
func NewHistory(file string) *History { return &History{file: file} }

func (h *History) load() {
	if h.read {
		return
	}
	h.read = true
	defer func() { h.at = len(h.lines) }()
	if h.file == "" {
		return
	}
	info, err := os.Stat(h.file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxHistory {
		return // without a history one can type all the same
	}
	raw, err := os.ReadFile(h.file)
	if err != nil {
		return
	}
	before := h.lines // typed before the file was read
	h.lines = nil
	sc := bufio.NewScanner(bytes.NewReader(raw))
	sc.Buffer(nil, 8*maxEntry)
	for sc.Scan() {
		var line string
		if json.Unmarshal(sc.Bytes(), &line) == nil && line != "" {
			h.lines = append(h.lines, clean(line))
		}
	}
	h.lines = append(h.lines, before...)
	if len(h.lines) > 2*keptLines {
		h.lines = h.lines[len(h.lines)-keptLines:]
		_ = h.rewrite() // a long file is no harm
	}
}

// Add keeps a line. One that begins with a space, or is the last again, isn't.
func (h *History) Add(line string) error {
	h.load()
	h.at = len(h.lines)
	if strings.TrimSpace(line) == "" || line[0] == ' ' || len(line) > maxEntry ||
		len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return nil
	}
	h.lines = append(h.lines, line)
	h.at = len(h.lines)
	if h.file == "" {
		return nil
	}
	raw, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("keep the history: %w", err)
	}
	f, err := os.OpenFile(h.file, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(h.file), 0o700); err == nil {
			f, err = os.OpenFile(h.file, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
		}
	}
	if err != nil {
		return fmt.Errorf("keep the history: %w", err)
	}
	return errors.Join(appendfile.Line(f, append(raw, '\n')), f.Close())
}

func (h *History) rewrite() error {
	var text bytes.Buffer
	for _, line := range h.lines {
		if raw, err := json.Marshal(line); err == nil {
			text.Write(append(raw, '\n'))
		}
	}
	return atomicfile.Write(h.file, text.Bytes(), atomicfile.Cached)
}

// Older gives the line before; typed is what stands in the editor now.
func (h *History) Older(typed string) (string, bool) {
	h.load()
	if h.at == len(h.lines) {
		h.typed = typed
	}
	if h.at == 0 {
		return "", false
	}
	h.at--
	return h.lines[h.at], true
}

// Newer gives the line after; behind the last one that is what was typed.
func (h *History) Newer() (string, bool) {
	h.load()
	if h.at >= len(h.lines) {
		return "", false
	}
	h.at++
	if h.at == len(h.lines) {
		return h.typed, true
	}
	return h.lines[h.at], true
}

// Search gives the n-th line from the end, from 0, that has a text in it.
func (h *History) Search(text string, n int) (string, bool) {
	h.load()
	for i := len(h.lines) - 1; i >= 0; i-- {
		if strings.Contains(h.lines[i], text) {
			if n == 0 {
				return h.lines[i], true
			}
			n--
		}
	}
	return "", false
}
