package term

import (
	"strings"
	"testing"
)

func chatTable(o *Output) *Table {
	t := NewTable(o, Column{Title: "chat", Right: true}, Column{Title: "title", Cut: true}, Column{Title: "model"}, Column{Title: "when"})
	t.Row("12", "Which tests are slow?", "ollama/qwen3", "3 minutes ago")
	t.Row("9", "Rewrite the importer so that it reads archives from strangers\nsafely", "anthropic/claude", "yesterday")
	t.Row("108", "日本語の題名", "", "just now")
	t.Row("1", "\x1b[31mred\ttitle")
	return t
}

func TestTableFitsTheTerminal(t *testing.T) {
	t.Parallel()
	s := Test(TestOptions{OutTerminal: true, Width: 72, Env: map[string]string{"NO_COLOR": "1"}})
	if err := chatTable(s.Out).Flush(); err != nil {
		t.Fatal(err)
	}
	want := strings.TrimPrefix(`
chat  title                              model             when
  12  Which tests are slow?              ollama/qwen3      3 minutes ago
   9  Rewrite the impo…rangers ␤ safely  anthropic/claude  yesterday
 108  日本語の題名                                         just now
   1  ␛[31mred title
`, "\n")
	if got := s.Stdout.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTableNeverWrapsOrEndsInSpaces(t *testing.T) {
	t.Parallel()
	for width := 46; width < 140; width++ {
		s := Test(TestOptions{OutTerminal: true, Width: width})
		if err := chatTable(s.Out).Flush(); err != nil {
			t.Fatal(err)
		}
		plain := strings.NewReplacer("\x1b[2m", "", "\x1b[22m", "").Replace(s.Stdout.String())
		for _, line := range strings.Split(plain, "\n") {
			if Cells(line) > width {
				t.Fatalf("at %d columns %q takes %d", width, line, Cells(line))
			}
			if strings.TrimRight(line, " ") != line {
				t.Fatalf("%q ends in spaces", line)
			}
		}
	}
}

func TestTableCutsProseAtItsEnd(t *testing.T) {
	t.Parallel()
	s := Test(TestOptions{OutTerminal: true, Width: 30, Env: map[string]string{"NO_COLOR": "1"}})
	tab := NewTable(s.Out, Column{Title: "agent"}, Column{Title: "purpose", Cut: true, Prose: true})
	tab.Row("writer", "Puts right what the reviewer found.")
	if err := tab.Flush(); err != nil {
		t.Fatal(err)
	}
	if got, want := s.Stdout.String(), "agent   purpose\nwriter  Puts right what the r…\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTableIsPlainInAPipe(t *testing.T) {
	t.Parallel()
	s := Test(TestOptions{})
	if err := chatTable(s.Out).Flush(); err != nil {
		t.Fatal(err)
	}
	want := "12\tWhich tests are slow?\tollama/qwen3\t3 minutes ago\n" +
		"9\tRewrite the importer so that it reads archives from strangers ␤ safely\tanthropic/claude\tyesterday\n" +
		"108\t日本語の題名\t\tjust now\n1\t␛[31mred title\t\t\n"
	if got := s.Stdout.String(); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestTableOfOneHugeCellIsCut(t *testing.T) {
	t.Parallel()
	s := Test(TestOptions{OutTerminal: true, Width: 30})
	tab := NewTable(s.Out, Column{}, Column{Cut: true, Style: s.Out.Style().Cyan})
	tab.Row("a", strings.Repeat("x", 1<<20))
	if err := tab.Flush(); err != nil {
		t.Fatal(err)
	}
	want := "a  \x1b[36m" + strings.Repeat("x", 13) + "…" + strings.Repeat("x", 13) + "\x1b[39m\n"
	if got := s.Stdout.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTableWithoutRowsWritesNothing(t *testing.T) {
	t.Parallel()
	s := Test(TestOptions{OutTerminal: true})
	if err := NewTable(s.Out, Column{Title: "chat"}).Flush(); err != nil || s.Stdout.String() != "" {
		t.Errorf("wrote %q, %v", s.Stdout.String(), err)
	}
}
