package transcript

import (
	"crypto/sha256"
	_ "embed" // page.css
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/provider"
)

//go:embed page.css
var pageCSS string

// HTML writes a chat as one page.
func HTML(w io.Writer, doc *chat.Document, o Options) error {
	p := &pageWriter{o: o, prose: newProse()}
	list := exchanges(doc)
	p.head(doc)
	p.contents(list)
	p.raw("<main>\n")
	for i := range list {
		p.message(&list[i])
	}
	p.raw("</main>\n<footer>Exported by fettle %s</footer>\n</body>\n</html>\n", esc(o.Version))
	_, err := io.WriteString(w, p.b.String())
	return err
}

type pageWriter struct {
	b     strings.Builder
	o     Options
	prose *prose
}

// raw writes markup; what is put into it is escaped by the caller.
func (p *pageWriter) raw(format string, args ...any) { fmt.Fprintf(&p.b, format, args...) }

// esc makes a text of one line harmless in markup and in attributes.
func esc(s string) string { return html.EscapeString(term.Clean(s)) }

// block is esc for a text of several lines.
func block(s string) string { return html.EscapeString(term.CleanText(s)) }

// policy allows the page its own style sheet and its own images; nothing else
// could be loaded, run, sent or framed.
func policy() string {
	sum := sha256.Sum256([]byte(pageCSS))
	return "default-src 'none'; img-src data:; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'"
}

func (p *pageWriter) head(doc *chat.Document) {
	p.raw(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>%s</title>
<style>`, policy(), esc(doc.Chat.Title))
	p.b.WriteString(pageCSS)
	p.raw("</style>\n</head>\n<body>\n<header class=\"top\">\n<h1 dir=\"auto\">%s</h1>\n<p class=\"facts\">", esc(doc.Chat.Title))
	for i, fact := range facts(doc) {
		if i > 0 {
			p.raw(" · ")
		}
		p.raw("<span>%s</span>", esc(fact))
	}
	p.raw("</p>\n")
	for _, r := range remarks(doc, p.o) {
		p.raw("<p class=\"facts\">%s</p>\n", esc(r))
	}
	if doc.Chat.System != "" {
		p.details("", "System prompt", "", "<pre dir=\"auto\" tabindex=\"0\">"+block(doc.Chat.System)+"</pre>")
	}
	p.raw("</header>\n")
}

// fewQuestions need no list of contents.
const fewQuestions = 3

func (p *pageWriter) contents(list []exchange) {
	questions := slices.DeleteFunc(slices.Clone(list), func(x exchange) bool { return !x.asked() })
	if len(questions) < fewQuestions {
		return
	}
	p.raw("<nav aria-label=\"Questions\">\n<details>\n<summary>%s</summary>\n<ol>\n", esc(term.Count(len(questions), "question", "questions")))
	for _, x := range questions {
		text := term.CutEnd(term.Clean(x.Text()), maxArgument)
		if text == "" {
			text = "(a file or an image)"
		}
		p.raw("<li><a href=\"#m%d\" dir=\"auto\">%s</a></li>\n", x.number, html.EscapeString(text))
	}
	p.raw("</ol>\n</details>\n</nav>\n")
}

func (p *pageWriter) message(x *exchange) {
	class := "answer"
	if x.asked() {
		class = "question"
	}
	p.raw("<article class=\"%s\" id=\"m%d\" aria-labelledby=\"w%d\">\n<h2 id=\"w%d\">%s", class, x.number, x.number, x.number, esc(x.who()))
	if x.asked() {
		p.raw(" <time datetime=\"%s\">%s</time>", x.CreatedAt.UTC().Format("2006-01-02T15:04:05Z"), stamp(x.CreatedAt))
	}
	p.raw("</h2>\n")
	for i := range x.Parts {
		p.part(x, &x.Parts[i])
	}
	for i := range x.apps {
		p.call(appCall(&x.apps[i]), x.apps[i].Outcome())
	}
	for _, note := range x.Notes {
		p.raw("<p class=\"note\">Note: %s</p>\n", esc(note))
	}
	if end := x.ending(); end != "" {
		p.raw("<p class=\"end\">%s</p>\n", esc(end))
	}
	p.raw("</article>\n")
	if text := x.summed(); text != "" {
		p.details("summed", text, "", "<div class=\"typed\" dir=\"auto\">"+block(x.Summary.Text)+"</div>")
	}
}

func (p *pageWriter) part(x *exchange, part *provider.Part) {
	switch part.Kind {
	case provider.TextPart:
		switch {
		case strings.TrimSpace(part.Text) == "":
		case x.asked():
			p.raw("<div class=\"typed\" dir=\"auto\">%s</div>\n", block(strings.TrimRight(part.Text, "\n")))
		default:
			p.raw("<div class=\"prose\">\n%s</div>\n", p.prose.render(part.Text))
		}
	case provider.ReasoningPart:
		if part.Text != "" {
			p.details("thought", "Thought", "", "<div class=\"typed\" dir=\"auto\">"+block(part.Text)+"</div>")
		}
	case provider.AgentStartPart:
		p.raw("<p class=\"note\">▶ %s agent activated</p>\n", esc(part.Agent))
	case provider.AgentTextPart:
		p.details("thought", part.Agent+" said", "", "<div class=\"typed\" dir=\"auto\">"+block(part.Text)+"</div>")
	case provider.HandoffPart:
		p.raw("<p class=\"note\">⇒ handing off to %s</p>\n", esc(part.Name))
	case provider.FilePart:
		p.details("file", "File "+part.Name, term.Size(int64(len(part.Text))), "<pre dir=\"auto\" tabindex=\"0\">"+block(part.Text)+"</pre>")
	case provider.ImagePart:
		p.image(part)
	case provider.PayloadPart:
		if part.Payload != nil {
			p.details("file", payloadName(part.Payload), "", "<pre tabindex=\"0\">"+html.EscapeString(indented(part.Payload.Data))+"</pre>")
			if text := x.verdict(part.Payload); text != "" {
				p.raw("<p class=\"note\">%s</p>\n", esc(text))
			}
		}
	case provider.ToolCallPart:
		p.call(part.Call, x.results[part.Call.ID])
	}
}

// details is something to open; body is markup.
func (p *pageWriter) details(class, summary, more, body string) {
	p.raw("<details class=\"%s\">\n<summary>%s", strings.TrimSpace("aside "+class), esc(summary))
	if more != "" {
		p.raw(" <span class=\"more\">%s</span>", esc(more))
	}
	p.raw("</summary>\n%s\n</details>\n", body)
}

// shown tells whether an image is of a kind that browsers draw and that runs
// nothing.
func shown(mime string) bool {
	return slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, mime)
}

// image shows an image, or says that there is one.
func (p *pageWriter) image(part *provider.Part) {
	name := part.Name
	if name == "" {
		name = "image"
	}
	if !shown(part.MIME) {
		p.raw("<p class=\"note\">Image %s, %s, of a kind that is not shown</p>\n", esc(name), term.Size(int64(len(part.Data))))
		return
	}
	p.raw("<figure><img alt=\"%s\" src=\"data:%s;base64,", esc(name), part.MIME)
	p.b.WriteString(base64.StdEncoding.EncodeToString(part.Data))
	p.raw("\"><figcaption>%s</figcaption></figure>\n", esc(name))
}

func (p *pageWriter) call(c *provider.ToolCall, res *provider.ToolResult) {
	sign, word := callMark(res)
	class := ""
	if res != nil && res.Error {
		class = " failed"
	}
	p.raw("<details class=\"aside call%s\">\n<summary><span class=\"sign\" aria-hidden=\"true\">%s</span> <code>%s</code>", class, sign, esc(c.Name))
	if arg := p.o.argument(c.Args); arg != "" {
		p.raw(" <span class=\"more\" dir=\"auto\">%s</span>", html.EscapeString(arg))
	}
	p.raw(" <span class=\"word\">%s</span></summary>\n<h3>Arguments</h3>\n<pre tabindex=\"0\">%s</pre>\n", word, html.EscapeString(indented(c.Args)))
	if res != nil {
		p.raw("<h3>Result</h3>\n<pre dir=\"auto\" tabindex=\"0\">%s</pre>\n", block(res.Text))
	}
	p.raw("</details>\n")
}
