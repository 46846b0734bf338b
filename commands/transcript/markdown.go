package transcript

import (
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	gmtext "github.com/yuin/goldmark/text"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/provider"
)

// Markdown writes a chat as Markdown.
func Markdown(w io.Writer, doc *chat.Document, o Options) error {
	m := &mdWriter{o: o, prose: newProse()}
	m.line("# " + mdLine(doc.Chat.Title))
	m.line(mdLine(strings.Join(facts(doc), " · ")))
	for _, r := range remarks(doc, o) {
		m.line("*" + r + "*")
	}
	if doc.Chat.System != "" {
		m.details("System prompt", fence(term.CleanText(doc.Chat.System), "text"))
	}
	for _, x := range exchanges(doc) {
		m.message(&x)
	}
	_, err := io.WriteString(w, m.b.String())
	return err
}

type mdWriter struct {
	b     strings.Builder
	o     Options
	prose *prose // a parser, to see where texts end
}

// line writes a block and the empty line that ends it.
func (m *mdWriter) line(text string) {
	if m.b.Len() > 0 {
		m.b.WriteByte('\n')
	}
	m.b.WriteString(strings.TrimRight(text, "\n") + "\n")
}

func (m *mdWriter) details(summary, body string) {
	m.line("<details>\n<summary>" + html.EscapeString(summary) + "</summary>")
	m.line(body)
	m.line("</details>")
}

func (m *mdWriter) message(x *exchange) {
	title := "## " + mdLine(x.who())
	if x.asked() {
		title += " · " + stamp(x.CreatedAt)
	}
	m.line(title)
	for i := range x.Parts {
		m.part(x, &x.Parts[i])
	}
	for i := range x.apps {
		m.call(appCall(&x.apps[i]), x.apps[i].Outcome())
	}
	for _, note := range x.Notes {
		m.line("*Note: " + mdLine(note) + "*")
	}
	if end := x.ending(); end != "" {
		m.line("**" + mdLine(end) + "**")
	}
	if text := x.summed(); text != "" {
		m.details(text, quoted(m.contained(term.CleanText(x.Summary.Text))))
	}
}

func (m *mdWriter) part(x *exchange, p *provider.Part) {
	switch p.Kind {
	case provider.TextPart:
		if text := m.contained(term.CleanText(p.Text)); strings.TrimSpace(text) != "" {
			m.line(text)
		}
	case provider.ReasoningPart:
		if p.Text != "" {
			m.details("Thought", quoted(m.contained(term.CleanText(p.Text))))
		}
	case provider.AgentStartPart:
		m.line("*▶ " + mdLine(p.Agent) + " agent activated*")
	case provider.AgentTextPart:
		m.details(term.Clean(p.Agent)+" said", quoted(m.contained(term.CleanText(p.Text))))
	case provider.HandoffPart:
		m.line("*⇒ handing off to " + mdLine(p.Name) + "*")
	case provider.FilePart:
		m.details("File "+term.Clean(p.Name)+", "+term.Size(int64(len(p.Text))), fence(term.CleanText(p.Text), "text"))
	case provider.ImagePart:
		where := "the JSON export has it"
		if shown(p.MIME) {
			where = "the JSON and the HTML export have it"
		}
		m.line(fmt.Sprintf("*Image %s, %s; %s*", mdLine(p.Name), term.Size(int64(len(p.Data))), where))
	case provider.PayloadPart:
		if p.Payload != nil {
			m.details(payloadName(p.Payload), fence(indented(p.Payload.Data), "json"))
			if text := x.verdict(p.Payload); text != "" {
				m.line("*" + mdLine(text) + "*")
			}
		}
	case provider.ToolCallPart:
		m.call(p.Call, x.results[p.Call.ID])
	}
}

func (m *mdWriter) call(c *provider.ToolCall, res *provider.ToolResult) {
	sign, word := callMark(res)
	summary := strings.TrimSpace(sign + " " + term.Clean(c.Name) + " " + m.o.argument(c.Args))
	if res != nil && res.Undone {
		summary += " (" + word + ")"
	}
	body := fence(indented(c.Args), "json")
	if res != nil {
		body += "\n\n" + fence(term.CleanText(res.Text), "text")
	}
	m.details(summary, body)
}

// mdLine is a text of one line with nothing in it that Markdown would act on.
func mdLine(s string) string {
	return strings.NewReplacer(
		`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, "#", `\#`, "|", `\|`, "~", `\~`, "&", `\&`, "!", `\!`,
	).Replace(term.Clean(s))
}

// fence puts a text into a code block that nothing in it can end.
func fence(text, lang string) string {
	longest := 2
	for _, run := range regexp.MustCompile("`+").FindAllString(text, -1) {
		longest = max(longest, len(run))
	}
	mark := strings.Repeat("`", longest+1)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return mark + lang + "\n" + text + mark
}

func quoted(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("> " + line)
	}
	return b.String()
}

// contained is a Markdown text that ends where it ends: a fence that it leaves
// open is closed, and what would begin a block of HTML outside of code is text.
// Whether that was enough is what a parser says; where it wasn't, the text
// stands as it is.
func (m *mdWriter) contained(text string) string {
	if len(text) > maxProse || tangled(text) {
		return fence(text, "text")
	}
	out, open := escapeBlocks(text)
	for _, end := range []string{"", open} {
		if try := strings.TrimRight(out, "\n") + "\n" + end; m.ends(try) {
			return try
		}
	}
	return fence(text, "text")
}

// lastWords is a heading that no text holds.
const lastWords = "The end of the message 0b9f3a"

// ends tells whether what follows a text is outside of it.
func (m *mdWriter) ends(text string) bool {
	source := []byte(text + "\n\n## " + lastWords + "\n")
	last, ok := m.prose.md.Parser().Parse(gmtext.NewReader(source)).LastChild().(*ast.Heading)
	return ok && last.Level == 2 && string(plainText(source, last)) == lastWords
}

// escapeBlocks escapes tags outside of code, and gives the fence that is open
// at the end, if there is one. Fences in lists and quotes count too.
func escapeBlocks(text string) (out, open string) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := line[len(inner(line)):]
		mark := fenceMark(body)
		switch {
		case open != "":
			if mark != "" && mark[0] == open[0] && len(mark) >= len(open) && strings.TrimSpace(body[len(mark):]) == "" {
				open = ""
			}
		case mark != "" && !(mark[0] == '`' && strings.Contains(body[len(mark):], "`")):
			open = mark
		default:
			line = escapeTags(line)
		}
		b.WriteString(line)
	}
	return b.String(), open
}

// inner is what a line begins with before its own content: blanks, and the
// marks of quotes and lists.
func inner(line string) string {
	return regexp.MustCompile(`^[\t >]*(?:(?:[-*+]|\d{1,9}[.)])[\t ]+)*[\t >]*`).FindString(line)
}

// fenceMark is the fence that a line begins with, or "".
func fenceMark(body string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(body) - len(strings.TrimLeft(body, c)); n >= 3 {
			return body[:n]
		}
	}
	return ""
}

// escapeTags escapes what begins a tag, a comment or the like outside of code
// spans, in a line that is no code.
func escapeTags(line string) string {
	if !strings.Contains(line, "<") {
		return line
	}
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		if line[i] == '`' { // a code span shows what it holds, as far as it ends in this line
			n := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
			if span := spanEnd(line[i+n:], n); span >= 0 {
				b.WriteString(line[i : i+n+span])
				i += n + span - 1
				continue
			}
			b.WriteString(line[i : i+n])
			i += n - 1
			continue
		}
		if line[i] == '<' && opensTag(line[i:]) {
			b.WriteByte('\\')
		}
		b.WriteByte(line[i])
	}
	return b.String()
}

// spanEnd is how far a code span of n backticks goes on, its end included; -1
// where it doesn't end.
func spanEnd(rest string, n int) int {
	for at := 0; at < len(rest); {
		i := strings.IndexByte(rest[at:], '`')
		if i < 0 {
			return -1
		}
		at += i
		run := len(rest[at:]) - len(strings.TrimLeft(rest[at:], "`"))
		at += run
		if run == n {
			return at
		}
	}
	return -1
}

// opensTag tells whether a "<" begins a tag, a comment or the like; an address
// in angle brackets is none.
func opensTag(s string) bool {
	for _, scheme := range []string{"<https://", "<http://", "<mailto:"} {
		if strings.HasPrefix(s, scheme) {
			return false
		}
	}
	return len(s) > 1 && (strings.IndexByte("/!?", s[1]) >= 0 || 'a' <= s[1]|0x20 && s[1]|0x20 <= 'z')
}
