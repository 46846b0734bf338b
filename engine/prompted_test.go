package engine

import (
	"context"
	"iter"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
)

// prompted is a model that makes the call which the last prompt is: the
// arguments of change, or `NAME {…}`. Told a result, it answers "ok", and it
// takes no prompt "refuse".
type prompted struct{ rogue }

func (p *prompted) Stream(_ context.Context, req *provider.Request) iter.Seq2[[]provider.Delta, error] {
	return func(yield func([]provider.Delta, error) bool) {
		m := req.Messages[len(req.Messages)-1]
		part := m.Parts[len(m.Parts)-1]
		if part.Kind != provider.TextPart {
			yield([]provider.Delta{says("ok"), stops("stop")}, nil)
			return
		}
		if part.Text == "refuse" {
			yield(nil, &provider.Error{Kind: provider.Unauthorised, Message: "no"})
			return
		}
		name, args := "change", part.Text
		if i := strings.Index(args, " {"); i > 0 && !strings.HasPrefix(args, "{") {
			name, args = args[:i], args[i+1:]
		}
		yield([]provider.Delta{calls("c"+strconv.Itoa(len(req.Messages)), name, args), stops("tool_use")}, nil)
	}
}
