package chat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/term/live"
	"github.com/fettle-cli/fettle/commands/workspace"
	"github.com/fettle-cli/fettle/internal/consent"
)

const (
	mark     = "› "
	markNext = "  "
	// queueRows is how much of what waits is shown.
	queueRows = 3
)

// draw shows the rows below the transcript as they are now.
func (p *page) draw(now bool) {
	width, height := p.size()
	if !p.busy { // while a job runs, what follows is its own
		p.foot, p.dir, p.held = p.footer(width), p.folder(), p.heldMode()
	}
	d := drawing{style: p.in.Streams.Out.Style(), width: width, height: height}
	d.add("")
	if p.busy && p.asking == nil {
		d.add(d.style.Dim(p.statusLine(width)))
	}
	for i, m := range p.queue {
		if i == queueRows {
			d.add(d.style.Dim(fmt.Sprintf("  … and %d more", len(p.queue)-queueRows)))
			break
		}
		d.add(d.style.Dim(term.CutEnd("  next: "+show.OneLine(m.shown), width-1)))
	}
	if p.asking != nil {
		p.drawQuestion(&d)
	} else {
		p.drawLine(&d)
	}
	p.screen.Show(d.rows, now || !p.busy)
}

// drawing gathers rows.
type drawing struct {
	style         term.Style
	width, height int
	rows          live.Rows
}

func (d *drawing) add(lines ...string) { d.rows.Lines = append(d.rows.Lines, lines...) }

// statusLine is what is going on, and for how long.
func (p *page) statusLine(width int) string {
	p.mu.Lock()
	text := p.status
	if text == "" {
		text = p.verb
	}
	p.mu.Unlock()
	if text == "" {
		text = "answering"
	}
	tail := ""
	if took := time.Since(p.began).Truncate(time.Second); took > 0 {
		tail = "  " + term.Duration(took)
	}
	if p.hint != "" {
		tail += " · " + p.hint
	} else if width >= 60 {
		tail += " · Ctrl-C stops"
	}
	return term.CutEnd("· "+term.CutEnd(show.OneLine(text), max(width-4-term.Cells(tail), 8))+tail, width-1)
}

// drawLine draws the line that is typed, and what stands below it.
func (p *page) drawLine(d *drawing) {
	prompt := live.Prompt{First: mark, Next: markNext}
	rows := p.line.Rows(prompt, d.width, max(d.height/2, 1))
	at := len(d.rows.Lines)
	d.rows.Row, d.rows.Col = at+rows.Row, rows.Col
	for i, line := range rows.Lines {
		if i == 0 && strings.HasPrefix(line, mark) {
			line = d.style.Cyan(mark) + line[len(mark):]
		}
		d.add(line)
	}
	switch {
	case p.find != nil:
		d.add(d.style.Dim(term.CutEnd(fmt.Sprintf("  search: %s · Ctrl-R older, Enter takes it, Esc leaves it", p.find.text), d.width-1)))
	case p.menu.open():
		d.add(p.menu.rows(d.style, d.width, max(min(d.height-len(d.rows.Lines)-2, menuRows), 1))...)
	case p.hint != "" && !p.busy:
		d.add(d.style.Yellow(term.CutEnd("  "+term.Clean(p.hint), d.width-1)))
	case p.looking != nil && p.looking.asked:
		d.add(d.style.Dim(term.CutEnd("  "+p.looking.waits(), d.width-1)))
	default:
		foot := p.foot
		if mode := p.modeLabel(p.held); mode != "" {
			foot += " · " + mode
		}
		d.add(d.style.Dim(term.CutEnd("  "+foot, d.width-1)))
	}
}

// footer says where one is.
func (p *page) footer(width int) string {
	parts := []string{term.CutMiddle(p.modelName(), max(width/3, 12))}
	if p.chat.Number > 0 {
		parts = append(parts, fmt.Sprintf("chat %d", p.chat.Number))
	}
	if agent := p.agentName(); agent != "" {
		parts = append(parts, agent)
	}
	if p.at != 0 {
		parts = append(parts, "instead of your last question")
	}
	if share := p.spent.share(); share != "" {
		parts = append(parts, share)
	}
	return strings.Join(parts, " · ")
}

// share is how full the model's context is, where both are known.
func (s *spending) share() string {
	if s.context == 0 || s.last == 0 {
		return ""
	}
	return fmt.Sprintf("context %d %%", min(100*s.last/int64(s.context), 100))
}

// drawQuestion draws what is asked, and how it can be answered.
func (p *page) drawQuestion(d *drawing) {
	a := p.asking
	room := max(d.height-len(d.rows.Lines)-6, 3)
	body := d.questionRows(a)
	if more := len(body) - room; more > 0 {
		a.cut = a.cut || len(a.choices) > 0
		body = append(body[:room-1], d.style.Dim(fmt.Sprintf("  … %s more: ? shows all of it", term.Count(more+1, "line", "lines"))))
	}
	d.add(body...)
	if a.why != nil {
		rows := a.why.line.Rows(live.Prompt{First: cmp.Or(a.why.first, "  why not: "), Next: markNext}, d.width, 3)
		d.rows.Row, d.rows.Col = len(d.rows.Lines)+rows.Row, rows.Col
		d.add(rows.Lines...)
		d.add(d.style.Dim(term.CutEnd(cmp.Or(a.why.hint, "  Enter says no with this reason, Esc goes back"), d.width-1)))
		return
	}
	if !a.armed {
		d.rows.Row = -1
		d.add(d.style.Dim("  …"))
		return
	}
	choices := choiceRows(a.withRule(d), d.width)
	d.add(choices...)
	last := choices[len(choices)-1]
	d.rows.Row, d.rows.Col = len(d.rows.Lines)-1, min(term.Cells(last)+1, d.width-1)
}

// questionRows are the rows of the question. If rows of the diff are cut, the question
// counts as one that leaves something out.
func (d *drawing) questionRows(a *asking) []string {
	var body []string
	for i, line := range a.text {
		for j, row := range strings.Split(line, "\n") {
			for k, part := range term.Chop(row, max(d.width-5, 10)) {
				switch {
				case i == 0 && j+k == 0 && a.head:
					body = append(body, d.style.Bold(part))
				case i == 0 && a.head:
					body = append(body, "    "+d.style.Bold(part))
				default:
					body = append(body, "  "+part)
				}
			}
		}
	}
	for _, line := range a.diff {
		whole := consent.Line(line)
		row := cutLine(whole, d.width-4)
		a.cut = a.cut || row != whole
		body = append(body, "  "+workspace.PatchLine(d.style, row))
	}
	return body
}

// ruleRows bounds a rule that is too long to stand in its choice.
const ruleRows = 4

// withRule is the choices with the rule that always makes: in its choice, or in
// rows above it where it is long. Of a rule that is longer still, details show
// the whole.
func (a *asking) withRule(d *drawing) []term.Choice {
	choices := slices.Clone(a.offered())
	i := slices.IndexFunc(choices, func(c term.Choice) bool { return c.Key == 'a' })
	switch {
	case a.rule == "" || i < 0:
	case term.Cells(a.rule)+18 < d.width:
		choices[i].Label += ": " + a.rule
	default:
		rows := term.Chop("always makes the rule "+a.rule, max(d.width-4, 10))
		if len(rows) > ruleRows && !a.seen {
			a.cut, choices = true, nil
			rows = append(rows[:ruleRows-1], "… ? shows all of the rule")
		}
		for _, row := range rows {
			d.add("  " + row)
		}
	}
	if choices == nil {
		return a.offered()
	}
	return choices
}

// choiceRows are the answers, as many in a row as fit.
func choiceRows(choices []term.Choice, width int) []string {
	rows := []string{" "}
	for _, c := range choices {
		part := " [" + string(c.Key) + "] " + term.CutMiddle(term.Clean(c.Label), max(width-8, 8))
		if last := len(rows) - 1; term.Cells(rows[last])+term.Cells(part) < width-1 || rows[last] == " " {
			rows[last] += part
			continue
		}
		rows = append(rows, " "+part)
	}
	return rows
}
