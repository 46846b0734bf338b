package wire

import (
	"encoding/json"
	"testing"
)

type sample struct {
	Content string `json:"content"`
	At      string `json:"at"`
}

func TestTemplate(t *testing.T) {
	t.Parallel()
	const learnt = `{"at":"12:00","delta":{"content": "one"},"n":1}`
	for name, c := range map[string]struct {
		chunk, text string
		ok          bool
	}{
		"another word":        {`{"at":"12:01","delta":{"content": "two"},"n":1}`, "two", true},
		"nothing":             {`{"at":"","delta":{"content": ""},"n":1}`, "", true},
		"escapes":             {`{"at":"12:01","delta":{"content": "a\n\"b\"\\\u00e9\/"},"n":1}`, "a\n\"b\"\\é/", true},
		"other scripts":       {`{"at":"12:01","delta":{"content": "日本"},"n":1}`, "日本", true},
		"another number":      {`{"at":"12:01","delta":{"content": "two"},"n":2}`, "", false},
		"one more field":      {`{"at":"12:01","delta":{"content": "two","x":1},"n":1}`, "", false},
		"no text":             {`{"at":"12:01","delta":{"content": null},"n":1}`, "", false},
		"another space":       {`{"at":"12:01","delta":{"content":"two"},"n":1}`, "", false},
		"cut":                 {`{"at":"12:01","delta":{"content": "tw`, "", false},
		"something behind it": {`{"at":"12:01","delta":{"content": "two"},"n":1}}`, "", false},
		"a line break in it":  {"{\"at\":\"12:01\",\"delta\":{\"content\": \"t\nwo\"},\"n\":1}", "", false},
		"invalid UTF-8":       {"{\"at\":\"12:01\",\"delta\":{\"content\": \"t\xffwo\"},\"n\":1}", "", false},
		"a wrong escape":      {`{"at":"12:01","delta":{"content": "\x"},"n":1}`, "", false},
		"escapes in the mask": {`{"at":"1\"2","delta":{"content": "two"},"n":1}`, "", false},
	} {
		var tm Template
		tm.Learn([]byte(learnt), "content", "one", "at", "missing")
		text, ok := tm.Match([]byte(c.chunk))
		if text != c.text || ok != c.ok {
			t.Errorf("%s: %q, %v", name, text, ok)
		}
	}
}

// Numbers may differ as well, such as the one of an event.
func TestTemplateWithNumbers(t *testing.T) {
	t.Parallel()
	var tm Template
	tm.Learn([]byte(`{"n":41,"at":0,"delta":"one"}`), "delta", "one", "n")
	for chunk, want := range map[string]string{
		`{"n":42,"at":0,"delta":"two"}`:   "two",
		`{"n":7,"at":0,"delta":"two"}`:    "two",
		`{"n":1.5,"at":0,"delta":"two"}`:  "",
		`{"n":-1,"at":0,"delta":"two"}`:   "",
		`{"n":"42","at":0,"delta":"two"}`: "",
		`{"n":,"at":0,"delta":"two"}`:     "",
		`{"n":42,"at":1,"delta":"two"}`:   "",
		`{"n":42,"at":0,"delta":2}`:       "",
	} {
		if text, ok := tm.Match([]byte(chunk)); text != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", chunk, text, ok)
		}
	}
	tm.Learn([]byte(`{"n":41,"delta":1}`), "delta", "1", "n")
	if _, ok := tm.Match([]byte(`{"n":41,"delta":1}`)); ok {
		t.Error("a number counts as a text")
	}
}

func TestTemplateLearnsOnlyWhatIsPlain(t *testing.T) {
	t.Parallel()
	for name, chunk := range map[string]string{
		"twice":        `{"content":"one","x":{"content":"one"}}`,
		"twice, mixed": `{"content":"one","logprobs":{"content":[]}}`,
		"another text": `{"content":"two"}`,
		"never":        `{"text":"one"}`,
		"no string":    `{"content":1}`,
	} {
		var tm Template
		tm.Learn([]byte(chunk), "content", "one")
		if text, ok := tm.Match([]byte(chunk)); ok {
			t.Errorf("%s: it matches %q", name, text)
		}
	}
	var tm Template
	tm.Learn([]byte(`{"x":"\"content\":\"no\"","content":"one"}`), "content", "one")
	if text, ok := tm.Match([]byte(`{"x":"\"content\":\"no\"","content":"two"}`)); !ok || text != "two" {
		t.Errorf("beside a text about content: %q, %v", text, ok)
	}
}

// FuzzTemplate compares what a template says with decoding.
func FuzzTemplate(f *testing.F) {
	f.Add(`{"content":"one","at":"x"}`, `{"content":"two","at":"y"}`)
	f.Add(`{"at":"x","content":"a\"b"}`, `{"at":"y","content":"\\"}`)
	f.Fuzz(func(t *testing.T, first, second string) {
		var a, b map[string]any
		if json.Unmarshal([]byte(first), &a) != nil {
			return
		}
		learnt, isText := a["content"].(string)
		if !isText {
			return
		}
		var tm Template
		tm.Learn([]byte(first), "content", learnt, "at")
		text, ok := tm.Match([]byte(second))
		if !ok {
			return
		}
		if err := json.Unmarshal([]byte(second), &b); err != nil {
			t.Fatalf("after %q it takes %q, which is no JSON: %v", first, second, err)
		}
		if got, _ := b["content"].(string); got != text {
			t.Fatalf("after %q it reads %q as %q, not %q", first, second, text, got)
		}
	})
}

func BenchmarkTemplate(b *testing.B) {
	chunk := []byte(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1795816640,"model":"m","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}`)
	b.Run("match", func(b *testing.B) {
		var tm Template
		tm.Learn(chunk, "content", " word")
		for b.Loop() {
			if _, ok := tm.Match(chunk); !ok {
				b.Fatal("no match")
			}
		}
	})
	b.Run("json", func(b *testing.B) {
		for b.Loop() {
			var c struct {
				Choices []struct{ Delta sample }
			}
			if json.Unmarshal(chunk, &c) != nil || c.Choices[0].Delta.Content == "" {
				b.Fatal("no text")
			}
		}
	})
}
