package validate

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// blocked is something that a page's scripts can't do in its frame. The pattern
// is tried around its marks alone: pages hold whole libraries.
type blocked struct {
	marks   []string
	pattern *regexp.Regexp
	level   Level
	code    string
	msg     string
}

var scriptRules = sync.OnceValue(func() []blocked {
	rule := func(marks, pattern string, level Level, code, msg string) blocked {
		return blocked{strings.Fields(marks), regexp.MustCompile(pattern), level, code, msg}
	}
	const address = `["'` + "`" + `]\s*((?:https?:|wss?:|ftp:)?//[^"'` + "`" + `\s]+)`
	return []blocked{
		rule("fetch open sendBeacon WebSocket EventSource Worker importScripts import assign replace register addModule", `\b(?:fetch|open|sendBeacon|WebSocket|EventSource|Worker|SharedWorker|importScripts|import|assign|replace|register|addModule)\s*\(\s*(?:["'][A-Z]+["']\s*,\s*)?`+address,
			Error, CodeHTMLOutside, "a script reaches for %s; the page is shown without any network"),
		rule("from import", `\b(?:from|import)\s*`+address, Error, CodeHTMLOutside, "a script imports %s; the page is shown without any network"),
		rule("src href action location", `(?:\.\s*(?:src|href|action|srcset|location)|\blocation)\s*=\s*`+address, Error, CodeHTMLOutside, "a script leads to %s; the page is shown without any network"),
		rule("setAttribute", `\bsetAttribute\s*\(\s*["'](?:src|href|srcset|action)["']\s*,\s*`+address, Error, CodeHTMLOutside, "a script loads %s; the page is shown without any network"),
		rule("fetch XMLHttpRequest sendBeacon WebSocket EventSource RTCPeerConnection", `\bfetch\s*\(|\bXMLHttpRequest\b|\bsendBeacon\b|\bnew\s+(?:WebSocket|EventSource|RTCPeerConnection)\b`,
			Warning, CodeHTMLBlocked, "a script uses the network (%s), which the page doesn't have; its data is window.__TOOL_DATA__"),
		rule("import Worker serviceWorker", `\bimport\s*\(|(?m:^\s*import\b[^(;]*["'])|\bimportScripts\s*\(|\bnew\s+(?:Shared)?Worker\b|\bserviceWorker\b`,
			Warning, CodeHTMLBlocked, "a script loads another one (%s), and a page is shown without the files beside it"),
		rule("localStorage sessionStorage indexedDB cookie", `\b(?:localStorage|sessionStorage|indexedDB)\b|\bdocument\s*\.\s*cookie\b`,
			Warning, CodeHTMLBlocked, "a script keeps something in the browser (%s), which throws an error in an isolated frame"),
		rule("eval Function", `\beval\s*\(|\bnew\s+Function\s*\(`, Warning, CodeHTMLBlocked, "a script makes code out of text (%s), which the page may not"),
		rule("open alert confirm prompt", `\bwindow\s*\.\s*open\s*\(|(?:^|[^.\w$])(?:alert|confirm|prompt)\s*\(`, Warning, CodeHTMLBlocked, "a script opens a window or a dialog (%s), which nobody will see"),
		rule("top parent", `\b(?:window\.)?(?:top|parent)\s*\.\s*(?:document|location|frames)\b`, Warning, CodeHTMLBlocked, "a script reaches for the page around it (%s), which is another origin"),
	}
})

// maxScriptFinds bounds how often one rule speaks of one script.
const maxScriptFinds = 10

// script judges what a script does, as far as its text tells. Comments are
// taken out first; strings stay, since addresses are strings.
func (p *page) script(js string, at int) {
	js = withoutComments(js)
	if strings.HasPrefix(strings.TrimSpace(js), "{") && !strings.Contains(js, "(") {
		return // data
	}
	raw := []byte(js)
	claimed := map[int]bool{} // lines of which an error tells already
	for _, r := range scriptRules() {
		for n, m := range r.find(js, raw) {
			text := js[m.begin:m.end]
			if m.address != "" {
				text = m.address
			}
			line := strings.Count(js[:m.begin], "\n")
			if r.level == Warning && (claimed[line] || n > 0) {
				continue // one is enough to be told of a kind
			}
			claimed[line] = claimed[line] || r.level == Error
			p.say(at+offset(p.raw, at, m.begin), r.level, r.code, r.msg, show(strings.Trim(text, " \t\r\n;{},=(")))
		}
	}
}

// match is where a rule's pattern is found, and the address that it has, if it
// looks for one.
type match struct {
	begin, end int
	address    string
}

const (
	// maxScriptMarks bounds the places of one mark that are looked at in one
	// script; before and behind are how much is looked at beside one, in bytes.
	maxScriptMarks = 200
	before, behind = 20, 200
)

// find gives the places of a script, given twice, where the rule holds, in
// order.
func (r blocked) find(js string, raw []byte) []match {
	var out []match
	for _, mark := range r.marks {
		for _, at := range places(raw, []byte(mark), maxScriptMarks) {
			from := max(at-before, 0)
			m := r.pattern.FindStringSubmatchIndex(js[from:min(at+behind, len(js))])
			if m == nil || from+m[0] > at || at >= from+m[1] {
				continue
			}
			text := js[from+m[0] : from+m[1]]
			found := match{begin: from + m[0] + len(text) - len(strings.TrimLeft(text, " \t\r\n;{},=(")), end: from + m[1]}
			if len(m) > 2 && m[2] >= 0 {
				found.address = js[from+m[2] : from+m[3]]
			}
			out = append(out, found)
		}
	}
	slices.SortFunc(out, func(a, b match) int { return cmp.Compare(a.begin, b.begin) })
	out = slices.CompactFunc(out, func(a, b match) bool { return a.begin == b.begin })
	return out[:min(len(out), maxScriptFinds)]
}

// withoutComments blanks comments, so that places stay. An address has slashes
// too: what follows a colon or stands in quotes is none.
func withoutComments(js string) string {
	out := []byte(js)
	quote := byte(0)
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case quote != 0:
			switch {
			case c == '\\':
				i++
			case c == quote || c == '\n' && quote != '`':
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '/' && i+1 < len(out) && out[i+1] == '/' && (i == 0 || out[i-1] != ':' && out[i-1] != '\\'):
			for ; i < len(out) && out[i] != '\n'; i++ {
				out[i] = ' '
			}
		case c == '/' && i+1 < len(out) && out[i+1] == '*':
			for ; i < len(out); i++ {
				if out[i] == '*' && i+1 < len(out) && out[i+1] == '/' {
					out[i], out[i+1] = ' ', ' '
					i++
					break
				}
				if out[i] != '\n' {
					out[i] = ' '
				}
			}
		}
	}
	return string(out)
}
