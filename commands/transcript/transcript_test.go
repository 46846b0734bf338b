package transcript

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark/ast"
	gmtext "github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/nodetest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// document has a bit of everything, with hostile text wherever text can be.
func document() *chat.Document {
	at := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	const bad = "<img src=x onerror=alert(1)>\"'&`\x1b[31m\u202e"
	message := func(id, parent string, role provider.Role, parts ...provider.Part) chat.Message {
		return chat.Message{ID: id, ParentID: parent, Role: role, Parts: parts, Status: chat.Answered, CreatedAt: at, Model: "m/" + bad}
	}
	call := func(id, name, args, result string, failed bool) []provider.Part {
		return []provider.Part{
			{Kind: provider.ToolCallPart, Call: &provider.ToolCall{ID: id, Name: name, Args: json.RawMessage(args)}},
			{Kind: provider.ToolResultPart, Result: &provider.ToolResult{ID: id, Name: name, Text: result, Error: failed}},
		}
	}
	doc := &chat.Document{
		Chat: chat.Chat{
			Number: 7, Title: "A title " + bad, Model: "script/m.yaml", System: "Be brief.\n</pre>" + bad, ActiveLeaf: "f",
			Workspace: "/home/me/<b>", CreatedAt: at, UpdatedAt: at.Add(2 * time.Hour), ForkedFrom: &chat.Origin{Number: 3},
		},
		Messages: []chat.Message{
			message("a", "", provider.User,
				provider.Part{Kind: provider.FilePart, Name: "a" + bad + ".txt", Text: "```\n</script>" + bad + "\n````"},
				provider.Part{Kind: provider.ImagePart, Name: "dot.png", MIME: "image/png", Data: []byte("PNG")},
				provider.Part{Kind: provider.ImagePart, Name: "x.svg", MIME: "image/svg+xml", Data: []byte("<svg onload=alert(1)>")},
				provider.Part{Kind: provider.TextPart, Text: "What is <b>this</b>?\n\n    indented"}),
			message("b", "a", provider.Assistant, slices.Concat(
				[]provider.Part{{Kind: provider.ReasoningPart, Text: "Hm.\n</details>" + bad}, {Kind: provider.TextPart, Text: "I look.\n```sh\nopen"}},
				call("1", "read_file", `{"path":"x<y","n":12345678901234567890}`, "ok </pre>", false),
				call("2", "bad"+bad, `{"command":"rm `+"```"+`"}`, "error: no", true),
				[]provider.Part{{Kind: provider.ToolCallPart, Call: &provider.ToolCall{ID: "3", Name: "left", Args: json.RawMessage(`{}`)}}})...),
			message("c", "b", provider.User, provider.Part{Kind: provider.TextPart, Text: "And?"}),
			message("d", "c", provider.Assistant, provider.Part{Kind: provider.TextPart, Text: "# One\n\n[a](javascript:alert(1)) [b](https://example.com/?a=\"b\") ![p](https://example.com/p.png) <script>x</script>\n\n<!-- no\n\n- [x] done\n\n| a | b |\n|--:|---|\n| 1 | <i> |\n\n<https://go.dev> data:text/html,x"}),
			message("e", "d", provider.User, provider.Part{Kind: provider.TextPart, Text: "Last"}),
			message("f", "e", provider.Assistant, provider.Part{Kind: provider.TextPart, Text: "It stops he"}),
			message("z", "a", provider.Assistant, provider.Part{Kind: provider.TextPart, Text: "On another branch."}),
		},
	}
	doc.Messages[5].Status, doc.Messages[5].Error = chat.Failed, &event.Error{Message: "the wire broke <b>"}
	doc.Messages[3].Notes = []string{"images were left out <b>"}
	doc.Messages[3].Parts = append(doc.Messages[3].Parts,
		provider.Part{Kind: provider.PayloadPart, Payload: &provider.Payload{ID: "p1", Type: "proposal", Title: "A title <b>", Data: json.RawMessage(`{"a":"</pre>"}`)}},
		provider.Part{Kind: provider.PayloadPart, Payload: &provider.Payload{ID: "p2", Type: "proposal", Data: json.RawMessage(`[]`)}})
	doc.Messages[3].Summary = &chat.Summary{Text: "They spoke of it.\n</details>" + bad, Messages: 4, Model: "m/" + bad, CreatedAt: at}
	doc.Payloads = []chat.PayloadDecision{{PayloadID: "p1", Decision: chat.Rejected, Remark: "too *long* " + bad, At: at}}
	return doc
}

func options() Options {
	return Options{Version: "1.2.3<", Live: true, Argument: func(args json.RawMessage) string { return string(args) }}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func() ([]byte, error){
		"chat.md": func() ([]byte, error) {
			var b bytes.Buffer
			err := Markdown(&b, document(), options())
			return b.Bytes(), err
		},
		"chat.html": func() ([]byte, error) {
			var b bytes.Buffer
			err := HTML(&b, document(), options())
			return b.Bytes(), err
		},
	} {
		got, err := write()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if want := bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")); !bytes.Equal(got, want) {
			t.Errorf("%s differs; go test -update shows how", name)
		}
	}
}

// nasty are pieces of text that look for a way out.
func nasty() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
			"```", "~~~", "````", "\n", "\n\n", "- ", "> ", "  ", "    ", "1. ", "`", "``", "<script>", "</script>", "<!--", "-->", "<details>", "</details>",
			"<?x", "<![CDATA[", "<div", " onload=alert(1)>", "\"", "'", "&lt;", "&#60;", "&quot;", "[a](", "javascript:alert(1)", "JaVaScRiPt:x", "data:text/html,<b>",
			"https://a.example/\"onmouseover=\"x", ")", "![", "](", "<javascript:x>", "<https://b.example/'>", "[r]", "[r]: vbscript:x \"t\"\n", "<a@b.example>", "www.c.example/<b>",
			"| a | b |\n|:-:|--|\n| c |", "# ", "===\n", "**", "~~", "\x00", "\x1b]0;x\x07", "\u2028", "\u202e", "word", "\\", "<style>", "</style>", "</pre>", "</code>", "\t",
		}), 0, 30).Draw(t, "pieces")
		return strings.Join(pieces, "")
	})
}

// talk is a chat of texts, question and answer in turn.
func talk(texts ...string) *chat.Document {
	doc := &chat.Document{Chat: chat.Chat{Number: 1, Title: texts[0], Model: texts[0]}}
	for i, text := range texts {
		m := chat.Message{ID: string(rune('a' + i)), Role: provider.User, Status: chat.Answered, Model: "m",
			Parts: []provider.Part{{Kind: provider.TextPart, Text: text}}}
		if i > 0 {
			m.ParentID = doc.Messages[i-1].ID
		}
		if i%2 == 1 {
			m.Role = provider.Assistant
			m.Parts = append(m.Parts, provider.Part{Kind: provider.ReasoningPart, Text: text},
				provider.Part{Kind: provider.ToolCallPart, Call: &provider.ToolCall{ID: "1", Name: text, Args: json.RawMessage(`{}`)}},
				provider.Part{Kind: provider.ToolResultPart, Result: &provider.ToolResult{ID: "1", Text: text}})
		}
		doc.Messages = append(doc.Messages, m)
		doc.Chat.ActiveLeaf = m.ID
	}
	return doc
}

// checkPage holds a page to what it may be made of: since all text is escaped,
// every "<" begins a tag of ours.
func checkPage(t interface{ Errorf(string, ...any) }, page string) {
	style := regexp.MustCompile(`(?s)<style>.*?</style>`)
	if len(style.FindAllString(page, -1)) != 1 {
		t.Errorf("not one style sheet")
	}
	page = style.ReplaceAllString(page, "")
	tags := strings.Fields("html head meta title body header h1 h2 h3 h4 h5 h6 p span nav details summary ol li a main article time div pre code " +
		"footer figure img figcaption ul blockquote hr br strong em del table thead tbody tr th td input")
	attrs := strings.Fields("lang charset http-equiv content name class dir id href rel aria-labelledby aria-label aria-hidden datetime tabindex align alt src checked disabled type start title")
	tag := regexp.MustCompile(`^</?([a-z0-9]+)((?: [a-z-]+(?:="[^"<>]*")?)*) ?/?>`)
	attr := regexp.MustCompile(` ([a-z-]+)(?:="([^"]*)")?`)
	for i := strings.IndexByte(page, '<'); i >= 0; {
		m := tag.FindStringSubmatch(page[i:])
		if m == nil && !strings.HasPrefix(page[i:], "<!doctype html>") {
			t.Errorf("no tag of ours: %.80q", page[i:])
			return
		}
		if m != nil {
			if !slices.Contains(tags, m[1]) {
				t.Errorf("a tag %s", m[1])
			}
			for _, a := range attr.FindAllStringSubmatch(m[2], -1) {
				if !slices.Contains(attrs, a[1]) {
					t.Errorf("an attribute %s of %s", a[1], m[1])
				}
				if ok := regexp.MustCompile(`^(?i)(https?://|mailto:|#m\d+$)`); a[1] == "href" && !ok.MatchString(a[2]) {
					t.Errorf("a link to %s", a[2])
				}
				if ok := regexp.MustCompile(`^data:image/(png|jpeg|gif|webp);base64,`); a[1] == "src" && !ok.MatchString(a[2]) {
					t.Errorf("a source %s", a[2])
				}
			}
		}
		next := strings.IndexByte(page[i+1:], '<')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	if strings.ContainsAny(page, "\x00\x1b\u202e") {
		t.Errorf("a control character reached the page")
	}
}

func TestNothingBreaksOutOfThePage(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := HTML(&b, document(), options()); err != nil {
		t.Fatal(err)
	}
	checkPage(t, b.String())
	rapid.Check(t, func(r *rapid.T) {
		var b bytes.Buffer
		doc := talk(nasty().Draw(r, "asked"), nasty().Draw(r, "answered"), nasty().Draw(r, "asked"), nasty().Draw(r, "answered"))
		if err := HTML(&b, doc, Options{}); err != nil {
			r.Fatal(err)
		}
		checkPage(r, b.String())
	})
}

// checkMarkdown finds the heading of each message where a parser of its own
// sees it: no message swallowed the next.
func checkMarkdown(t interface{ Errorf(string, ...any) }, text string, messages int) {
	source := []byte(text)
	n := 0
	for c := newProse().md.Parser().Parse(gmtext.NewReader(source)).FirstChild(); c != nil; c = c.NextSibling() {
		h, ok := c.(*ast.Heading)
		if title := string(plainText(source, c)); ok && h.Level == 2 && (title == "m" || strings.HasPrefix(title, "You · ")) {
			n++
		}
	}
	if n != messages {
		t.Errorf("%d of %d messages are seen in:\n%s", n, messages, text)
	}
}

func TestNoMessageSwallowsTheNext(t *testing.T) {
	t.Parallel()
	check := func(t interface {
		Errorf(string, ...any)
		Fatal(...any)
	}, texts ...string) {
		var b bytes.Buffer
		if err := Markdown(&b, talk(texts...), Options{}); err != nil {
			t.Fatal(err)
		}
		checkMarkdown(t, b.String(), len(texts))
	}
	for _, text := range []string{
		"```\nopen", "~~~~\nopen\n~~~", "- ```\n  code\n  ```", "- ```\n  open", "> ```\n> open", "<!-- open", "<script>\nopen", "text\n<?php", "`a\n<script>", "\\`<!--`", "    ```\nx",
		"1. a\n   ```html\n   <div>\n   ```\n2. b", "```a`b\n<pre>", "<pre>\n\n", "a\n\n\t<script>", "[x]:\n", "# ", "***", "| a |\n|---|",
	} {
		check(t, text, text, text)
	}
	rapid.Check(t, func(r *rapid.T) {
		check(r, nasty().Draw(r, "asked"), nasty().Draw(r, "answered"), "end")
	})
}

// Code stays as it is, wherever it stands.
func TestCodeIsNotEscaped(t *testing.T) {
	t.Parallel()
	m := &mdWriter{prose: newProse()}
	for _, text := range []string{
		"```html\n<div>\n```\n", "1. a\n   ```html\n   <div>\n   ```\n", "- ```\n  <div>\n  ```\n", "say `<div>` and ``a`<b>``\n", "> ```\n> <div>\n> ```\n",
		"a < b and <https://go.dev>\n",
	} {
		if got := m.contained(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for text, want := range map[string]string{"<div>\n": "\\<div>\n", "```\n<div>": "```\n<div>\n```", "a </b> c": "a \\</b> c\n"} {
		if got := m.contained(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// A text that would take the parser long is shown as it is.
func TestTangledTextsAreShownAsTheyAre(t *testing.T) {
	t.Parallel()
	p := newProse()
	for _, piece := range []string{"[a](", "![](", "> ", "1. ", "- x [b](", strings.Repeat("x ", 70000)} {
		text := strings.Repeat(piece, 1+maxProse/2/len(piece)) + "end"
		if got := p.render(text); !strings.HasPrefix(got, "<pre") {
			t.Errorf("%.10q…: %.60q", piece, got)
		}
	}
	for _, text := range []string{"-----------------------------------------------------------", "* * *", "12345678901234567890123456789012345678901234567890", "> > > deep"} {
		if got := p.render(text); strings.HasPrefix(got, "<pre") {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func FuzzPage(f *testing.F) {
	f.Add("[a](javascript:x)", "<b>")
	f.Add("```\n<script>", "| a |\n|--|\n")
	f.Fuzz(func(t *testing.T, asked, answered string) {
		var page, text bytes.Buffer
		doc := talk(asked, answered, "end")
		if err := HTML(&page, doc, Options{}); err != nil {
			t.Fatal(err)
		}
		checkPage(t, page.String())
		if err := Markdown(&text, doc, Options{}); err != nil {
			t.Fatal(err)
		}
		checkMarkdown(t, text.String(), 3)
	})
}

// A real browser applies the style sheet, runs nothing and asks nobody.
func TestABrowserShowsThePage(t *testing.T) {
	t.Parallel()
	browser := nodetest.Chromium(t)
	var page bytes.Buffer
	doc := document()
	doc.Messages[3].Parts[0].Text += "\n\n<script>document.title='owned'</script>\n<img src=x onerror=\"document.title='owned'\">"
	if err := HTML(&page, doc, options()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "chat.html")
	if err := os.WriteFile(path, page.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
		"--user-data-dir="+t.TempDir(), "--enable-logging=stderr", "--dump-dom", "file://"+filepath.ToSlash(path))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", browser, err, &errs)
	}
	for line := range strings.Lines(errs.String()) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("the page complains: %s", line)
		}
	}
	dom := out.String()
	if !strings.Contains(dom, "<title>A title ") || strings.Count(dom, "<article") != 6 {
		t.Errorf("the page is not as it was written:\n%.2000s", dom)
	}
}
