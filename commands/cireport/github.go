package cireport

import (
	"fmt"
	"io"
	"strings"
)

// GitHub writes findings as workflow commands, one on a line, which GitHub shows
// beside the files: ::error file=…,line=…::message.
func GitHub(w io.Writer, findings []Finding) error {
	for _, f := range findings {
		command := f.Level
		if f.Level == Note {
			command = "notice"
		}
		var props []string
		if f.Path != "" {
			props = append(props, "file="+property(f.Path))
			if f.Line > 0 {
				props = append(props, fmt.Sprintf("line=%d", f.Line))
			}
			if f.Line > 0 && f.Column > 0 {
				props = append(props, fmt.Sprintf("col=%d", f.Column))
			}
		}
		if f.Code != "" {
			props = append(props, "title="+property(f.Code))
		}
		line := "::" + command
		if len(props) > 0 {
			line += " " + strings.Join(props, ",")
		}
		if _, err := io.WriteString(w, line+"::"+data(f.Message)+"\n"); err != nil {
			return fmt.Errorf("write annotations: %w", err)
		}
	}
	return nil
}

// data is a message of a workflow command, as its runner escapes it. A log is
// shown on terminals, so other control characters don't stay.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\n", "%0A").Replace(plain(s))
}

// property is the value of a property, in which two characters more mean
// something.
func property(s string) string {
	return strings.NewReplacer("%", "%25", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(plain(s))
}
