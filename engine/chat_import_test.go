package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

// drawDocument makes a chat that a store could hold: a tree of messages with
// parts of every kind.
func drawDocument(t *rapid.T, id string) *chat.Document {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", "plain", "</script>\x1b[31m\u202e", "```\n~~~", strings.Repeat("long ", 2000), "\u2028\x00",
	}))
	line := rapid.StringMatching(`[a-zA-Z0-9äλ/:._-]{1,30}`)
	at := func(label string) time.Time {
		return time.Unix(rapid.Int64Range(0, 4e9).Draw(t, label), 0).UTC()
	}
	doc := &chat.Document{SchemaVersion: chat.DocumentVersion, Format: chat.DocumentFormat, ToolCalls: []chat.ToolCall{}}
	ids := []string{""}
	for i := range rapid.IntRange(1, 8).Draw(t, "messages") {
		m := chat.Message{
			ID: fmt.Sprintf("M%03d", rapid.IntRange(0, 9).Draw(t, "order")*10+i), TurnID: fmt.Sprintf("T%d", i),
			ParentID: rapid.SampledFrom(ids).Draw(t, "parent"), CreatedAt: at("created"), Role: provider.User, Status: chat.Answered,
		}
		if rapid.Bool().Draw(t, "answer") {
			m.Role, m.Model, m.StopReason = provider.Assistant, line.Draw(t, "model"), "stop"
			m.Status = rapid.SampledFrom([]chat.Status{chat.Answered, chat.Failed, chat.Stopped, chat.CutShort}).Draw(t, "status")
			m.Usage = &event.Usage{InputTokens: rapid.Int64Range(0, 1e12).Draw(t, "tokens")}
			m.Notes = rapid.SliceOfN(text, 1, 2).Draw(t, "notes")
			m.Citations = []json.RawMessage{json.RawMessage(`{"url":"https://example.com/?a=1\u0026b"}`)}
			if m.Status == chat.Failed {
				m.Error = &event.Error{Message: text.Draw(t, "error"), Code: "failed"}
			}
		}
		for step := range rapid.IntRange(1, 3).Draw(t, "steps") {
			m.Parts = append(m.Parts, drawParts(t, m.Role, step, text, line)...)
		}
		ids = append(ids, m.ID)
		doc.Messages = append(doc.Messages, m)
		if m.Role == provider.Assistant {
			end := at("end")
			doc.ToolCalls = append(doc.ToolCalls, chat.ToolCall{
				MessageID: m.ID, TurnID: m.TurnID, ToolUseID: line.Draw(t, "use"), ToolID: line.Draw(t, "tool"),
				Args: json.RawMessage(`{"a":"\u003c"}`), Result: json.RawMessage(`{"text":"x"}`), Status: event.CallSuccess,
				StartedAt: at("start"), FinishedAt: &end, Index: i,
			})
		}
	}
	created := at("chat")
	doc.Chat = chat.Chat{
		ID: id, Title: line.Draw(t, "title"), Model: line.Draw(t, "model"), System: text.Draw(t, "system"),
		ActiveLeaf: rapid.SampledFrom(ids[1:]).Draw(t, "leaf"), CreatedAt: created, UpdatedAt: created.Add(time.Hour),
	}
	return doc
}

func drawParts(t *rapid.T, role provider.Role, step int, text, line *rapid.Generator[string]) []provider.Part {
	parts := []provider.Part{{Kind: provider.TextPart, Step: step, Text: text.Draw(t, "text")}}
	if role == provider.User {
		return append(parts,
			provider.Part{Kind: provider.FilePart, Step: step, Name: "a b/ü.txt", Text: text.Draw(t, "file")},
			provider.Part{Kind: provider.ImagePart, Step: step, Name: "x.png", MIME: "image/png", Data: rapid.SliceOfN(rapid.Byte(), 1, 50).Draw(t, "image")})
	}
	id := fmt.Sprintf("%s-%d", line.Draw(t, "call"), step)
	return append(parts,
		provider.Part{Kind: provider.ReasoningPart, Step: step, Text: text.Draw(t, "thought"), Details: json.RawMessage(`[{"signature":"abc"}]`)},
		provider.Part{Kind: provider.ToolCallPart, Step: step, Call: &provider.ToolCall{ID: id, Name: line.Draw(t, "name"), Args: json.RawMessage(`{"path":"x"}`)}},
		provider.Part{Kind: provider.ToolResultPart, Step: step, Result: &provider.ToolResult{ID: id, Name: "x", Text: text.Draw(t, "result"), Error: step == 1}})
}

// sameContent is a document without what an import gives anew.
func sameContent(d *chat.Document) *chat.Document {
	out := *d
	out.Chat.ID, out.Chat.Number, out.Chat.LastTurn, out.Chat.Messages = "", 0, 0, 0
	out.Chat.ActiveManifest = ""
	out.Messages = slices.Clone(d.Messages)
	for i := range out.Messages {
		out.Messages[i].ChatID, out.Messages[i].ManifestID = "", "" // states stay on their machine
		out.Messages[i].Parts = slices.Clone(out.Messages[i].Parts)
		for k, p := range out.Messages[i].Parts {
			if p.Result != nil { // an imported result comes from outside
				result := *p.Result
				result.Outside = ""
				out.Messages[i].Parts[k].Result = &result
			}
		}
	}
	slices.SortFunc(out.Messages, func(a, b chat.Message) int { return strings.Compare(a.ID, b.ID) })
	out.ToolCalls = slices.Clone(d.ToolCalls)
	for i := range out.ToolCalls {
		out.ToolCalls[i].ID, out.ToolCalls[i].ChatID = "", ""
		out.ToolCalls[i].PreManifestID, out.ToolCalls[i].PostManifestID = "", ""
	}
	slices.SortStableFunc(out.ToolCalls, func(a, b chat.ToolCall) int { return strings.Compare(a.MessageID, b.MessageID) })
	return &out
}

// changed is what differs between two documents but for ids and numbers. cmp
// looks at each byte of an image, so it is asked only where there is something.
func changed(t interface{ Fatal(...any) }, was, is *chat.Document) string {
	was, is = sameContent(was), sameContent(is)
	if bytes.Equal(encode(t, was), encode(t, is)) {
		return ""
	}
	return cmp.Diff(was, is)
}

func encode(t interface{ Fatal(...any) }, d *chat.Document) []byte {
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// written is a document as its JSON has it: what is no UTF-8 is replaced.
func written(t interface{ Fatal(...any) }, d *chat.Document) *chat.Document {
	out := new(chat.Document)
	if err := json.Unmarshal(encode(t, d), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Whatever a chat holds, its file is read as it was written.
func TestDocumentsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		wrote := written(r, drawDocument(r, "01ARZ3NDEKTSV4RRFFQ69G5FAV"))
		docs, notes, err := decodeChats(encode(r, wrote))
		if err != nil || len(notes) > 0 {
			r.Fatalf("decode: %v, %v", err, notes)
		}
		if diff := changed(r, wrote, docs[0]); diff != "" {
			r.Fatalf("came back changed (-was +is):\n%s", diff)
		}
	})
}

// What is exported, imported and exported again is the same but for ids and
// numbers, also where it is imported as a copy.
func TestExportImportRoundTrip(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	drawn := rapid.Custom(func(r *rapid.T) *chat.Document { return drawDocument(r, "") })
	var docs, wrote []*chat.Document
	for seed := range 12 {
		d := written(t, drawn.Example(seed))
		d.Chat.ID = b.NewID()
		wrote = append(wrote, d)
		read, _, err := decodeChats(encode(t, d))
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, read...)
	}
	for _, there := range []store.Existing{store.RefuseExisting, store.CopyExisting} {
		got, err := b.importChats(t.Context(), docs, there)
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range got {
			doc, live, err := b.ExportChat(t.Context(), store.ChatRef{Number: g.Chat.Number})
			if err != nil || live {
				t.Fatal(err)
			}
			if diff := changed(t, wrote[i], doc); diff != "" {
				t.Errorf("came back changed (-was +is):\n%s", diff)
			}
			if (doc.Chat.ID == wrote[i].Chat.ID) != (there == store.RefuseExisting) {
				t.Errorf("its id is %s", doc.Chat.ID)
			}
			read, _, err := decodeChats(encode(t, doc))
			if err != nil {
				t.Fatal(err)
			}
			docs[i] = read[0]
		}
	}
}

func TestImportOfWhatATurnLeft(t *testing.T) {
	t.Parallel()
	dir, full, _ := newCared(t)
	b := openBench(t, dir)
	doc, _, err := b.ExportChat(t.Context(), store.ChatRef{ID: full})
	if err != nil || len(doc.ToolCalls) != 1 || len(doc.Messages) != 4 || len(doc.Path()) != 4 {
		t.Fatalf("%+v, %v", doc, err)
	}
	data := encode(t, doc)
	other := newBench(t, careScript)
	docs, _, err := decodeChats(data)
	if err != nil {
		t.Fatal(err)
	}
	got, err := other.importChats(t.Context(), docs, store.RefuseExisting)
	if err != nil || got[0].Chat.Number != 1 || got[0].Chat.ID != full {
		t.Fatalf("%+v, %v", got, err)
	}
	again, _, err := other.ExportChat(t.Context(), store.ChatRef{Last: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := changed(t, doc, again); diff != "" {
		t.Errorf("came back changed:\n%s", diff)
	}
	req := ask("count on")
	req.Chat.Last = true
	other.run(req)
	if conv := other.chat(1); len(conv.Messages) != 6 {
		t.Errorf("it went on with %d messages", len(conv.Messages))
	}
	if rows := other.byChat(time.Time{}); len(rows) != 1 || rows[0].Turns != 1 {
		t.Errorf("what was used elsewhere is counted: %+v", rows)
	}
	other.del(1)
	if got, err := other.PurgeChats(t.Context(), store.Purge{}); err != nil || got.Messages != 6 {
		t.Errorf("%+v, %v", got, err)
	}
	if left := other.traces(full); left != nil {
		t.Errorf("left: %v", left)
	}
}

func TestImportOfWhatIsThere(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	b.run(ask("one"))
	export := func(n int64) []*chat.Document {
		doc, _, err := b.ExportChat(t.Context(), store.ChatRef{Number: n})
		if err != nil {
			t.Fatal(err)
		}
		docs, _, err := decodeChats(encode(t, doc))
		if err != nil {
			t.Fatal(err)
		}
		return docs
	}
	one := export(1)
	stranger := export(1)
	stranger[0].Chat.ID = b.NewID()
	if _, err := b.importChats(t.Context(), append(stranger, one...), store.RefuseExisting); fault.CodeOf(err) != fault.Usage || !strings.Contains(err.Error(), "chat 1") {
		t.Errorf("refused with %v", err)
	}
	if got := b.listed(store.ListChats{}); got != "1" {
		t.Errorf("a part was imported: %s", got)
	}
	got, err := b.importChats(t.Context(), append(export(1), stranger...), store.SkipExisting)
	if err != nil || !got[0].Skipped || got[0].Chat.Number != 1 || got[1].Skipped || got[1].Chat.Number != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = b.importChats(t.Context(), one, store.CopyExisting); err != nil || got[0].Chat.Number != 3 || got[0].Chat.ID == one[0].Chat.ID {
		t.Errorf("%+v, %v", got, err)
	}
	b.del(1)
	if _, err := b.importChats(t.Context(), one, store.RefuseExisting); !strings.Contains(fmt.Sprint(err), "is deleted") {
		t.Errorf("a deleted one: %v", err)
	}
	twice := stranger[0].Chat.ID[:20] + "000000"
	for _, d := range append(one, stranger...) {
		d.Chat.ID = twice
	}
	if _, err := b.importChats(t.Context(), append(one, stranger...), store.RefuseExisting); !strings.Contains(fmt.Sprint(err), "twice") {
		t.Errorf("twice in one file: %v", err)
	}
}

// wholeDocument is a right one, for tests that break it.
func wholeDocument() string {
	return `{"schema_version":1,"format":"fettle-chat","chat":{"title":"T","model":"m","active_leaf_message_id":"b"},
"messages":[
 {"id":"a","role":"user","status":"complete","parts":[{"type":"text","text":"hi"}]},
 {"id":"b","parent_id":"a","role":"assistant","status":"complete","parts":[
  {"type":"tool_call","call":{"id":"c1","name":"read_file","args":{}}},
  {"type":"tool_result","result":{"id":"c1","name":"read_file","text":"ok"}},
  {"type":"text","step":1,"text":"ho"}]}],
"tool_calls":[{"message_id":"b","turn_id":"t","tool_use_id":"c1","tool_id":"read_file","args":{},"status":"success"}]}`
}

func TestHostileDocuments(t *testing.T) {
	t.Parallel()
	if _, _, err := decodeChats([]byte(wholeDocument())); err != nil {
		t.Fatalf("the right one: %v", err)
	}
	change := func(old, new string) string {
		if !strings.Contains(wholeDocument(), old) {
			t.Fatalf("no %s in it", old)
		}
		return strings.Replace(wholeDocument(), old, new, 1)
	}
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                  {"", "empty"},
		"another format":           {`{"format":"x"}`, "no chat that fettle exported"},
		"a list":                   {`[1]`, "no chat that fettle exported"},
		"not JSON":                 {"\n\nhello", "line 3 is no JSON"},
		"cut":                      {wholeDocument()[:200], "ends in the middle"},
		"a newer one":              {change(`_version":1`, `_version":2`), "schema_version is 2"},
		"no UTF-8":                 {change("hi", "h\xff"), "line 3 is no UTF-8"},
		"too deep":                 {change(`{}`, strings.Repeat(`{"a":`, 600)+"1"+strings.Repeat("}", 600)), "nested deeper than 500"},
		"a path for an id":         {change(`"chat":{`, `"chat":{"id":"../../etc",`), `its id "../../etc"`},
		"an id in small letters":   {change(`"chat":{`, `"chat":{"id":"01arz3ndektsv4rrffq69g5fav",`), "its id"},
		"no messages":              {`{"schema_version":1,"format":"fettle-chat"}`, "no messages"},
		"an odd message id":        {change(`"id":"b"`, `"id":"b/\u001b"`), "message 2: its id"},
		"an id twice":              {change(`"id":"b"`, `"id":"a"`), "id a of an earlier one"},
		"an orphan":                {change(`"parent_id":"a"`, `"parent_id":"z"`), "message 2 follows z"},
		"a circle":                 {change(`"id":"a"`, `"id":"a","parent_id":"b"`), "circle"},
		"no leaf":                  {change(`message_id":"b"}`, `message_id":"z"}`), `"z" isn't there`},
		"an unknown part":          {change(`"type":"text","text":"hi"`, `"type":"spell"`), "part 1: this fettle knows no part of type \"spell\""},
		"an unknown role":          {change(`"role":"user"`, `"role":"system"`), "role \"system\""},
		"an unknown status":        {change(`"status":"complete"`, `"status":"running"`), "status \"running\""},
		"a call without a call":    {change(`"call":{"id":"c1","name":"read_file","args":{}}`, `"text":"x"`), "too little or too much"},
		"a result without a call":  {change(`"result":{"id":"c1"`, `"result":{"id":"c2"`), "result of c2 has no call"},
		"a result of a later step": {change(`"type":"tool_result"`, `"type":"tool_result","step":1`), "result of c1 has no call"},
		"steps that go back":       {change(`"type":"tool_call"`, `"step":2,"type":"tool_call"`), "before that of the part above"},
		"arguments that are none":  {change(`"args":{}`, `"args":[]`), "not a JSON object"},
		"a person who calls":       {change(`{"type":"text","text":"hi"}`, `{"type":"tool_call","call":{"id":"x","name":"y","args":{}}}`), "calls no tools"},
		"a wrong type":             {change(`"title":"T"`, `"title":7`), "chat.title can't be a number"},
		"an image of no type":      {change(`"type":"text","text":"hi"`, `"type":"image","mime":"text/html","data":"AAAA"`), "no type of an image"},
		"data in a text":           {change(`"type":"text","text":"hi"`, `"type":"text","data":"AAAA"`), "too little or too much"},
		"less than nothing used":   {change(`"id":"b",`, `"id":"b","usage":{"input_tokens":-1,"output_tokens":0},`), "below zero"},
		"a call of no message":     {change(`"message_id":"b"`, `"message_id":"z"`), `"z" isn't there`},
		"a call that still runs":   {change(`"status":"success"`, `"status":"running"`), "none of a call that has ended"},
		"a very long name":         {change(`"model":"m"`, `"model":"`+strings.Repeat("m", 2000)+`"`), "the model has 2000 bytes"},
		"a second one that is bad": {wholeDocument() + `{"format":"x"}`, "chat 2 of the file"},
	} {
		docs, _, err := decodeChats([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || docs != nil {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err != nil && (strings.ContainsAny(err.Error(), "\x1b\n") || len(err.Error()) > 300) {
			t.Errorf("%s: said %q", name, err)
		}
	}
}

// What is taken is made harmless, and what is left out is said.
func TestImportSettles(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer(`"title":"T"`, `"title":"a\u001b[31m\nb","workspace":"/home/me","id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","number":7,"novel":1,"active_manifest_id":"x","deleted_at":"2026-01-01T00:00:00Z"`,
		`"id":"a",`, `"id":"a","pieces":3,`).Replace(wholeDocument())
	docs, notes, err := decodeChats([]byte("\xEF\xBB\xBF" + text))
	if err != nil || len(notes) != 2 || !strings.Contains(notes[0], "novel") || !strings.Contains(notes[1], "/home/me") {
		t.Fatalf("%v, %q", err, notes)
	}
	b := newBench(t, yes)
	got, err := b.importChats(t.Context(), docs, store.RefuseExisting)
	if err != nil {
		t.Fatal(err)
	}
	c := got[0].Chat
	if c.Title != "a[31m b" || c.Workspace != "" || c.Number != 1 || c.ActiveManifest != "" || c.DeletedAt != nil || c.Messages != 2 {
		t.Errorf("%+v", c)
	}
	if conv := b.chat(1); len(conv.Messages) != 2 || conv.Messages[0].Text() != "hi" {
		t.Errorf("%+v", conv)
	}
	req := in(1, "go on")
	req.Model = "script/m.yaml"
	b.run(req)
}

// A group is one transaction; more chats than that all come in.
func TestImportOfManyChats(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	var all bytes.Buffer
	const n = store.InsertGroup + 5
	for range n {
		all.WriteString(wholeDocument() + "\n")
	}
	docs, _, err := decodeChats(all.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := b.importChats(t.Context(), docs, store.RefuseExisting); err != nil || len(got) != n || got[n-1].Chat.Number != n {
		t.Errorf("%d, %v", len(got), err)
	}
	if page, err := b.Chats(t.Context(), store.ListChats{}); err != nil || len(page.Chats) != n {
		t.Errorf("%d are listed, %v", len(page.Chats), err)
	}
	err = b.View(t.Context(), func(tx *kv.Tx) error {
		left, err := b.Tables.Deleted.Count(tx, kv.Range{})
		if left != 0 {
			t.Errorf("%d are still being made", left)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// FuzzDecodeChats looks for a file that makes the reader fail, or that it takes
// and that then is no tree.
func FuzzDecodeChats(f *testing.F) {
	f.Add([]byte(wholeDocument()))
	f.Add([]byte(strings.ReplaceAll(wholeDocument(), `"a"`, `"b"`)))
	f.Add([]byte(`{"schema_version":1,"format":"fettle-chat","chat":{"active_leaf_message_id":"a"},"messages":[{"id":"a","role":"user","status":"complete"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, _, err := decodeChats(data)
		if (err == nil) != (len(docs) > 0) {
			t.Fatalf("%d documents and %v", len(docs), err)
		}
		for _, d := range docs {
			if len(d.Path()) == 0 || d.Path()[0].ParentID != "" {
				t.Errorf("the way to the leaf begins at %+v", d.Path())
			}
			again, _, err := decodeChats(encode(t, d))
			if err != nil || changed(t, d, again[0]) != "" {
				t.Errorf("it can't be read again: %v", err)
			}
		}
	})
}
