package dialect

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
)

// maxInfillExtra is how many bytes of other files come before the text: llama.cpp takes what
// fits the model's context, which is unknown here.
const maxInfillExtra = 32 << 10

// infillBody is the body of llama.cpp's POST /infill. What steers the server's cache and
// slots (id_slot, cache_prompt), its samplers and its time limits has no effect.
type infillBody struct {
	Model  string `json:"model"`
	Prefix string `json:"input_prefix"`
	Suffix string `json:"input_suffix"`
	Prompt string `json:"prompt"`
	Extra  []struct {
		Name string `json:"filename"`
		Text string `json:"text"`
	} `json:"input_extra"`
	Predict     *int            `json:"n_predict"`
	Temperature *float64        `json:"temperature"`
	TopP        *float64        `json:"top_p"`
	Seed        *int64          `json:"seed"`
	Stop        json.RawMessage `json:"stop"`
	Stream      bool            `json:"stream"`
}

// DecodeInfill reads the body of llama.cpp's POST /infill. Nothing is to be predicted if
// n_predict is 0, with which clients fill llama.cpp's cache: see [CompletionRequest.Nothing].
func DecodeInfill(body []byte) (*CompletionRequest, *fault.Fault) {
	r := &CompletionRequest{Dialect: OpenAI, Infill: true}
	if err := r.infill(body); err != nil {
		return nil, refusal(err)
	}
	return r, nil
}

func (r *CompletionRequest) infill(body []byte) (err *FieldError) {
	var in infillBody
	if err := checkShape(body); err != nil {
		return err
	}
	if err := read("", body, &in); err != nil {
		return err
	}
	if problem := badName(in.Model); problem != "" && in.Model != "" {
		return wrong("model", problem)
	}
	valid := func(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
	// llama.cpp puts the prompt after the token of the middle: the text continues with it.
	r.Model, r.Prompt, r.Suffix = in.Model, valid(in.extra()+in.Prefix+in.Prompt), valid(in.Suffix)
	r.Temperature, r.TopP, r.Seed, r.Stream = in.Temperature, in.TopP, in.Seed, in.Stream
	if in.Predict != nil {
		r.Nothing = *in.Predict == 0
		r.MaxTokens = max(*in.Predict, 0) // -1 means no limit
	}
	if r.Stop, err = stringsOf("stop", in.Stop); err != nil {
		return err
	}
	return r.check()
}

// extra returns the texts of other files, each after its name. Clients append the newest
// ones, so the first ones are left out if there are too many.
func (in *infillBody) extra() string {
	var out []string
	size := 0
	for i := len(in.Extra) - 1; i >= 0; i-- {
		x := in.Extra[i]
		text := strings.TrimRight(x.Text, "\n") + "\n\n"
		if x.Name != "" {
			text = x.Name + "\n" + text
		}
		if size += len(text); size > maxInfillExtra {
			break
		}
		out = append([]string{text}, out...)
	}
	return strings.Join(out, "")
}

// infillPiece appends the frame of a piece of the text.
func infillPiece(dst []byte, text string) []byte {
	if text == "" {
		return dst
	}
	return data(dst).str("content", text).bool("stop", false).frame()
}

// infillEnd appends the last frame of a stream, or the object.
func (c *Completion) infillEnd(dst []byte, m event.Meta, now time.Time) []byte {
	r := c.Request
	o := open(dst)
	if r.Stream {
		o = data(dst)
	}
	o = o.str("content", c.text.String()).bool("stop", true).str("model", r.Model)
	kind := "eos"
	if (&facts{stop: m.StopReason}).finish(&Options{}) == "length" {
		kind = "limit"
	}
	o = o.str("stop_type", kind).bool("truncated", false)
	if u := m.Usage; u != nil { // unknown numbers are left out
		o = o.int("tokens_evaluated", u.InputTokens).int("tokens_predicted", u.OutputTokens)
	}
	took := now.Sub(c.Begun).Milliseconds()
	o = o.obj("timings", func(o *object) {
		if u := m.Usage; u != nil {
			o.int("prompt_n", u.InputTokens).int("predicted_n", u.OutputTokens)
		}
		o.int("predicted_ms", took)
	})
	if r.Stream {
		return o.frame()
	}
	return o.line()
}
