package readable

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func convert(t *testing.T, contentType, body string) Output {
	t.Helper()
	out, err := Convert(Input{ContentType: contentType, URL: "https://example.com/a/b", Body: []byte(body)})
	if err != nil {
		t.Fatalf("%s %.80q: %v", contentType, body, err)
	}
	return out
}

func TestHTML(t *testing.T) {
	t.Parallel()
	const long = "A sentence that is long enough to count as what the page is about, and then some more of it."
	for name, c := range map[string]struct{ page, title, want, not string }{
		"headings and links":        {`<title> T  x</title><h1>Head</h1><p>Go <a href="/x?y=1">there</a></p>`, "T x", "# Head\n\nGo [there](https://example.com/x?y=1)", ""},
		"the main part":             {`<nav>Menu</nav><main><p>` + long + `</p></main><footer>Foot</footer>`, "", long, "Menu"},
		"the only article":          {`<div>Menu</div><article><p>` + long + `</p></article>`, "", long, "Menu"},
		"a main part that is empty": {`<main></main><p>` + long + `</p>`, "", long, ""},
		"without a main part":       {`<header>Top</header><nav>Menu</nav><p>` + long + `</p><footer>Foot</footer>`, "", long, "Menu"},
		"only navigation":           {`<nav><a href="/a">A</a> <a href="/b">B</a></nav>`, "", "[A](https://example.com/a)", ""},
		"a table":                   {`<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>`, "", "| a | b |", "ab12"},
		"code with its language":    {`<pre><code class="language-go">x := 1<br>y</code></pre>`, "", "```go\nx := 1\ny\n```", ""},
		"scripts and styles":        {`<p>Seen</p><script>alert(1)</script><style>p{}</style><noscript>turn on</noscript>`, "", "Seen", "alert"},
		"text that nobody sees":     {`<p>Seen</p><p style="display: none">secret orders</p><p hidden>more</p><!-- orders --><p aria-hidden="true">x1</p>`, "", "Seen", "orders"},
		"characters nobody sees":    {"<p>a\u202eb\u200bc\U000E0041d\x1b[31m</p>", "", "abcd[31m", "\u202e"},
		"the title of others":       {`<meta property="og:title" content="Other"><p>x</p>`, "Other", "x", ""},
		"a title in a drawing":      {`<title>Page</title><svg><title>Icon</title></svg><p>x</p>`, "Page", "x", "Icon"},
		"an image in the page":      {`<p>x<img src="data:image/png;base64,AAAA"></p>`, "", "x", "base64"},
		"nothing":                   {``, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := convert(t, "text/html", c.page)
			if out.Title != c.title || !strings.Contains(strings.ReplaceAll(out.Text, `\[`, "["), c.want) || c.not != "" && strings.Contains(out.Text, c.not) || out.Format != Markdown {
				t.Errorf("%q %q", out.Title, out.Text)
			}
			if c.want == "" && out.Note == "" {
				t.Error("nothing is said of a page without text")
			}
		})
	}
}

func TestTextsAndCharsets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ contentType, body, want, format string }{
		"text":                   {"text/plain; charset=utf-8", "a\r\nb\n\n\n\nc", "a\nb\n\nc", Text},
		"JSON as it is":          {"application/json", `{"a":"<b>"}`, `{"a":"<b>"}`, JSON},
		"a JSON dialect":         {"application/ld+json", `{}`, `{}`, JSON},
		"Latin-1 by the header":  {"text/plain; charset=iso-8859-1", "caf\xe9", "café", Text},
		"Shift-JIS":              {"text/html; charset=Shift_JIS", "<p>\x93\xfa\x96{</p>", "日本", Markdown},
		"by the page's own word": {"text/html", "<meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2</p>", "Привет", Markdown},
		"UTF-16":                 {"text/plain; charset=utf-16le", "h\x00i\x00", "hi", Text},
		"a byte-order mark":      {"text/plain", "\xef\xbb\xbfhi", "hi", Text},
		"a charset nobody knows": {"text/plain; charset=klingon", "caf\xe9", "café", Text},
		"no type, a page":        {"", "<!DOCTYPE html><p>x</p>", "x", Markdown},
		"no type, text":          {"", "just text", "just text", Text},
		"source code":            {"application/javascript", "let x", "let x", Text},
		"a broken type":          {"text/plain; ;;=", "x", "x", Text},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if out := convert(t, c.contentType, c.body); out.Text != c.want || out.Format != c.format {
				t.Errorf("%q %s, want %q %s", out.Text, out.Format, c.want, c.format)
			}
		})
	}
}

func TestWhatCantBeRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ contentType, body, want string }{
		"an image":               {"image/png", "\x89PNG", "it is an image (image/png)"},
		"an SVG image":           {"image/svg+xml", "<svg/>", ""},
		"sound":                  {"audio/mpeg", "x", "it is audio"},
		"bytes":                  {"application/octet-stream", "text?", "application/octet-stream"},
		"an archive":             {"application/zip", "PK", "application/zip"},
		"no type, an image":      {"", "\x89PNG\x0d\x0a\x1a\x0a", "it is an image"},
		"text that is bytes":     {"text/plain", "a\x00b", "it says that it is text and isn't"},
		"a type that is hostile": {"x\x1b[31m/" + strings.Repeat("y", 1000), "x", "it is x"},
		"a broken PDF":           {"application/pdf", "%PDF-1.7\nnothing", "its PDF"},
		"a PDF that is none":     {"application/pdf", "<html>", "its PDF"},
		"deep nesting":           {"text/html", strings.Repeat("<div>", 100_000), "its HTML can't be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Convert(Input{ContentType: c.contentType, Body: []byte(c.body)})
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var own *Error
			if !errors.As(err, &own) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\x1b") || len(err.Error()) > 400 {
				t.Errorf("%v", err)
			}
		})
	}
	if err := Check("image/png"); err == nil {
		t.Error("an image is not refused by its header")
	}
	for _, ok := range []string{"", "text/html", "application/pdf", "application/octet-stream"} {
		if err := Check(ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
}

// simplePDF is a PDF with one page for each text; it has no compression.
func simplePDF(title string, pages ...string) []byte {
	var b bytes.Buffer
	var at []int
	object := func(text string) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(at), text)
	}
	b.WriteString("%PDF-1.4\n")
	var kids strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 5+2*i)
	}
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object(fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", len(pages), kids.String()))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
	object("<< /Title (" + title + ") >>")
	for i, text := range pages {
		stream := "BT /F1 12 Tf 72 720 Td (" + text + ") Tj ET"
		object(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>", 6+2*i))
		object(fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(stream), stream))
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, start)
	return b.Bytes()
}

func TestPDF(t *testing.T) {
	t.Parallel()
	out := convert(t, "application/pdf", string(simplePDF("A report", "Hello first", "Second page")))
	if out.Title != "A report" || out.Format != Text || !strings.Contains(out.Text, "[page 1 of 2]\nHello first") || !strings.Contains(out.Text, "[page 2 of 2]\nSecond page") {
		t.Errorf("%+v", out)
	}
	if out := convert(t, "application/octet-stream", string(simplePDF("", "Hi"))); !strings.Contains(out.Text, "Hi") {
		t.Errorf("%+v", out)
	}
	var own *Error
	if _, err := Convert(Input{ContentType: "application/pdf", Body: simplePDF("Empty", "")}); !errors.As(err, &own) || !strings.Contains(err.Error(), "no text") {
		t.Errorf("%v", err)
	}
}

// A request and its answer are the same as the work done here, and an answer
// is believed no more than what it is about.
func TestServe(t *testing.T) {
	t.Parallel()
	for _, in := range []Input{
		{ContentType: "text/html", URL: "https://example.com/", Body: []byte("<title>T</title><p>x\n<a href=y>z</a></p>")},
		{ContentType: "text/plain", Body: []byte("\n{\"a\":\n1}\n")},
		{ContentType: "image/png", Body: []byte("x")},
	} {
		wanted, wantedErr := Convert(in)
		r, err := Request(in)
		if err != nil {
			t.Fatal(err)
		}
		var w bytes.Buffer
		if err := Serve(r, &w); err != nil {
			t.Fatal(err)
		}
		got, gotErr := Answer(w.Bytes())
		if got != wanted || fmt.Sprint(gotErr) != fmt.Sprint(wantedErr) {
			t.Errorf("%+v %v, want %+v %v", got, gotErr, wanted, wantedErr)
		}
	}
	if err := Serve(strings.NewReader("nonsense"), io.Discard); err == nil {
		t.Error("nonsense was served")
	}
	for _, raw := range []string{"", "x", "[]", `{"text":5}`} {
		if out, err := Answer([]byte(raw)); err == nil {
			t.Errorf("%q is an answer: %+v", raw, out)
		}
	}
	out, err := Answer([]byte(`{"text":"a\u001b[31m\u202e","title":"x\ny","format":"exe"}`))
	if err != nil || out.Text != "a[31m" || out.Title != "x y" || out.Format != Text {
		t.Errorf("%+v %v", out, err)
	}
}

func FuzzHTML(f *testing.F) {
	for _, s := range []string{"<p>x</p>", "<table><tr><td>a<td>b", "<main><nav></main>", "<pre>a<br>b", "<a href='javascript:x'>y</a>", "<svg><title>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, page string) {
		out, err := Convert(Input{ContentType: "text/html", URL: "https://example.com/", Body: []byte(page)})
		var own *Error
		if err != nil && !errors.As(err, &own) {
			t.Error(err)
		}
		if strings.ContainsAny(out.Text, "\x1b\x00\u202e") {
			t.Errorf("%q", out.Text)
		}
	})
}
