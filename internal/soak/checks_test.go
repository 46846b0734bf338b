//go:build linux || darwin

package soak

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// leftovers bounds what killed commands may leave in the data directory after a
// collection, in addition to what each of them leaves until its next run.
const leftovers = 64

// check reads back the data after a round. No other process runs meanwhile.
func (w *world) check(m *model) {
	w.survivors()
	w.must("store", "verify")
	w.must("chats", "list") // folds what waits
	w.turns()
	w.listed()
	w.undoing()
	w.must("store", "gc")
	w.must("store", "verify")
	w.restoring()
	w.left()
	for _, f := range m.faults() {
		w.fault("the model got a request that isn't right: %s", f)
	}
}

// survivors fails if a process of a tool has outlived its command.
func (w *world) survivors() {
	deadline := time.Now().Add(20 * time.Second)
	for {
		left := marked(w.mark)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			w.fault("processes of tools have survived: %v", left)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// marked are the processes whose command line has the mark. Without /proc it finds
// none.
func marked(mark string) []string {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is right
	var out []string
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, []byte("sleep")) && bytes.Contains(text, []byte(mark)) {
			out = append(out, file+": "+string(bytes.ReplaceAll(text, []byte{0}, []byte{' '})))
		}
	}
	return out
}

// turns reads every turn back that a client saw something of, and compares.
func (w *world) turns() {
	w.mu.Lock()
	seen := maps.Clone(w.events)
	w.mu.Unlock()
	s, err := w.serve()
	if err != nil {
		w.fault("read back: %v", err)
		return
	}
	defer s.stop()
	said := map[string]string{}
	for turn, events := range seen {
		if discarded(events) {
			continue
		}
		text, err := s.compare(turn, events)
		if err != nil {
			w.fault("turn %s, of which %d events were seen: %v\nThe first of them: %s", turn, len(events), err, events[slices.Min(slices.Collect(maps.Keys(events)))])
			continue
		}
		said[turn] = text
	}
	w.exported(said)
}

// discarded reports whether all that a client saw of a turn is the error that no model
// could be asked, for example because the process had no file descriptor left for the
// connection. Such a question is discarded by design, and nothing of it can be read back.
func discarded(events map[int64]string) bool {
	var e struct{ Type, Code string }
	return len(events) == 1 && json.Unmarshal([]byte(events[1]), &e) == nil && e.Type == "error" && e.Code == "unavailable"
}

// compare reads a turn back, and returns the text of its deltas.
func (s *server) compare(turn string, events map[int64]string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	res, err := s.request(ctx, http.MethodGet, "/api/turns/"+turn+"/events?form=events", "", nil)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(res.Body) // the status is enough
		return "", fmt.Errorf("it can't be read back: status %d: %s", res.StatusCode, text)
	}
	var text strings.Builder
	var last int64
	ends := 0
	err = frames(res.Body, func(_, data string) bool {
		var e event
		if err = json.Unmarshal([]byte(data), &e); err != nil || e.Seq != last+1 || ends > 0 {
			err = errors.Join(err, fmt.Errorf("event %d follows event %d: %s", e.Seq, last, data))
			return false
		}
		last = e.Seq
		if was, ok := events[e.Seq]; ok && was != data {
			err = fmt.Errorf("event %d was seen as\n%s\nand is kept as\n%s", e.Seq, was, data)
			return false
		}
		if e.Type == "text_delta" {
			text.WriteString(e.Text)
		}
		if e.ends() {
			ends++
		}
		return true
	})
	if errors.Is(err, io.EOF) {
		err = nil
	}
	for seq := range events {
		if err == nil && seq > last {
			err = fmt.Errorf("event %d was seen, and the last that is kept is %d:\n%s", seq, last, events[seq])
		}
	}
	if err == nil && ends != 1 {
		err = fmt.Errorf("it has %d ends", ends)
	}
	return text.String(), err
}

// part is a part of an exported message.
type part struct {
	Type   string
	Text   string
	Call   struct{ ID string }
	Result struct{ ID string }
}

// exported checks the messages of all chats; said has the texts of turns.
func (w *world) exported(said map[string]string) {
	dec := json.NewDecoder(strings.NewReader(w.must("chats", "export", "--all", "-o", "json")))
	for {
		var chat struct {
			Chat     struct{ Number int64 }
			Messages []struct {
				ID     string
				Role   string
				TurnID string `json:"turn_id"`
				ChatID string `json:"chat_id"`
				Parts  []part
			}
		}
		err := dec.Decode(&chat)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			w.fault("export: %v", err)
			return
		}
		for _, m := range chat.Messages {
			if m.Role != "assistant" {
				continue
			}
			open, text := map[string]bool{}, ""
			for _, p := range m.Parts {
				switch p.Type {
				case "text":
					text += p.Text
				case "tool_call":
					open[p.Call.ID] = true
				case "tool_result":
					delete(open, p.Result.ID)
				}
			}
			if len(open) > 0 {
				w.fault("message %s of chat %d has calls without results: %v", m.ID, chat.Chat.Number, open)
			}
			if want, ok := said[m.TurnID]; ok && text != want {
				w.fault("message %s of chat %d says\n%q\nand its deltas\n%q", m.ID, chat.Chat.Number, text, want)
			}
		}
	}
}

// chat is a chat as it is listed.
type chat struct {
	ID     string
	Number int64
	Title  string
}

func (w *world) list(flags ...string) []chat {
	var out struct{ Chats []chat }
	text := w.must(append([]string{"chats", "list", "-n", "0", "-o", "json"}, flags...)...)
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		w.fault("list chats: %v: %s", err, text)
	}
	return out.Chats
}

// listed checks that chats whose turns ended are listed, with unique numbers.
func (w *world) listed() {
	all := append(w.list(), w.list("--deleted")...)
	numbers, ids := map[int64]string{}, map[string]bool{}
	for _, c := range all {
		if numbers[c.Number] != "" {
			w.fault("two chats have the number %d: %s and %s", c.Number, numbers[c.Number], c.ID)
		}
		numbers[c.Number], ids[c.ID] = c.ID, true
	}
	w.mu.Lock()
	acknowledged := slices.Sorted(maps.Keys(w.chats))
	w.mu.Unlock()
	for _, id := range acknowledged {
		if !ids[id] {
			w.fault("chat %s is in no list", id)
		}
	}
	for _, c := range w.list() {
		if _, word, ok := strings.Cut(c.Title, "question "); ok {
			if !strings.Contains(w.must("chats", "search", strings.Fields(word)[0]), fmt.Sprint(c.Number)) {
				w.fault("search doesn't find chat %d by %q of its title", c.Number, word)
			}
			break // one of them: each takes a process
		}
	}
}

// undoing lets calls change the folders of some chats, and undoes them.
func (w *world) undoing() {
	all := w.list()
	w.mu.Lock()
	w.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	w.mu.Unlock()
	for _, c := range all[:min(len(all), 2)] {
		number := fmt.Sprint(c.Number)
		call := func(text string) {
			w.saw(w.must("ask", "-o", "events", "--yes", "--no-stdin", "--server", "off", "--chat", number,
				fmt.Sprintf("settle\ncall write_file {\"path\":\"settled.txt\",\"content\":%q}", text)))
		}
		// A put that was killed may have written its file and kept no state. A call reads no
		// folder, so the file is taken in by the next command that does.
		w.must("workspace", "put", number, "taken.txt", w.file("taken "+number))
		call("one " + number) // the leftovers of a killed turn are settled with it
		before := w.folder(number)
		call(fmt.Sprintf("two %d", w.number()))
		after := w.folder(number)
		w.must("undo", "--chat", number)
		if now := w.folder(number); !maps.Equal(now, before) {
			w.fault("undo in chat %s gives\n%v\nand not\n%v", number, now, before)
		}
		w.must("redo", "--chat", number)
		if now := w.folder(number); !maps.Equal(now, after) {
			w.fault("redo in chat %s gives\n%v\nand not\n%v", number, now, after)
		}
	}
}

// folder returns the content of a chat's folder, which must be that of its state.
func (w *world) folder(number string) map[string]string {
	dir := strings.TrimSpace(w.must("workspace", "path", number))
	have := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		sum := sha256.Sum256(text)
		have[strings.TrimPrefix(path, dir+"/")] = hex.EncodeToString(sum[:])
		return err
	})
	var state struct{ Files map[string]string }
	text := w.must("workspace", "files", number, "-o", "json")
	if err = errors.Join(err, json.Unmarshal([]byte(text), &state)); err != nil {
		w.fault("folder of chat %s: %v", number, err)
	}
	if !maps.Equal(have, state.Files) {
		w.fault("the folder of chat %s has\n%v\nand its state\n%v", number, have, state.Files)
	}
	return have
}

// restoring restores each backup that was reported as made, each to a separate data
// directory.
func (w *world) restoring() {
	w.mu.Lock()
	backups := w.backups
	w.backups = nil
	w.mu.Unlock()
	for i, file := range backups {
		dir := filepath.Join(w.dir, fmt.Sprint("restored-", i))
		other := &world{
			t: w.t, bin: w.bin, dir: w.dir, data: dir, rng: w.rng, events: map[string]map[int64]string{}, chats: map[string]bool{},
			env: append(slices.Clone(w.env), "FETTLE_DATA="+dir),
		}
		other.must("store", "restore", file)
		other.must("store", "verify")
		other.must("chats", "list")
		if len(other.wrong) > 0 {
			w.fault("backup %s, which was reported as made: %s", file, strings.Join(other.wrong, "\n"))
			continue // it is evidence
		}
		_ = os.RemoveAll(dir) // the whole world is removed after the test
		_ = os.Remove(file)
	}
}

// left checks that nothing piles up in the data directory.
func (w *world) left() {
	for name, most := range map[string]int{
		"journal/*.jsonl": 0, "journal/*": leftovers, "locks/*": 2 * leftovers,
		"backup-*": 1, "restore-*": 1, "replaced-*": 1,
	} {
		found, _ := filepath.Glob(w.dataPath(name)) // the patterns are right
		if len(found) > most {
			w.fault("%d of %s are left in the data directory, and %d may be: %s", len(found), name, most, strings.Join(found, " "))
		}
	}
}
