package script

import (
	"context"
	"hash/fnv"
	"math"
	"strings"
	"unicode"

	"github.com/fettle-cli/fettle/engine/provider"
)

var (
	_ provider.Embedder  = (*Provider)(nil)
	_ provider.Completer = (*Provider)(nil)
)

// usualDimensions is the length of a vector where none is asked for.
const usualDimensions = 64

// Embed returns vectors of the words of the texts: each word adds to one place, which a hash
// chooses, and the length is one. So texts with words in common are near each other. The
// script itself says nothing of it, but has to be readable.
func (p *Provider) Embed(ctx context.Context, req *provider.EmbedRequest) (*provider.Embedding, error) {
	if _, err := p.Model(ctx, req.Model); err != nil {
		return nil, err
	}
	n := req.Dimensions
	if n == 0 {
		n = usualDimensions
	}
	out := &provider.Embedding{}
	for _, text := range req.Texts {
		words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		out.Vectors = append(out.Vectors, wordVector(words, n))
		out.Tokens += int64(len(words))
	}
	return out, nil
}

func wordVector(words []string, n int) []float32 {
	sums := make([]float64, n)
	for _, w := range words {
		h := fnv.New64a()
		_, _ = h.Write([]byte(w)) // never fails
		sum := h.Sum64()
		sign := 1.0
		if sum>>63 == 1 {
			sign = -1
		}
		sums[sum%uint64(n)] += sign
	}
	length := 0.0
	for _, x := range sums {
		length += x * x
	}
	length = math.Sqrt(length)
	v := make([]float32, n)
	for i, x := range sums {
		if length > 0 {
			v[i] = float32(x / length)
		}
	}
	return v
}

// Completes marks that Stream takes completions.
func (p *Provider) Completes() {}

// questionOf is a completion as a question, for which the script may have a response: the
// suffix is part of it, after <fill>.
func questionOf(req *provider.Request) *provider.Request {
	out := *req
	text := req.Completion.Prompt
	if req.Completion.Suffix != "" {
		text += "<fill>" + req.Completion.Suffix
	}
	out.System, out.Completion = req.Completion.System, nil
	out.Messages = []provider.Message{{Role: provider.User, Parts: []provider.Part{{Kind: provider.TextPart, Text: text}}}}
	return &out
}
