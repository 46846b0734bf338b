package wire

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/float32s"
)

// EmbedBody is the body of POST /embeddings of OpenAI's API and of those that follow it.
// Vectors come as base64: a third of the bytes, and exact.
func EmbedBody(req *provider.EmbedRequest) ([]byte, error) {
	return Marshal(struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		Format     string   `json:"encoding_format"`
		Dimensions int      `json:"dimensions,omitempty"`
	}{req.Model, req.Texts, "base64", req.Dimensions})
}

// ReadEmbeddings reads the answer to EmbedBody, whose vectors are lists of numbers or base64,
// whatever was asked for. There has to be one for each of n texts.
func ReadEmbeddings(body []byte, n int) (*provider.Embedding, error) {
	var in struct {
		Data []struct {
			Index  *int            `json:"index"`
			Vector json.RawMessage `json:"embedding"`
		} `json:"data"`
		Usage Maybe[struct {
			Prompt Int `json:"prompt_tokens"`
			Total  Int `json:"total_tokens"`
		}] `json:"usage"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	out := &provider.Embedding{Vectors: make([][]float32, n), Tokens: in.Usage.V.Prompt.N}
	if out.Tokens == 0 {
		out.Tokens = in.Usage.V.Total.N
	}
	if len(in.Data) != n {
		return nil, fmt.Errorf("it has %d vectors for %d texts", len(in.Data), n)
	}
	for i, d := range in.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n || out.Vectors[at] != nil {
			return nil, fmt.Errorf("the place %d of a vector is none, or is taken", at)
		}
		v, err := vector(d.Vector)
		if err != nil {
			return nil, err
		}
		out.Vectors[at] = v
	}
	return out, CheckVectors(out.Vectors, n)
}

// vector reads a list of numbers, or base64 of them as 32 bits each in little-endian order.
func vector(raw json.RawMessage) (v []float32, err error) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '"' {
		err = json.Unmarshal(raw, &v)
		return v, err
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, err
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if v, ok := float32s.Parse(b); ok && err == nil {
		return v, nil
	}
	return nil, errors.New("a vector is not base64 of 32-bit numbers")
}

// maxDimensions bounds a vector; models in use have up to 8,192.
const maxDimensions = 1 << 16

// CheckVectors checks that there are n vectors of one length and of finite numbers.
func CheckVectors(all [][]float32, n int) error {
	if len(all) != n {
		return fmt.Errorf("it has %d vectors for %d texts", len(all), n)
	}
	for _, v := range all {
		if len(v) == 0 || len(v) > maxDimensions || len(v) != len(all[0]) {
			return fmt.Errorf("a vector has %d numbers, another %d", len(v), len(all[0]))
		}
		for _, x := range v {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				return errors.New("a vector has a number that is not finite")
			}
		}
	}
	return nil
}

// FetchJSON makes an exchange whose whole answer read understands.
func (x *Exchange) FetchJSON(ctx context.Context, read func(body []byte) error) error {
	body, err := x.Fetch(ctx)
	if err != nil {
		return err
	}
	if err := read(body); err != nil {
		return x.Source.Undecodable(&FormatError{Chunk: body, Err: err})
	}
	return nil
}

// Stream is the stream of an exchange that run makes: pass takes a batch, and reports whether
// more is wanted.
func Stream(run func(pass func([]provider.Delta) bool) error) iter.Seq2[[]provider.Delta, error] {
	return func(yield func([]provider.Delta, error) bool) {
		stopped := false
		err := run(func(batch []provider.Delta) bool {
			stopped = !yield(batch, nil)
			return !stopped
		})
		if err != nil && !stopped {
			yield(nil, err)
		}
	}
}
