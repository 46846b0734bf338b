package manifest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// hostile are files of the largest size that try to cost much.
func hostile() map[string]string {
	fill := func(piece string) string { return strings.Repeat(piece, (MaxSize-1024)/len(piece)) }
	var keys, controls, tools strings.Builder
	for i := 0; keys.Len() < MaxSize-1024 && i < maxNodes/2-100; i++ {
		fmt.Fprintf(&keys, "unknown_field_%d: 1\n", i)
		fmt.Fprintf(&controls, "    k%d: \"\\e\"\n", i)
	}
	for i := range 150 {
		fmt.Fprintf(&tools, "  - {id: t%d, description: d, entrypoint: 'a:b', input_schema: {type: object, properties: {%s}}, renderer: {type: code, content: '%s'}}\n",
			i, "a: {}, b: {}", strings.Repeat("$args.x ", 150))
	}
	var props, refs strings.Builder
	for i := range 4_900 {
		fmt.Fprintf(&props, "p%d: {},", i)
	}
	for i := range 490 {
		fmt.Fprintf(&refs, "p%d: {$ref: '#/$defs/d%d'},", i, i)
	}
	defs := strings.NewReplacer("p", "d", "$ref: '#/$defs/d", "type: string, title: '").Replace(refs.String())
	one := "tools: [{id: t, description: d, entrypoint: 'a:b', input_schema: {type: object, "
	return map[string]string{
		"one large schema":  minimal(one + "properties: {" + props.String() + "}}}]"),
		"many references":   minimal(one + "properties: {" + refs.String() + "}, $defs: {" + defs + "}}}]"),
		"unknown fields":    minimal(keys.String()),
		"control texts":     minimal("workflows:\n  - id: w\n    x:\n" + controls.String()),
		"one long text":     minimal("requirements: ['" + fill("sk_a ") + "']"),
		"dollar signs":      minimal("tools:\n" + tools.String()),
		"pattern of a key":  minimal("requirements: ['" + fill("eyJ") + "']"),
		"flow lists":        minimal("requirements: [" + fill("[]x") + "]"),
		"escapes":           minimal("description: \"" + fill(`\u0041`) + "\""),
		"comments":          minimal(strings.Repeat("#\n", maxMarks-100)),
		"folded lines":      minimal("description: >\n" + fill("  word\n")),
		"anchors":           minimal("requirements: [" + strings.Repeat("&a x,", maxMarks/2) + "]"),
		"tags":              minimal("requirements: [" + strings.Repeat("!!str x,", maxNodes-100) + "]"),
		"names of handoffs": minimal("agents: [{id: a, purpose: p, prompt: p, handoffs: [" + strings.Repeat("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,", 200) + "]}]"),
	}
}

// TestHostileFilesAreCheap bounds what reading allocates in all, which bounds
// what it holds and, loosely, how long it takes.
func TestHostileFilesAreCheap(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector lets pools drop what they hold, so figures mean nothing")
	}
	root() // built once, by whoever comes first
	for name, text := range hostile() {
		data := []byte(text)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d := Parse(FileName, data, Options{})
		runtime.ReadMemStats(&after)
		if len(d.Problems) > maxProblems+1 {
			t.Errorf("%s: %d problems", name, len(d.Problems))
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 40<<20 {
			t.Errorf("%s: allocates %d MiB", name, got>>20)
		}
	}
}

func BenchmarkHostile(b *testing.B) {
	for name, text := range hostile() {
		data := []byte(text)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Parse(FileName, data, Options{})
			}
		})
	}
}
