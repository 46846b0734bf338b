package shellparts

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what Seen reads. A line beyond them is unclear.
const (
	maxNested = 8       // lines within lines, as in sh -c 'sh -c "…"'
	maxSeen   = 1 << 20 // bytes of the commands that are returned
)

// Seen returns the commands that a line holds, at any depth, for rules that deny or ask:
// each as it would be without quotes, and again by its bare name if it was called by a
// path. Programs that run another command (env, timeout, xargs, sudo, sh -c and the like)
// are returned with each command that their arguments can name, so more is returned than
// runs, never less.
//
// unclear reports that the line can run commands that are not returned: it cannot be
// parsed, the name of a command is computed, or a shell reads its commands from a file, a
// pipe or a variable.
func Seen(line string, d Dialect) (commands []string, unclear bool) {
	s := &seer{}
	if d == Windows {
		s.plain(line)
	} else {
		s.line(line, 0)
	}
	slices.Sort(s.out)
	return slices.Compact(s.out), s.unclear
}

// seer collects the commands of a line.
type seer struct {
	out     []string
	size    int // of out, in bytes
	unclear bool
}

// plain reads a line of Windows' shells, of which only plain words are understood.
func (s *seer) plain(line string) {
	parts, ok := plainLine(line)
	if !ok {
		s.unclear = true
		return
	}
	words := strings.Fields(parts[0])
	name := strings.ToLower(strings.TrimSuffix(path.Base(strings.ReplaceAll(words[0], `\`, "/")), ".exe"))
	s.add(words)
	s.add(append([]string{name}, words[1:]...))
	switch name {
	case "cmd", "powershell", "pwsh", "call", "start", "sh", "bash", "wsl", "for", "forfiles":
		s.unclear = true
	}
}

func (s *seer) add(words []string) {
	if s.size > maxSeen {
		s.unclear = true
		return
	}
	command := strings.Join(words, " ")
	s.out, s.size = append(s.out, command), s.size+len(command)
}

// line reads a line as sh and as bash read it.
func (s *seer) line(line string, depth int) {
	if len(line) > maxLine || strings.ContainsRune(line, 0) || depth > maxNested {
		s.unclear = true
		return
	}
	read := false
	for _, lang := range []syntax.LangVariant{syntax.LangPOSIX, syntax.LangBash} {
		f, err := parse(line, lang)
		if err != nil {
			continue
		}
		read = true
		syntax.Walk(f, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
				s.command(wordsOf(line, c.Args), depth)
			}
			return true
		})
	}
	if !read {
		s.unclear = true
	}
}

// word is a word of a command. One that is not known is computed when the line runs, and
// has the text of the line.
type word struct {
	text  string
	known bool
}

func wordsOf(line string, args []*syntax.Word) []word {
	words := make([]word, len(args))
	for i, w := range args {
		words[i] = word{unquoted(line, w), known(w)}
	}
	return words
}

// command adds a command, and what its arguments run.
func (s *seer) command(words []word, depth int) {
	if !words[0].known {
		s.unclear = true
		return
	}
	name := s.named(words)
	switch args := words[1:]; kindOf(name) {
	case wrapper:
		s.wrapped(name, args, depth)
	case reader:
		s.unclear = true
	default:
		s.script(name, args, depth)
	}
}

// named adds a command by the name it is called by and by its bare name, and returns the
// bare name.
func (s *seer) named(words []word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	s.add(texts)
	name := path.Base(texts[0])
	if name != texts[0] {
		texts[0] = name
		s.add(texts)
	}
	return name
}

// script reads the command lines that a shell and eval get as arguments.
func (s *seer) script(name string, args []word, depth int) {
	switch kindOf(name) {
	case shell:
		s.shell(args, depth)
	case evaluator:
		s.eval(args, depth)
	}
}

// kind is how a command's arguments are read.
type kind int

const (
	// plain is the entry of programs that, as far as is known, run none of their
	// arguments.
	plain kind = iota
	// shell takes a command line by its option -c, and reads one from standard input or a
	// file otherwise.
	shell
	// evaluator takes its arguments as a command line.
	evaluator
	// wrapper runs a command that its arguments name.
	wrapper
	// reader is a shell's builtin that reads commands from elsewhere, or changes what names
	// mean.
	reader
)

func kindOf(name string) kind {
	switch name {
	case ".", "source", "alias", "hash", "enable":
		return reader
	case "eval":
		return evaluator
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "rbash", "csh", "tcsh", "yash":
		return shell
	case "command", "builtin", "exec", "env", "nohup", "timeout", "xargs", "sudo", "doas", "su", "runuser", "time", "nice", "ionice",
		"stdbuf", "setsid", "setarch", "taskset", "chrt", "chroot", "unshare", "nsenter", "busybox", "toybox", "find", "watch", "script", "flock",
		"parallel", "strace", "ltrace", "gdb", "valgrind", "trap", "ssh", "entr", "systemd-run", "dbus-run-session", "caffeinate", "start-stop-daemon",
		"gtimeout", "gnice", "genv", "unbuffer", "rlwrap", "fakeroot", "firejail", "bwrap", "torsocks", "proxychains", "catchsegv", "linux32", "linux64":
		return wrapper
	}
	return plain
}

// shell reads the line that a shell gets by -c.
func (s *seer) shell(args []word, depth int) {
	for i, a := range args {
		switch {
		case !a.known:
			s.unclear = true
			return
		case a.text == "--version" || a.text == "--help":
			return
		case strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && strings.Contains(a.text, "c"):
			for _, line := range args[i+1:] {
				if !line.known {
					s.unclear = true
					return
				}
				if !strings.HasPrefix(line.text, "-") && !strings.HasPrefix(line.text, "+") {
					s.line(line.text, depth+1)
					return
				}
			}
		}
	}
	s.unclear = true // a script, or standard input
}

// eval reads its arguments as one line.
func (s *seer) eval(args []word, depth int) {
	texts := make([]string, len(args))
	for i, a := range args {
		if !a.known {
			s.unclear = true
			return
		}
		texts[i] = a.text
	}
	s.line(strings.Join(texts, " "), depth+1)
}

// wrapped reads the arguments of a program that runs a command. Where its options end
// depends on the program and its version, so a command is read from each of its words on,
// and a word with a space is read as a line, too.
func (s *seer) wrapped(name string, args []word, depth int) {
	s.unclear = s.unclear || computed(args) || fed(name, args)
	for i, a := range args {
		if !a.known || s.size > maxSeen {
			continue
		}
		inner := s.named(args[i:])
		switch kindOf(inner) {
		case wrapper:
			s.unclear = s.unclear || computed(args[i+1:]) // its arguments are read in this loop
		case reader:
			s.unclear = s.unclear || name == "command" || name == "builtin"
		default:
			s.script(inner, args[i+1:], depth)
		}
		if strings.ContainsAny(a.text, " \t\n;&|") && a.text != ";" {
			for _, line := range lineOf(a.text) {
				s.line(line, depth+1)
			}
		}
	}
}

// lineOf returns a word as the command line that it can be: as it is, and without the
// option that it is the value of, as in env --split-string='rm x' and su -c'rm x'.
func lineOf(text string) []string {
	lines := []string{text}
	if !strings.HasPrefix(text, "-") || len(text) < 3 {
		return lines
	}
	if _, value, ok := strings.Cut(text, "="); ok {
		lines = append(lines, value)
	}
	return append(lines, text[2:])
}

// fed reports whether the name of the command that a program runs can come from its input:
// xargs and parallel put what they read in place of {}, or at the end, and find the names
// of files.
func fed(name string, args []word) bool {
	switch name {
	case "find":
		for i, a := range args {
			if strings.HasPrefix(a.text, "-exec") || strings.HasPrefix(a.text, "-ok") {
				if command, rest := operand(args[i+1:], "{}"); !rest || strings.Contains(command, "{}") {
					return true
				}
			}
		}
		return false
	case "xargs", "parallel":
		mark := replaced(args)
		command, found := operand(args, mark)
		if !found { // xargs runs echo where it is given no command at all
			return name == "parallel" || slices.ContainsFunc(args, func(a word) bool { return kindOf(path.Base(a.text)) == wrapper })
		}
		return strings.Contains(command, mark)
	}
	return false
}

// replaced returns the text that xargs and parallel replace by their input.
func replaced(args []word) string {
	for i, a := range args {
		switch value, ok := strings.CutPrefix(a.text, "--replace="); {
		case ok && value != "":
			return value
		case a.text == "-I" && i+1 < len(args):
			return args[i+1].text
		case (strings.HasPrefix(a.text, "-I") || strings.HasPrefix(a.text, "-i")) && len(a.text) > 2:
			return a.text[2:]
		}
	}
	return "{}"
}

// operand returns the first word that can name a command: no option, assignment, number or
// wrapper, and not the value of -I. found is false where there is none.
func operand(args []word, mark string) (command string, found bool) {
	for i, a := range args {
		isMark := a.text == mark && i > 0 && args[i-1].text == "-I"
		plainWord := !strings.HasPrefix(a.text, "-") && !strings.Contains(a.text, "=") && strings.Trim(a.text, "0123456789.smhd") != ""
		if !isMark && plainWord && kindOf(path.Base(a.text)) != wrapper {
			return a.text, true
		}
	}
	return "", false
}

// computed reports whether the name of the command that a wrapper runs can be a word that
// is computed. It is the first word that is neither an option, nor the value of one, nor an
// assignment or a number; which options take a value is not known here.
func computed(args []word) bool {
	value := false // whether the word may be the value of an option
	for _, a := range args {
		switch {
		case !a.known:
			return true
		case strings.HasPrefix(a.text, "-"):
			value = true
		case strings.Contains(a.text, "=") || strings.Trim(a.text, "0123456789.smhd") == "":
		case value:
			value = false
		default:
			return false
		}
	}
	return false
}

// known reports whether a word is the same whenever the line runs: it holds no expansion,
// and nothing that a shell replaces with names of files or splits at braces.
func known(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if expands(p.Value) {
				return false
			}
		case *syntax.SglQuoted:
			if p.Dollar && strings.Contains(p.Value, `\`) {
				return false
			}
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				if _, ok := q.(*syntax.Lit); !ok {
					return false
				}
			}
		default:
			return false
		}
	}
	return true
}

// expands reports whether a shell makes something else of a literal: a pattern of names,
// or alternatives in braces. `[` alone is a command, and `{}` an argument of find.
func expands(lit string) bool {
	lit = unescapedOnly(lit)
	if strings.ContainsAny(lit, "*?") {
		return true
	}
	if open := strings.IndexByte(lit, '['); open >= 0 && strings.IndexByte(lit[open:], ']') > 0 {
		return true
	}
	open := strings.IndexByte(lit, '{')
	return open >= 0 && (strings.Contains(lit[open:], ",") || strings.Contains(lit[open:], ".."))
}

// unescapedOnly returns a literal without its escaped characters.
func unescapedOnly(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// unquoted returns a word without its quotes; what the shell would expand is kept.
func unquoted(line string, w *syntax.Word) string {
	var b strings.Builder
	add := func(parts []syntax.WordPart, quoted bool) {
		for _, p := range parts {
			switch p := p.(type) {
			case *syntax.Lit:
				b.WriteString(unescaped(p.Value, quoted))
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			default:
				b.WriteString(line[p.Pos().Offset():p.End().Offset()])
			}
		}
	}
	for _, p := range w.Parts {
		if q, ok := p.(*syntax.DblQuoted); ok {
			add(q.Parts, true)
			continue
		}
		add([]syntax.WordPart{p}, false)
	}
	return b.String()
}

// unescaped returns a literal without the backslashes that the shell removes.
func unescaped(s string, quoted bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
