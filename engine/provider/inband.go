package provider

import "strings"

// thoughtEnds are the markers by which models end reasoning that a server left in the
// answer's text, each with the one that begins it.
var thoughtEnds = []struct{ begin, end string }{
	{"<think>", "</think>"},
	{"<thinking>", "</thinking>"},
	{"<thought>", "</thought>"},
	{"<reasoning>", "</reasoning>"},
	{"<seed:think>", "</seed:think>"},                                 // ByteDance Seed
	{"◁think▷", "◁/think▷"},                                           // Kimi
	{"[THINK]", "[/THINK]"},                                           // Magistral
	{"<|begin_of_thought|>", "<|end_of_thought|>"},                    // distilled models
	{"<|START_THINKING|>", "<|END_THINKING|>"},                        // Command
	{"<|channel|>analysis<|message|>", "<|channel|>final<|message|>"}, // gpt-oss
	{"<|channel>thought", "<channel|>"},                               // Gemma
	{"<unused94>thought", "<unused95>"},                               // MedGemma
}

// CutThought divides an answer at the marker that ends reasoning in its text, such as a
// closing think tag. end is the marker; empty if there is none. A marker that the text
// quotes, or whose reasoning begins within the answer, is a part of the answer.
func CutThought(text string) (thought, answer, end string) {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	for _, m := range thoughtEnds {
		at := markerAt(text, m.end)
		if at < 0 {
			continue
		}
		begins := strings.Index(text[:at], m.begin)
		if begins >= 0 && !strings.HasPrefix(trimmed, m.begin) {
			continue
		}
		thought = strings.TrimPrefix(strings.TrimSpace(text[:at]), m.begin)
		return strings.TrimSpace(thought), withoutEnds(text[at+len(m.end):]), m.end
	}
	return "", text, ""
}

// maxQuoted bounds the quoted markers that are skipped: each costs a look at all text
// before it.
const maxQuoted = 50

// markerAt returns the place of the first marker that the text does not quote; -1 if there
// is none. In a code block it has to stand alone on its line.
func markerAt(text, marker string) int {
	for from, tries := 0, 0; tries < maxQuoted; tries++ {
		i := strings.Index(text[from:], marker)
		if i < 0 {
			return -1
		}
		at := from + i
		from = at + len(marker)
		before, after := text[:at], text[from:]
		line := before[strings.LastIndexByte(before, '\n')+1:]
		rest, _, _ := strings.Cut(after, "\n")
		alone := strings.TrimSpace(line) == "" && strings.TrimSpace(rest) == ""
		quoted := before != "" && after != "" && strings.ContainsRune("`'\"", rune(before[len(before)-1])) && before[len(before)-1] == after[0]
		inline := strings.Count(line, "`")%2 == 1 && strings.Contains(rest, "`")
		inBlock := strings.Count("\n"+before, "\n```")%2 == 1
		if alone || !quoted && !inline && !inBlock {
			return at
		}
	}
	return -1
}

// withoutEnds removes what models write after an answer where a server left their markers in
// the text, and the blank lines before it.
func withoutEnds(answer string) string {
	answer = strings.TrimLeft(answer, " \t\r\n")
	for _, end := range []string{"<|return|>", "<|end|>", "<|END_RESPONSE|>", "<|end_of_solution|>"} {
		answer = strings.TrimSuffix(answer, end)
	}
	for _, begin := range []string{"<|START_RESPONSE|>", "<|begin_of_solution|>"} {
		answer = strings.TrimLeft(strings.TrimPrefix(answer, begin), "\r\n")
	}
	return answer
}
