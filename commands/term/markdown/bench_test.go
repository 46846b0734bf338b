package markdown

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/term"
)

// answer is about n bytes of what models write: prose with emphasis, code and
// links, lists, a table and fenced code.
func answer(n int) string {
	const part = `## Which tests are slow

Three tests take **over a second**, and all of them wait for the *network*. The
first is ` + "`TestFetchRates`" + `, which dials a real host; see [the notes](https://example.com/notes/slow_tests) for why. The second one sleeps, because its author didn't know about fake clocks, and the third reads a file of forty megabytes that nobody needs.

1. Replace the host by a local server.
2. Use a fake clock, so that **no test** ever sleeps.
   - It is in the standard library now.
   - It finds deadlocks too.
3. Cut the file down: 日本語のテキストも少し。

` + "```go\nfunc TestFetchRates(t *testing.T) {\n\tsrv := httptest.NewServer(handler)\n\tdefer srv.Close()\n}\n```" + `

| test | time | why |
|------|-----:|-----|
| TestFetchRates | 3.1 s | dials a real host |
| TestBackoff | 2.0 s | sleeps |

`
	return strings.Repeat(part, n/len(part)+1)[:n]
}

// deltas cuts s into n pieces, wherever that is.
func deltas(s string, n int) [][]byte {
	out := make([][]byte, 0, n)
	for i := range n {
		out = append(out, []byte(s[len(s)*i/n:len(s)*(i+1)/n]))
	}
	return out
}

// counter is a terminal that only counts.
type counter struct{ writes, bytes int }

func (c *counter) Write(p []byte) (int, error) {
	c.writes++
	c.bytes += len(p)
	return len(p), nil
}

func BenchmarkStream(b *testing.B) {
	chunks := deltas(answer(500_000), 100_000)
	run := func(name string, open func(io.Writer) (io.Writer, func() error)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(500_000)
			b.ReportAllocs()
			for b.Loop() {
				w, end := open(&counter{})
				for _, c := range chunks {
					_, _ = w.Write(c)
				}
				if err := end(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("cleaner", func(w io.Writer) (io.Writer, func() error) {
		c := term.NewCleaner(w, term.ToTerminal)
		return c, c.Flush
	})
	for _, d := range []term.Depth{term.NoColour, term.Colours16} {
		run(fmt.Sprintf("markdown/depth=%d", d), func(w io.Writer) (io.Writer, func() error) {
			m := New(w, Options{Width: 80, Style: term.NewStyle(d)})
			return m, m.Close
		})
	}
}
