package validate

import (
	"regexp"
	"strings"
	"sync"
)

// blocked is something that a page's scripts can't do in its frame.
type blocked struct {
	pattern *regexp.Regexp
	level   Level
	code    string
	msg     string
}

var scriptRules = sync.OnceValue(func() []blocked {
	rule := func(pattern string, level Level, code, msg string) blocked {
		return blocked{regexp.MustCompile(pattern), level, code, msg}
	}
	const address = `["'` + "`" + `]\s*((?:https?:|wss?:|ftp:)?//[^"'` + "`" + `\s]+)`
	return []blocked{
		rule(`\b(?:fetch|open|sendBeacon|WebSocket|EventSource|Worker|SharedWorker|importScripts|import|assign|replace|register|addModule)\s*\(\s*(?:["'][A-Z]+["']\s*,\s*)?`+address,
			Error, CodeHTMLOutside, "a script reaches for %s; the page is shown without any network"),
		rule(`\b(?:from|import)\s*`+address, Error, CodeHTMLOutside, "a script imports %s; the page is shown without any network"),
		rule(`(?:\.\s*(?:src|href|action|srcset|location)|\blocation)\s*=\s*`+address, Error, CodeHTMLOutside, "a script leads to %s; the page is shown without any network"),
		rule(`\bsetAttribute\s*\(\s*["'](?:src|href|srcset|action)["']\s*,\s*`+address, Error, CodeHTMLOutside, "a script loads %s; the page is shown without any network"),
		rule(`\bfetch\s*\(|\bXMLHttpRequest\b|\bsendBeacon\b|\bnew\s+(?:WebSocket|EventSource|RTCPeerConnection)\b`,
			Warning, CodeHTMLBlocked, "a script uses the network (%s), which the page doesn't have; its data is window.__TOOL_DATA__"),
		rule(`\bimport\s*\(|^\s*import\b[^(;]*["']|\bimportScripts\s*\(|\bnew\s+(?:Shared)?Worker\b|\bserviceWorker\b`,
			Warning, CodeHTMLBlocked, "a script loads another one (%s), and a page is shown without the files beside it"),
		rule(`\b(?:localStorage|sessionStorage|indexedDB)\b|\bdocument\s*\.\s*cookie\b`,
			Warning, CodeHTMLBlocked, "a script keeps something in the browser (%s), which throws an error in an isolated frame"),
		rule(`\beval\s*\(|\bnew\s+Function\s*\(`, Warning, CodeHTMLBlocked, "a script makes code out of text (%s), which the page may not"),
		rule(`\bwindow\s*\.\s*open\s*\(|(?:^|[^.\w$])(?:alert|confirm|prompt)\s*\(`, Warning, CodeHTMLBlocked, "a script opens a window or a dialog (%s), which nobody will see"),
		rule(`\b(?:window\.)?(?:top|parent)\s*\.\s*(?:document|location|frames)\b`, Warning, CodeHTMLBlocked, "a script reaches for the page around it (%s), which is another origin"),
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
	claimed := map[int]bool{} // lines of which an error tells already
	for _, r := range scriptRules() {
		for n, m := range r.pattern.FindAllStringSubmatchIndex(js, maxScriptFinds) {
			text := strings.TrimSpace(js[m[0]:m[1]])
			if len(m) > 2 && m[2] >= 0 {
				text = js[m[2]:m[3]]
			}
			text = strings.Trim(strings.TrimSuffix(text, "("), " ;{},=(")
			where := m[0] + len(js[m[0]:m[1]]) - len(strings.TrimLeft(js[m[0]:m[1]], " \t\r\n;{},=("))
			line := strings.Count(js[:where], "\n")
			if r.level == Warning && (claimed[line] || n > 0) {
				continue // one is enough to be told of a kind
			}
			claimed[line] = claimed[line] || r.level == Error
			p.say(at+offset(p.raw, at, where), r.level, r.code, r.msg, show(text))
		}
	}
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
