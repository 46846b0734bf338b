package suggest

import (
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func TestEnumerated(t *testing.T) {
	t.Parallel()
	for usage, want := range map[string]string{
		" text or json": "text|json",
		" text, json (one object) or events (a line of JSON each)": "text|json=one object|events=a line of JSON each",
		": auto, always or never":                                  "auto|always|never",
		": text, json":                                             "text|json",
		": model, day or chat; the last is slow":                   "model|day|chat",
		" text, json, or yaml":                                     "text|json|yaml",
		"; may be repeated":                                        "",
		"":                                                         "",
		", such as 90s or 5m":                                      "",
		": 7d (today and the six days before), 4w, or a date such as 2026-01-31": "",
		" - is standard input; may be repeated":                                  "",
		" without asking, such as write_file or 'write_file(path=notes/**)'":     "",
		", for replay as script/FILE":                                            "",
		" times":                                                                 "",
		" (an":                                                                   "",
	} {
		var got []string
		for _, s := range enumerated(usage) {
			v := s.Text
			if s.About != "" {
				v += "=" + s.About
			}
			got = append(got, v)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q, want %q", usage, got, want)
		}
	}
}

func FuzzAt(f *testing.F) {
	f.Add("ask\x00-m", "oll")
	f.Add("chats\x00show\x00--\x00x", "--output=")
	f.Add("ask\x00-", "-")
	app := &cli.App{Commands: []*cli.Command{
		{Name: "ask", Flags: []cli.Flag{&cli.StringFlag{Name: "model", Aliases: []string{"m"}}, &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}}}},
		{Name: "chats", Subcommands: []*cli.Command{{Name: "show", Flags: []cli.Flag{&cli.StringFlag{Name: "output", Usage: "`FORMAT` text or json"}}}}},
	}}
	f.Fuzz(func(t *testing.T, words, cursor string) {
		at := locate(app, strings.Split(words, "\x00"))
		if at.path == "" {
			t.Fatal("nowhere")
		}
		if strings.HasPrefix(cursor, "-") {
			at.suggest(&completer{}, cursor)
		}
		enumerated(words + cursor)
	})
}
