package main

import (
	"fmt"
	"os"
	"strings"
)

// allowed is one line of the list: an id, its module, and why it is borne.
type allowed struct{ id, module, reason string }

func readAllowFile(name string) ([]allowed, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the list of what is borne: %w", err)
	}
	list, err := parseAllow(string(data))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return list, nil
}

// parseAllow reads lines of "ID MODULE REASON…"; # begins a comment line.
func parseAllow(text string) ([]allowed, error) {
	var list []allowed
	seen := map[[2]string]bool{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 3 || !strings.HasPrefix(fields[0], "GO-") {
			return nil, fmt.Errorf("line %d: want GO-YEAR-NUMBER, the module and a reason", i+1)
		}
		a := allowed{fields[0], fields[1], strings.Join(fields[2:], " ")}
		if key := [2]string{a.id, a.module}; seen[key] {
			return nil, fmt.Errorf("line %d: %s of %s is listed twice", i+1, a.id, a.module)
		} else {
			seen[key] = true
		}
		list = append(list, a)
	}
	return list, nil
}
