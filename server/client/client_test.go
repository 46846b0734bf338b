package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server"
	"github.com/fettle-cli/fettle/server/client"
)

// cut passes bytes on, and so many of the answers' at most.
func cut(in net.Conn, socket string, after int64) {
	defer in.Close()
	out, err := net.Dial("unix", socket)
	if err != nil {
		return
	}
	defer out.Close()
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = io.Copy(out, in)
		_ = out.Close()
	})
	_, _ = io.Copy(in, io.LimitReader(out, after))
	_ = in.Close()
	_ = out.Close()
	wg.Wait()
}

// A turn by way of the server is the turn that the engine has.
func TestTurnsThroughAServer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	l := h.find()
	if l.Info.Settings != "these" || l.Info.PID != os.Getpid() {
		t.Errorf("it says %+v", l.Info)
	}
	for _, q := range []string{"hi", "write", "long"} {
		id, err := l.Start(t.Context(), asking(q))
		must(t, err)
		chat, ok := l.TurnChat(id)
		if !ok || chat.Title != q || chat.Number == 0 {
			t.Errorf("%s: its chat is %+v, %v", q, chat, ok)
		}
		through := all(t, l, id)
		if diff := cmp.Diff(all(t, h.eng, id), through); diff != "" {
			t.Errorf("%s (- engine, + client):\n%s", q, diff)
		}
		if l.SyncTime(id) != h.eng.SyncTime(id) {
			t.Errorf("%s: it waited %s for the disk, and %s", q, l.SyncTime(id), h.eng.SyncTime(id))
		}
	}
	if _, err := l.Start(t.Context(), engine.TurnRequest{}); fault.CodeOf(err) != fault.Usage {
		t.Errorf("nothing asked: %v", err)
	}
	if err := l.Cancel(t.Context(), "01ARZ3NDEKTSV4RRFFQ69G5FAV"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("cancel no turn: %v", err)
	}
}

// Wherever connections break, each event comes once and in order.
func TestABrokenStreamIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	whole := h.find()
	id, err := whole.Start(t.Context(), asking("long"))
	must(t, err)
	want := all(t, whole, id)
	for _, after := range []int64{6000, 9001, 15000} {
		h.says("socket", cutting(t, h.socket, after))
		if diff := cmp.Diff(want, all(t, h.find(), id)); diff != "" {
			t.Errorf("broken after %d bytes (- want, + got):\n%s", after, diff)
		}
	}
	// While it is being answered, too: the cut is in the stream alone.
	h.says("socket", h.socket)
	l := h.find()
	id, err = l.Start(t.Context(), asking("long"))
	must(t, err)
	h.says("socket", cutting(t, h.socket, 8000))
	got := all(t, h.find(), id)
	if diff := cmp.Diff(all(t, h.eng, id), got); diff != "" || len(got) != len(want) {
		t.Errorf("broken while it was answered: %d events, want %d\n%s", len(got), len(want), diff)
	}
}

// A turn goes with the client that began it, and no turn with one that follows it.
func TestATurnGoesWithItsClient(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	l, other := h.find(), h.find()
	id, err := l.Start(t.Context(), asking("slow"))
	must(t, err)
	for e, err := range other.Follow(t.Context(), id, 0) {
		must(t, err)
		if e.Type() == event.TypeTextDelta {
			break
		}
	}
	other.Close()
	if !h.eng.Live(id) {
		t.Error("the turn ended with a follower")
	}
	l.Close()
	got := all(t, h.eng, id)
	if last := got[len(got)-1]; !strings.Contains(last, `"type":"cancelled"`) {
		t.Errorf("it ends with %s", last)
	}
}

// A call is answered by whoever began the turn, as often as it is asked about.
func TestConfirmThroughAServer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	project := filepath.Join(t.TempDir(), "project")
	must(t, os.Mkdir(project, 0o755))
	remote := client.NewRemote(h.url, h.token)
	defer remote.Close()
	l := h.find()
	for name, answering := range map[string]client.Turns{"owner": l, "by the nonce": remote} {
		req := asking("write")
		req.Workspace, req.CanConfirm = project, true
		id, err := l.Start(t.Context(), req)
		must(t, err)
		asked := 0
		for e, err := range l.Follow(t.Context(), id, 0) {
			must(t, err)
			ask, ok := e.Body.(event.ConfirmRequest)
			if !ok {
				continue
			}
			asked++
			must(t, answering.Confirm(t.Context(), id, engine.Confirmation{ToolUseID: ask.ToolUseID, Decision: event.Deny, Reason: "no"}))
			if err := l.Confirm(t.Context(), id, engine.Confirmation{ToolUseID: "another", Decision: event.Allow}); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("%s: a call that nobody asks about: %v", name, err)
			}
		}
		if asked != 1 {
			t.Errorf("%s: it asked %d times", name, asked)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	if l, err := client.Find(t.Context(), client.Options{DataDir: t.TempDir(), Version: build}); l != nil || err != nil {
		t.Errorf("in an empty folder: %v, %v", l, err)
	}
	h := newHouse(t)
	for name, o := range map[string]client.Options{
		"another version": {DataDir: h.data, Version: "1.2.4"},
		"another build":   {DataDir: h.data, Version: "1.2.3"},
	} {
		if l, err := client.Find(t.Context(), o); l != nil || !errors.Is(err, client.ErrOther) || fault.CodeOf(err) != fault.Busy {
			t.Errorf("%s: %v, %v", name, l, err)
		}
	}
	// The note of another data directory, copied or mounted elsewhere.
	copied := t.TempDir()
	raw, err := os.ReadFile(filepath.Join(h.data, server.NoteFile))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(copied, server.NoteFile), raw, 0o600))
	if l, err := client.Find(t.Context(), client.Options{DataDir: copied, Version: build}); l != nil || !errors.Is(err, client.ErrOther) {
		t.Errorf("other data: %v, %v", l, err)
	}
	// A server that lives, and has no socket that works.
	h.says("socket", "")
	if l, err := client.Find(t.Context(), h.options()); l != nil || !errors.Is(err, client.ErrOther) {
		t.Errorf("no socket: %v, %v", l, err)
	}
	h.says("socket", filepath.Join(h.dir, "none"))
	if l, err := client.Find(t.Context(), h.options()); l != nil || !errors.Is(err, client.ErrOther) {
		t.Errorf("a socket that is gone: %v, %v", l, err)
	}
	must(t, h.stop())
	for _, socket := range []string{h.socket, ""} { // what a server that was killed leaves
		note := fmt.Sprintf(`{"schema_version":1,"pid":1,"version":"1","address":"http://127.0.0.1:1","socket":%q}`, socket)
		must(t, os.WriteFile(filepath.Join(h.data, server.NoteFile), []byte(note), 0o600))
		if l, err := client.Find(t.Context(), h.options()); l != nil || err != nil {
			t.Errorf("an old note, socket %q: %v, %v", socket, l, err)
		}
	}
	must(t, os.WriteFile(filepath.Join(h.data, server.NoteFile), []byte("{half"), 0o600))
	if l, err := client.Find(t.Context(), h.options()); l != nil || err != nil {
		t.Errorf("half a note: %v, %v", l, err)
	}
}

// A server that ends leaves its client with ErrGone, and what has come.
func TestServerEnds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	l := h.find()
	id, err := l.Start(t.Context(), asking("slow"))
	must(t, err)
	var last event.Type
	stopped := make(chan error, 1)
	for e, err := range l.Follow(t.Context(), id, 0) {
		must(t, err)
		if last = e.Type(); last == event.TypeTextDelta {
			go func() { stopped <- h.stop() }()
		}
	}
	must(t, <-stopped)
	if last != event.TypeError { // the server interrupts the turn, and lets the end be taken
		t.Errorf("the stream ended with %s", last)
	}
	for _, err := range l.Follow(t.Context(), id, 0) {
		if !errors.Is(err, client.ErrGone) {
			t.Errorf("nobody is there, and it says %v", err)
		}
	}
	if _, err := l.Start(t.Context(), asking("hi")); !errors.Is(err, client.ErrRefused) {
		t.Errorf("nobody is there to begin a turn, and it says %v", err)
	}
}

// Another process's engine works at the store that the server has, and the server
// goes on meanwhile.
func TestSharing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	l := h.find()
	sharing := client.NewSharing(h.options())
	defer sharing.Close()
	eng := h.engine(false, sharing.Taken)
	for i := range 3 {
		id, err := l.Start(t.Context(), asking(fmt.Sprint("through ", i)))
		must(t, err)
		all(t, l, id)
		id, err = eng.Start(t.Context(), asking(fmt.Sprint("beside ", i)))
		must(t, err)
		all(t, eng, id)
		for name, e := range map[string]*engine.Engine{"the server": h.eng, "the other": eng} {
			page, err := e.Chats(t.Context(), store.ListChats{Limit: 20})
			must(t, err)
			if len(page.Chats) != 2*i+2 {
				t.Errorf("%s sees %d chats, want %d", name, len(page.Chats), 2*i+2)
			}
		}
	}
	must(t, eng.Close())
	sharing.Close()
	if err := sharing.Taken(t.Context()); err != nil {
		t.Errorf("a sharing that was closed says %v", err)
	}
	// Where nobody asks for it, the server has its store for itself again.
	deadline := time.Now().Add(20 * time.Second)
	for {
		if _, err := h.eng.Chats(t.Context(), store.ListChats{Limit: 1}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		other := h.engine(false, nil)
		_, err := other.Chats(ctx, store.ListChats{Limit: 1})
		cancel()
		must(t, other.Close())
		if err != nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the server shares its store for ever")
		}
	}
}

// A server that is another's, or can't share, says so at once.
func TestSharingOfAnotherServer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	sharing := client.NewSharing(client.Options{DataDir: h.data, Version: "0.0.1"})
	defer sharing.Close()
	eng := h.engine(false, sharing.Taken)
	defer eng.Close()
	_, err := eng.Chats(t.Context(), store.ListChats{Limit: 1})
	if err != nil && (!errors.Is(err, client.ErrOther) || !strings.Contains(err.Error(), fmt.Sprintf("pid %d", os.Getpid()))) {
		t.Errorf("it says %v", err)
	}
	if err == nil {
		t.Error("the store was there")
	}
}

// A request goes whole through JSON, whatever is in it.
func TestARequestCrossesWhole(t *testing.T) {
	t.Parallel()
	for name, req := range map[string]engine.TurnRequest{"nothing": {}, "everything": *fill(t, new(engine.TurnRequest))} {
		raw, err := json.Marshal(req)
		must(t, err)
		var back engine.TurnRequest
		must(t, json.Unmarshal(raw, &back))
		if diff := cmp.Diff(req, back, cmp.FilterPath(func(p cmp.Path) bool {
			f, ok := p.Last().(cmp.StructField)
			return ok && (f.Name() == "workflow" || f.Name() == "app" || f.Name() == "OnWait") // set by the engine, and told in lines
		}, cmp.Ignore())); diff != "" {
			t.Errorf("%s (- sent, + read):\n%s", name, diff)
		}
	}
	req := asking("hi")
	req.Tools, req.Docs = []string{}, []string{}
	raw, err := json.Marshal(req)
	must(t, err)
	var back engine.TurnRequest
	must(t, json.Unmarshal(raw, &back))
	if back.Tools == nil || back.Docs == nil {
		t.Error("an empty list of tools, which offers none, became none, which offers all")
	}
}

// fill sets every field that can be set.
func fill[T any](t *testing.T, v *T) *T {
	t.Helper()
	fillValue(t, reflect.ValueOf(v).Elem(), 0)
	return v
}

func fillValue(t *testing.T, v reflect.Value, depth int) {
	switch {
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		v.Set(reflect.ValueOf(json.RawMessage(`{"a":[1]}`)))
		return
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(1_700_000_000, 0).UTC()))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillValue(t, v.Field(i), depth)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(t, v.Elem(), depth)
	case reflect.Slice:
		if depth > 6 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillValue(t, v.Index(0), depth+1)
	case reflect.Map:
		if depth > 6 {
			return
		}
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fillValue(t, key, depth+1)
		fillValue(t, value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(3)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Func, reflect.Interface: // what isn't data can't cross
	default:
		t.Fatalf("a request has a %s, which this test knows nothing of", v.Type())
	}
}
