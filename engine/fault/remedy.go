package fault

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Remedy is a next step after a failure. It has no command of a shell and no route of an
// API: each front end writes the step in its own terms, by Kind and Args.
type Remedy struct {
	Kind Kind `json:"kind"`
	// Args name what the step is about; the comment of each kind lists them.
	Args []string `json:"args,omitempty"`
	// Effect says what the step does, where the kind alone does not: "begins a new chat".
	Effect string `json:"effect,omitempty"`
	// Text is the step in words that fit every front end. It is what a reader shows that
	// doesn't know the kind.
	Text string `json:"text"`
}

// Try makes a Remedy of a kind.
func Try(kind Kind, args ...string) Remedy {
	return Remedy{Kind: kind, Args: args, Text: Fill(texts()[kind], args, nil)}
}

// Run makes a Remedy of a command that can be pasted, or of another text for a terminal.
// Commands use it, and package server for the options that it is started with.
func Run(command string) Remedy { return Try(Command, command) }

// Runs makes a Remedy of each command.
func Runs(commands []string) []Remedy {
	var out []Remedy
	for _, c := range commands {
		out = append(out, Run(c))
	}
	return out
}

// Advise makes a Remedy of a sentence that fits every front end.
func Advise(sentence string) Remedy { return Try(Advice, sentence) }

// Advices makes a Remedy of each sentence.
func Advices(sentences []string) []Remedy {
	var out []Remedy
	for _, s := range sentences {
		out = append(out, Advise(s))
	}
	return out
}

// Add appends remedies to those of a fault, without those that are there already.
func (f *Fault) Add(remedies ...Remedy) {
	for _, r := range remedies {
		if !slices.ContainsFunc(f.Remedies, func(have Remedy) bool { return have.Kind == r.Kind && slices.Equal(have.Args, r.Args) }) {
			f.Remedies = append(f.Remedies, r)
		}
	}
}

// That returns r with an effect.
func (r Remedy) That(effect string) Remedy {
	r.Effect = effect
	return r
}

// Texts returns the texts of remedies, without those for a terminal alone.
func Texts(all []Remedy) []string {
	var out []string
	for _, r := range all {
		if r.Kind != Command {
			out = append(out, r.Text)
		}
	}
	return out
}

// Kinds lists every kind.
func Kinds() []Kind {
	out := make([]Kind, 0, len(texts()))
	for k := range texts() {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// places are the places of a template: an argument, with a word that stands for it where
// it is missing, and a part that is left out without its argument.
var places = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[[^\[\]{}]*\{[1-9]\}[^\[\]{}]*\]|\{[1-9](?:\|[^{}]*)?\}`)
})

// Fill puts arguments into a template. {1} is the first argument, {1|FILE} is FILE where
// there is none, and a part like [ of {1}] is left out then. Each argument is written by
// quote; nil writes it as it is.
func Fill(template string, args []string, quote func(string) string) string {
	return places().ReplaceAllStringFunc(template, func(place string) string {
		at := strings.IndexByte(place, '{')
		n := int(place[at+1] - '1')
		if n >= len(args) || args[n] == "" {
			_, other, _ := strings.Cut(strings.Trim(place, "{}"), "|")
			return other
		}
		arg := args[n]
		if quote != nil {
			arg = quote(arg)
		}
		if place[0] == '{' {
			return arg
		}
		end := strings.IndexByte(place, '}')
		return place[1:at] + arg + place[end+1:len(place)-1]
	})
}
