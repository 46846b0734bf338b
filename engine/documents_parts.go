package engine

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/fettle-cli/fettle/engine/retrieval"
	"github.com/fettle-cli/fettle/internal/float32s"
	"github.com/fettle-cli/fettle/internal/kv"
)

// spanSize is the size of the place of a passage in a part.
const spanSize = 8

// indexName names the vectors of a model: another form of passages, and another model by the
// same name with vectors of another length, has others.
func indexName(model string, dims int) string {
	return fmt.Sprintf("%d %d %s", retrieval.Form, dims, model)
}

// passagePart is a part of a document that is to be embedded.
type passagePart struct {
	key   kv.Key
	spans []retrieval.Span
	texts []string
}

// size is the number of bytes of the document that the part covers.
func (p *passagePart) size() (n int64) {
	for _, span := range p.spans {
		n += int64(span.End - span.Start)
	}
	return n
}

func partKey(index, digest string, part, of int) kv.Key {
	return kv.Str(index).Str(digest).Int(int64(part)).Int(int64(of))
}

// encode returns the value of a part, with the first of the vectors.
func (p *passagePart) encode(vectors [][]float32) []byte {
	var out []byte
	for _, span := range p.spans {
		out = binary.LittleEndian.AppendUint32(out, uint32(span.Start))
		out = binary.LittleEndian.AppendUint32(out, uint32(span.End))
	}
	for _, v := range vectors[:len(p.spans)] {
		retrieval.Unit(v) // one of zeros stays so, and is like nothing
		out = float32s.Append(out, v)
	}
	return out
}

var errPart = errors.New("the vectors of a document are damaged")

// comparePart adds the passages of a part.
func comparePart(top *retrieval.Top, doc int, query []float32, val []byte) error {
	size := spanSize + 4*len(query)
	n := len(val) / size
	if n*size != len(val) {
		return errPart
	}
	for i := range n {
		span := val[i*spanSize:]
		vector := val[n*spanSize+i*4*len(query):]
		top.Add(retrieval.Hit{
			Doc:   doc,
			Span:  retrieval.Span{Start: int(binary.LittleEndian.Uint32(span)), End: int(binary.LittleEndian.Uint32(span[4:]))},
			Score: float64(retrieval.Cosine(query, vector)),
		})
	}
	return nil
}
