package payloads_test

import (
	"fmt"

	"github.com/fettle-cli/fettle/engine/payloads"
)

func Example() {
	reg, _ := payloads.New(payloads.Set{
		Name:  "research-streams",
		Pages: []payloads.Page{{ID: "edit_research_stream", Payloads: []string{"schema_proposal"}}},
	})
	p := reg.Offer(payloads.Where{Page: "edit_research_stream"}).Parser(payloads.ParserOptions{})
	show := func(items []payloads.Item) {
		for _, it := range items {
			switch {
			case it.Found != nil:
				fmt.Printf("payload %s %s\n", it.Found.Type, it.Found.Data)
			case it.Note != "":
				fmt.Printf("note %s\n", it.Note)
			default:
				fmt.Printf("text %q\n", it.Text)
			}
		}
	}
	for _, piece := range []string{"Here's my", " proposal: SCHEMA_", `PROPOSAL: {"a":`, " 1}\n\nShall", " I?"} {
		show(p.Feed(piece))
	}
	show(p.Finish())
	// Output:
	// text "Here's my"
	// text " proposal:"
	// payload schema_proposal {"a": 1}
	// text "\n\n"
	// text "Shall"
	// text " I?"
}
