package help

import (
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
)

// Topic is a help page that belongs to no command.
type Topic struct {
	Name  string // what `fettle help` takes
	About string // a line, as lists have it
	text  func() string
}

// Topics are the pages that belong to no command, by name.
func Topics() []Topic {
	return []Topic{
		{"environment", "the variables and settings that are read", environment},
		{"exit-codes", "what the exit status says", exitCodes},
		{"models", "how models are named, found and described", modelsPage},
		{"output", "the JSON that commands print, field by field", outputPage},
		{"pipelines", "recipes for scripts and pipes", pipelines},
		{"services", "how a tool lives on after its call, with a page", servicesPage},
	}
}

func findTopic(name string) (Topic, bool) {
	for _, t := range Topics() {
		if t.Name == name {
			return t, true
		}
	}
	return Topic{}, false
}

func topicList() string {
	var b strings.Builder
	b.WriteString("\ntopics, as in fettle help pipelines\n")
	for _, t := range Topics() {
		fmt.Fprintf(&b, "  %-12s %s\n", t.Name, t.About)
	}
	return b.String()
}

// exitCodes is the page that tells what each exit status means.
func exitCodes() string {
	var b strings.Builder
	b.WriteString("The exit status of every fettle command, and the error.code of the failure:\n\n")
	line := func(status any, code, meaning string) {
		fmt.Fprintf(&b, "  %4v  %-14s%s\n", status, code, meaning)
	}
	line(0, "", "answered, or done")
	last := -1
	for _, code := range fault.Codes() {
		var status any = code.Exit()
		if code.Exit() == last {
			status = ""
		}
		last = code.Exit()
		line(status, string(code), code.Meaning())
	}
	line(workbench.ExitClosedPipe, "", "the reader of a pipe went away; nothing is said")
	b.WriteString(`
A failure never exits 0. What came of an answer is printed also where it ends in
a failure. With --output json the failure is an object on standard error, whose
error.code names the kind: fettle help output has its fields.
`)
	return b.String()
}

// environment is the page that lists variables and settings.
func environment() string {
	const column = 24
	var b strings.Builder
	b.WriteString("Variables:\n\n")
	vars := append(config.Variables(),
		config.Variable{Name: "OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
			Meaning: "an OpenTelemetry receiver, such as http://127.0.0.1:4318, that is sent how long turns, models and tools take; no text of yours is"},
		config.Variable{Name: "OTEL_EXPORTER_OTLP_HEADERS, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES",
			Meaning: "what it is sent along"},
		config.Variable{Name: "OTEL_SDK_DISABLED", Meaning: "true: it is sent nothing"},
		config.Variable{Name: workbench.TraceParentEnv, Meaning: "the span of another program that turns are within"},
		config.Variable{Name: "PAGER", Meaning: "what chats show and usage go through where they are longer than the terminal; empty or cat is nothing (default less)"},
		config.Variable{Name: "TERM", Meaning: "dumb means a terminal that takes no colour and no status line"})
	for _, v := range vars {
		name := strings.Join(term.Wrap(v.Name, helpWidth), "\n  ")
		fmt.Fprintf(&b, "  %-*s%s\n", column, name, wrapAt(v.Name, v.Meaning, column))
	}
	b.WriteString("\nSettings of the configuration file:\n\n")
	for _, s := range config.Settings() {
		text := s.Meaning
		if s.Default != "" {
			text += " (default " + s.Default + ")"
		}
		fmt.Fprintf(&b, "  %-*s%s\n", column, s.Key, wrapAt(s.Key, text, column))
	}
	b.WriteString(`
Variables win over the file and flags over variables; allow, deny and ask have
no variable. The rest is read from files alone:

`)
	for _, m := range config.Maps() {
		fmt.Fprintf(&b, "  %s\n", m.Key)
		for _, line := range term.Wrap(m.Meaning, helpWidth-column) {
			fmt.Fprintf(&b, "  %*s%s\n", column, "", line)
		}
	}
	b.WriteString(`
A profile, profiles.NAME, holds any of these; --profile NAME, FETTLE_PROFILE or
the setting profile lays it over the rest of the files. A project's file,
.fettle/config.yaml, counts in its folder and below; fettle trust lets it do
more than hold data. fettle config list tells where each value comes from.
`)
	return b.String()
}

// pipelines is the page of recipes; a test runs each of them.
func pipelines() string {
	return `Recipes for scripts and pipes. Standard output has the answer alone, so it can
go anywhere.

What a command prints, and a question about it:
  git diff --staged | fettle ask "write a commit message"

The code of the answer, and nothing around it:
  fettle ask -x "a shell loop that counts files by type" > count.sh

Data that is checked against a schema, taken apart by jq:
  fettle ask --schema '{"type":"array"}' "name three birds" | jq -r '.[]'

The answer to one question in the next:
  fettle ask "draft a haiku" | fettle ask -c "make it rhyme"

A chat that a script goes on with, also beside others:
  chat=$(fettle ask -o json "plan a walk" | jq .chat)
  fettle ask --chat "$chat" "make it shorter"

Each word as it comes:
  fettle ask -o events "count" | jq -rj 'select(.type=="text_delta").text'

One question a file, four at a time:
  ls *.md | xargs -P 4 -I {} fettle ask --no-stdin -f {} "sum this up"

One question a line. Without --no-stdin the first would read them all:
  while read -r q; do fettle ask --no-stdin "$q"; done < questions.txt

Work on files where nobody can be asked: name what may run, and set bounds.
  fettle ask -w . --allow 'write_file(path=notes/**)' --timeout 5m "write notes"
  fettle ask -w . --approvals edits --timeout 5m "add missing doc comments"

A question under a name, with what it is about:
  git diff --staged | fettle ask -p review --var focus=naming

The models that call tools, for another program:
  fettle models list -o json | jq -r '.models[] | select(.tools).model'

What doesn't work here, and what to do about it:
  fettle doctor -o json | jq -r '.checks[] | select(.hints) | .title, .hints[]'

What to do depends on what went wrong:
  fettle ask "why?" || case $? in 4) fettle demo;; 6) sleep 60;; *) exit;; esac

A test without a model: record once, then play the recording.
  fettle ask --record tape.jsonl "name three birds"
  fettle ask -m script/tape.jsonl "name three birds"
`
}
