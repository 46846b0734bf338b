package toolset

import (
	"encoding/json"
	"errors"
	"io/fs"
	"testing"
	"time"
)

func TestToolJSON(t *testing.T) {
	t.Parallel()
	tool := Tool{
		ID: "csv-tools:analyze", ToolsetID: "csv-tools", Name: "Analyze", Description: "Analyze a file",
		Category: "analysis", InputSchema: json.RawMessage(`{"type":"object"}`), RequiresConfirmation: true, Enabled: true,
		Entrypoint:  "tools.analyze:run",
		Renderer:    &Renderer{Type: RenderHTML, Artifact: "artifacts/results.html", Data: json.RawMessage(`"$return"`)},
		Annotations: Annotations{ReadOnly: true}, Timeout: Duration(90 * time.Second),
	}
	want := `{"tool_id":"csv-tools:analyze","toolset_id":"csv-tools","name":"Analyze","description":"Analyze a file",` +
		`"category":"analysis","input_schema":{"type":"object"},"streaming":false,"requires_confirmation":true,"enabled":true,` +
		`"entrypoint":"tools.analyze:run","renderer":{"type":"html","artifact":"artifacts/results.html","data":"$return"},` +
		`"annotations":{"read_only":true,"destructive":false,"idempotent":false,"open_world":false},"timeout":"1m30s"}`
	raw, err := json.Marshal(tool)
	if err != nil || string(raw) != want {
		t.Fatalf("%v\n got %s\nwant %s", err, raw, want)
	}
	var back Tool
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back)
	if err != nil || string(again) != want {
		t.Errorf("%v\nread and written again: %s", err, again)
	}
	if back.BareID() != "analyze" || (Tool{ID: "read_file"}).BareID() != "read_file" {
		t.Errorf("bare id %q", back.BareID())
	}
}

func TestMissingAnnotationsAreTheUnsafeOnes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		raw  string
		want Annotations
	}{
		{`{}`, Annotations{Destructive: true, OpenWorld: true}},
		{`{"read_only":true}`, Annotations{ReadOnly: true, Destructive: true, OpenWorld: true}},
		{`{"destructive":false,"open_world":false,"idempotent":true}`, Annotations{Idempotent: true}},
	} {
		var got Annotations
		if err := json.Unmarshal([]byte(tt.raw), &got); err != nil || got != tt.want {
			t.Errorf("%s gave %+v, %v", tt.raw, got, err)
		}
	}
	var a Annotations
	if err := json.Unmarshal([]byte(`{"read_only":"yes"}`), &a); err == nil {
		t.Error("a string was taken for a hint")
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want time.Duration
		ok   bool
	}{{"30s", 30 * time.Second, true}, {"2m", 2 * time.Minute, true}, {"30", 0, false}, {"-1s", 0, false}, {"soon", 0, false}} {
		var d Duration
		err := d.UnmarshalText([]byte(tt.text))
		if (err == nil) != tt.ok || time.Duration(d) != tt.want {
			t.Errorf("%q gave %v, %v", tt.text, d, err)
		}
	}
}

func TestRendererConfig(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		r    Renderer
		want string
	}{
		{"code", Renderer{Type: RenderCode, File: "$args.path", Language: "auto", Editable: true}, `{"file":"$args.path","language":"auto","editable":true}`},
		{"frame", Renderer{Type: RenderFrame, URL: "http://localhost:$return.port"}, `{"url":"http://localhost:$return.port"}`},
		{"html", Renderer{Type: RenderHTML, Artifact: "a.html", Data: json.RawMessage(`{"x":"$return"}`)}, `{"artifact":"a.html","data":{"x":"$return"}}`},
		{"data that is no JSON is left out", Renderer{Type: RenderHTML, Artifact: "a.html", Data: json.RawMessage(`{`)}, `{"artifact":"a.html"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := string(tt.r.Config()); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestErrorfIsAToolErrorAndKeepsItsCause(t *testing.T) {
	t.Parallel()
	err := Errorf("read %s: %w", "a.txt", fs.ErrNotExist)
	var own *ToolError
	if !errors.As(err, &own) || own.Message != "read a.txt: file does not exist" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %#v", err)
	}
	if err := Errorf("no cause"); errors.Unwrap(err) != nil {
		t.Errorf("a cause from nowhere: %v", errors.Unwrap(err))
	}
}

func TestReportWithoutAListener(t *testing.T) {
	t.Parallel()
	Call{}.Report(Progress{Message: "nobody hears it"})
	var got []Progress
	Call{Progress: func(p Progress) { got = append(got, p) }}.Report(Progress{Stage: "a"})
	if len(got) != 1 || got[0].Stage != "a" {
		t.Errorf("got %v", got)
	}
}
