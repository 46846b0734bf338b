package dialect

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/float32s"
)

// EmbedRequest is a request for vectors of POST /v1/embeddings, /api/embed or
// /api/embeddings.
type EmbedRequest struct {
	Model      string
	Texts      []string
	Dimensions int // 0 leaves it to the model
	// Base64 has OpenAI's vectors as base64 of 32-bit numbers.
	Base64 bool
}

// DecodeEmbed reads the body of a request for vectors. The name of the text is input, or
// prompt in Ollama's older route.
func DecodeEmbed(body []byte) (*EmbedRequest, *fault.Fault) {
	var in struct {
		Model      string          `json:"model"`
		Input      json.RawMessage `json:"input"`
		Prompt     json.RawMessage `json:"prompt"`
		Dimensions int             `json:"dimensions"`
		Format     string          `json:"encoding_format"`
	}
	if err := checkShape(body); err != nil {
		return nil, refusal(err)
	}
	if err := read("", body, &in); err != nil {
		return nil, refusal(err)
	}
	field := "input"
	if null(in.Input) {
		field, in.Input = "prompt", in.Prompt
	}
	if null(in.Input) {
		return nil, refusal(wrong("input", isMissing))
	}
	if problem := badName(in.Model); problem != "" {
		return nil, refusal(wrong("model", problem))
	}
	texts, err := stringsOf(field, in.Input)
	if err != nil {
		return nil, refusal(wrong(field, "has to be a text or a list of texts; lists of tokens can't be taken"))
	}
	switch {
	case len(texts) == 0:
		return nil, refusal(wrong(field, "there is no text"))
	case in.Format != "" && in.Format != "float" && in.Format != "base64":
		return nil, refusal(wrong("encoding_format", "is neither float nor base64"))
	case in.Dimensions < 0:
		return nil, refusal(wrong("dimensions", "is negative"))
	}
	return &EmbedRequest{Model: in.Model, Texts: texts, Dimensions: in.Dimensions, Base64: in.Format == "base64"}, nil
}

// Vectors are what the answers to requests for vectors are made of.
type Vectors struct {
	Model   string // as the client named it
	Vectors [][]float32
	Tokens  int64 // 0 is unknown
	Took    time.Duration
}

// OpenAIEmbeddings is the body of an answer of /v1/embeddings.
func OpenAIEmbeddings(v Vectors, inBase64 bool) []byte {
	return open(nil).str("object", "list").list("data", len(v.Vectors), func(dst []byte, i int) []byte {
		o := open(dst).str("object", "embedding").int("index", int64(i))
		if o.key("embedding"); inBase64 {
			o.b = appendBase64(o.b, v.Vectors[i])
		} else {
			o.b = appendVector(o.b, v.Vectors[i])
		}
		return o.close()
	}).str("model", v.Model).
		obj("usage", func(o *object) { o.int("prompt_tokens", v.Tokens).int("total_tokens", v.Tokens) }).line()
}

// OllamaEmbed is the body of an answer of /api/embed.
func OllamaEmbed(v Vectors) []byte {
	o := open(nil).str("model", v.Model).
		list("embeddings", len(v.Vectors), func(dst []byte, i int) []byte { return appendVector(dst, v.Vectors[i]) }).
		int("total_duration", max(1, int64(v.Took)))
	if v.Tokens > 0 {
		o.int("prompt_eval_count", v.Tokens)
	}
	return o.line()
}

// OllamaEmbeddings is the body of an answer of /api/embeddings, the older route, which takes
// one text.
func OllamaEmbeddings(v Vectors) []byte {
	o := open(nil)
	o.key("embedding")
	o.b = appendVector(o.b, v.Vectors[0])
	return o.line()
}

// appendVector appends a vector as a list of numbers, each with as many digits as it takes
// to read the same 32-bit number again.
func appendVector(dst []byte, v []float32) []byte {
	dst = append(dst, '[')
	for i, x := range v {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendFloat(dst, float64(x), 'g', -1, 32)
	}
	return append(dst, ']')
}

func appendBase64(dst []byte, v []float32) []byte {
	dst = base64.StdEncoding.AppendEncode(append(dst, '"'), float32s.Append(nil, v))
	return append(dst, '"')
}
