package term

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func approval() Question {
	return Question{Choices: []Choice{
		{Key: 'y', Label: "once", Commits: true},
		{Key: 'c', Label: "this chat", Commits: true},
		{Key: 'a', Label: "always: go test *", Commits: true},
		{Key: 'n', Label: "no"},
		{Key: '?', Label: "details"},
	}}
}

func consent() Question {
	return Question{Text: "Allow this?", Choices: []Choice{
		{Key: 'y', Label: "yes", Commits: true}, {Key: 'n', Label: "no"}, {Key: 'd', Label: "details of each"},
	}}
}

const (
	approvalLine = "  [y] once  [c] this chat  [a] always: go test *  [n] no  [?] details  "
	consentLine  = "Allow this?  [y]es  [n]o  [d]etails of each  "
	hint         = "answer y, n or d\n"
)

func TestAsk(t *testing.T) {
	t.Parallel()
	defaultNo := consent()
	defaultNo.Default = 'n'
	words := consent()
	words.Words = true
	tests := []struct {
		name    string
		q       Question
		answers []string
		want    rune
		err     error
		tty     string
	}{
		{"a key", approval(), []string{"y"}, 'y', nil, approvalLine + "y\n"},
		{"a key that isn't a letter", approval(), []string{"?"}, '?', nil, approvalLine + "?\n"},
		{"a capital", consent(), []string{"N"}, 'n', nil, consentLine + "n\n"},
		{"a key and Enter", consent(), []string{"y\r"}, 'y', nil, consentLine + "y\n"},
		{"the word", consent(), []string{"details\n"}, 'd', nil, consentLine + "d\n"},
		{"a stray Enter, then an answer", consent(), []string{"\r", "n"}, 'n', nil, consentLine + "\n" + hint + consentLine + "n\n"},
		{"Enter never means yes", consent(), []string{"\n", "\r", "\r\n"}, 0, ErrNoAnswer, strings.Repeat(consentLine+"\n"+hint, 3)},
		{"Enter for the default", defaultNo, []string{"\r"}, 'n', nil, "Allow this?  [y]es  [N]o  [d]etails of each  n\n"},
		{"a paste that begins with y", consent(), []string{"yes | sudo tee", "n"}, 'n', nil, consentLine + "yes | sudo tee\n" + hint + consentLine + "n\n"},
		{"arrow keys", consent(), []string{"\x1b[A", "y"}, 'y', nil, consentLine + "␛[A\n" + hint + consentLine + "y\n"},
		{"spaces alone are no Enter", defaultNo, []string{"  ", "d"}, 'd', nil, "Allow this?  [y]es  [N]o  [d]etails of each  \n" + hint + "Allow this?  [y]es  [N]o  [d]etails of each  d\n"},
		{"three wrong answers", consent(), []string{"x", "q", "z", "y"}, 0, ErrNoAnswer, consentLine + "x\n" + hint + consentLine + "q\n" + hint + consentLine + "z\n" + hint},
		{"end of input", consent(), nil, 0, ErrNoTerminal, ""},
		{"the person leaves", consent(), []string{}, 0, ErrNoAnswer, consentLine + "\n"},
		{"Ctrl-D", consent(), []string{"\x04", "y"}, 0, ErrNoAnswer, consentLine + "␄\n"},
		{"words", words, []string{"maybe\n", "yes\n"}, 'y', nil, consentLine + hint + consentLine},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := Test(TestOptions{Answers: tt.answers})
			if got, want := s.CanAsk(), tt.answers != nil; got != want {
				t.Errorf("CanAsk is %v", got)
			}
			got, err := s.Ask(t.Context(), tt.q)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("answer %q, error %v; want %q, %v", got, err, tt.want, tt.err)
			}
			if s.Tty.String() != tt.tty {
				t.Errorf("the terminal shows\n%q, want\n%q", s.Tty.String(), tt.tty)
			}
			if s.Stdout.String()+s.Stderr.String() != "" {
				t.Error("a question went to a stream")
			}
		})
	}
}

func TestAskRefusesTraps(t *testing.T) {
	t.Parallel()
	for name, q := range map[string]Question{
		"no choices":           {Text: "Well?"},
		"a default that acts":  {Choices: consent().Choices, Default: 'y'},
		"a default not there":  {Choices: consent().Choices, Default: 'x'},
		"two equal keys":       {Choices: []Choice{{Key: 'y', Label: "yes"}, {Key: 'y', Label: "yours"}}},
		"a key nobody can see": {Choices: []Choice{{Key: ' ', Label: "yes"}}},
		"a choice unsaid":      {Choices: []Choice{{Key: 'y'}}},
	} {
		s := Test(TestOptions{Answers: []string{"y", "y", "y"}})
		if key, err := s.Ask(t.Context(), q); err == nil {
			t.Errorf("%s: answered %q", name, key)
		}
		if s.Tty.String() != "" {
			t.Errorf("%s: was asked", name)
		}
	}
}

func TestAskWrapsBetweenChoices(t *testing.T) {
	t.Parallel()
	s := Test(TestOptions{Answers: []string{"n"}, Width: 40})
	if _, err := s.Ask(t.Context(), approval()); err != nil {
		t.Fatal(err)
	}
	want := "  [y] once  [c] this chat\n  [a] always: go test *  [n] no\n  [?] details  n\n"
	if got := s.Tty.String(); got != want {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}

func TestAskCleansWhatItShows(t *testing.T) {
	t.Parallel()
	s := Test(TestOptions{Answers: []string{"n"}})
	q := Question{Text: "Run\n  rm \x1b[2K\u202e?", Choices: []Choice{{Key: 'n', Label: "no\n[y]es\x07"}}}
	if _, err := s.Ask(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	want := "Run\n  rm ␛[2K‹U+202E›?  [n]o ␤ [y]es␇  n\n"
	if got := s.Tty.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAskTakesTheScreen(t *testing.T) {
	t.Parallel()
	s, b := oneScreen(TestOptions{Answers: []string{"n", "n"}, Env: map[string]string{"NO_COLOR": "1"}})
	s.Status().Set("thinking")
	person := s.asker.open
	s.asker.open = func(words bool) (console, error) {
		c, err := person(words)
		c.(*testPerson).tty = b // the prompt's terminal is the screen
		return c, err
	}
	if _, err := s.Ask(t.Context(), consent()); err != nil {
		t.Fatal(err)
	}
	s.Out.Printf("half a line")
	if _, err := s.Ask(t.Context(), consent()); err != nil {
		t.Fatal(err)
	}
	s.Status().Clear()
	blank := "\r" + strings.Repeat(" ", len("thinking")) + "\r" // without colours there are no escape codes
	want := "\rthinking" + blank + consentLine + "n\n" +
		blank + "thinking" + blank + "half a line" + "\n" + consentLine + "n\n" + blank + "thinking" + blank
	if got := b.String(); got != want {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}

func TestAskWithADoneContextShowsNothing(t *testing.T) {
	t.Parallel()
	s := Test(TestOptions{Answers: []string{"y"}})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errBroken)
	if _, err := s.Ask(ctx, consent()); !errors.Is(err, errBroken) {
		t.Errorf("error is %v", err)
	}
	if s.Tty.String() != "" {
		t.Errorf("the terminal shows %q", s.Tty.String())
	}
}
