package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// verdict sorts a report's findings by what follows from them.
type verdict struct {
	scanned   string
	fails     []finding
	borne     []string // one line each
	toolchain []finding
	unused    []allowed
}

// judge holds the findings against the list.
func judge(rep report, list []allowed) verdict {
	v := verdict{scanned: rep.scanned}
	reasons := map[[2]string]string{}
	for _, a := range list {
		reasons[[2]string{a.id, a.module}] = a.reason
	}
	used := map[[2]string]bool{}
	for _, f := range rep.findings {
		key := [2]string{f.id, f.module}
		reason, ok := reasons[key]
		switch {
		case ok:
			used[key] = true
			v.borne = append(v.borne, fmt.Sprintf("%s %s: %s", f.id, f.module, reason))
		case f.module == stdlib && f.fixed != "":
			v.toolchain = append(v.toolchain, f)
		default:
			v.fails = append(v.fails, f)
		}
	}
	for _, a := range list {
		if !used[[2]string{a.id, a.module}] {
			v.unused = append(v.unused, a)
		}
	}
	return v
}

// print tells people, and whether the report passes.
func (v verdict) print(out io.Writer) (bool, error) {
	var b strings.Builder
	fmt.Fprintln(&b, v.scanned)
	for _, f := range v.fails {
		fmt.Fprintf(&b, "fails      %s\n", f)
	}
	for _, f := range v.toolchain {
		fmt.Fprintf(&b, "toolchain  %s\n", f)
	}
	for _, line := range v.borne {
		fmt.Fprintf(&b, "allowed    %s\n", line)
	}
	for _, a := range v.unused {
		fmt.Fprintf(&b, "unused     %s %s is allowed and wasn't found\n", a.id, a.module)
	}
	fmt.Fprintf(&b, "%d that fail, %d that a newer Go mends, %d allowed\n", len(v.fails), len(v.toolchain), len(v.borne))
	_, err := io.WriteString(out, plain(b.String()))
	return len(v.fails) == 0, err
}

// String is one line: id, module, what can be reached, what mends it.
func (f finding) String() string {
	fixed := "no version mends it yet"
	if f.fixed != "" {
		fixed = "mended in " + f.fixed
	}
	return fmt.Sprintf("%s %s %s, %s, %s: %s", f.id, f.module, f.version, f.symbol, fixed, strings.Join(strings.Fields(f.summary), " "))
}

// plain drops what could drive a terminal; the list is other people's text.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, s)
}
